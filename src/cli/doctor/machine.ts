import { access, constants, readdir, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { DAY_MS } from '../../durations.ts'
import { definitionOf } from '../../health/conditions.ts'
import { reasonOf } from '../../errors.ts'
import { readSigningKey } from '../../net/signing.ts'
import { findSpoolFault } from '../../outage/spool.ts'
import { endOf, readTlsFiles } from '../../processes/receive/receive.ts'
import { bad, type Finding, ok, type Patient } from './finding.ts'

const READABLE_BY_OTHERS = 0o004
const OPEN_TO_OTHERS = 0o077

/** Checks that this account can use the data folder, and that no other account can read it. */
export async function checkDataFolder({ config }: Pick<Patient, 'config'>): Promise<Finding[]> {
  const { dataDir } = config
  const folder = await stat(dataDir).catch(() => undefined)
  if (!folder?.isDirectory()) {
    const todo = 'Start Signalpost once, or set DATA_DIR to the folder that it uses.'
    return [bad('problem', `The data folder ${dataDir} does not exist.`, todo)]
  }
  const uid = process.getuid?.()
  if (uid !== 0 && !(await isUsable(dataDir))) {
    const says = `This account may not write to the data folder ${dataDir}.`
    return [
      bad('problem', says, `Run "chown -R ACCOUNT ${dataDir}" with the account of the service.`),
    ]
  }
  const findings = await checkSecrets(dataDir)
  if (uid === 0 && folder.uid !== 0) {
    const says = 'You are root, but the service runs as another account.'
    const todo = 'Run "runuser -u ACCOUNT -- signalpost doctor" with the account of the service.'
    findings.push(bad('warning', says, todo))
  }
  return findings
}

function isUsable(folder: string): Promise<boolean> {
  const modes = constants.R_OK | constants.W_OK | constants.X_OK
  return access(folder, modes).then(
    () => true,
    () => false,
  )
}

const secretFiles = [
  'accounts.json',
  'database.url',
  'postgres.password',
  'secret',
  'secret.previous',
]

async function checkSecrets(dataDir: string): Promise<Finding[]> {
  const names = (await readdir(dataDir)).filter((name) => secretFiles.includes(name))
  const files = await Promise.all(
    names.map(async (name) => ({ name, mode: (await stat(path.join(dataDir, name))).mode })),
  )
  const open = files.filter(({ mode }) => (mode & OPEN_TO_OTHERS) !== 0).map(({ name }) => name)
  if (open.length === 0) return [ok(`The data folder ${dataDir} is usable.`)]
  const todo = `Run "chmod 600 ${open.map((name) => path.join(dataDir, name)).join(' ')}".`
  return [bad('problem', `Other accounts may read ${open.join(', ')}.`, todo)]
}

/** Checks the free space of the disk with the data folder, in percent. */
export async function checkDisk(
  { config }: Pick<Patient, 'config'>,
  bounds = definitionOf('disk').bounds,
): Promise<Finding> {
  const disk = await statfs(config.dataDir).catch(() => undefined)
  if (!disk || disk.blocks === 0) {
    const says = 'The free space of the disk is unknown.'
    return bad('unknown', says, `Check that ${config.dataDir} exists.`)
  }
  const free = Math.round((disk.bavail / disk.blocks) * 100)
  const says = `${free} % of the disk with ${config.dataDir} is free.`
  const todo = 'Free some space, or lower RETENTION_DAYS.'
  if (free <= (bounds.critical ?? 0)) return bad('problem', says, todo)
  return free <= (bounds.warning ?? 0) ? bad('warning', says, todo) : ok(says)
}

/** Checks by writing that reports can be stored on disk while the database is away. */
export async function checkSpool({ config }: Pick<Patient, 'config'>): Promise<Finding[]> {
  const { folder, bytesMax } = config.spool
  if (bytesMax === 0) return []
  const fault = await findSpoolFault(config.spool)
  if (fault === undefined) return [ok(`Reports can be stored on disk, in ${folder}.`)]
  const says = `While the database is away, new reports are refused: ${fault}.`
  const todo = `Make room on the disk of ${folder}, and let the account of the service write to it.`
  return [bad('problem', says, todo)]
}

/** Checks the key that signs mail: that it is usable, and that no other account can read it. */
export async function checkSigningFile({ config }: Pick<Patient, 'config'>): Promise<Finding> {
  if (!config.dkim) {
    const todo = 'Set DKIM_DOMAIN, DKIM_SELECTOR and DKIM_KEY_FILE. "signalpost setup" makes a key.'
    return bad('warning', 'Outgoing mail is not signed with DKIM.', todo)
  }
  const { keyFile } = config.dkim
  try {
    await readSigningKey(config, { warn: () => undefined })
  } catch (error) {
    const todo = 'Give the account of the service a private key in PEM that it may read.'
    return bad('problem', reasonOf(error), todo)
  }
  return checkPrivate(keyFile, `The DKIM key ${keyFile} is usable.`)
}

/** Checks the certificate for incoming mail, and how long it is valid. */
export async function checkCertificate({
  config,
  clock,
}: Pick<Patient, 'config' | 'clock'>): Promise<Finding[]> {
  const { receiveTlsCertFile: file, receiveTlsKeyFile: keyFile } = config
  if (file === undefined && keyFile === undefined) return []
  try {
    const files = await readTlsFiles(config)
    if (!files || keyFile === undefined) return []
    const days = Math.floor((endOf(files).getTime() - clock().getTime()) / DAY_MS)
    const { warning, critical } = definitionOf('certificate').bounds
    const says = `The certificate ${file} is valid for ${days} more days.`
    const todo = 'Renew the certificate. "receive" loads the new file by itself.'
    if (days < 0) return [bad('problem', `The certificate ${file} has expired.`, todo)]
    if (days <= (critical ?? 0)) return [bad('problem', says, todo)]
    if (days <= (warning ?? 0)) return [bad('warning', says, todo)]
    return [await checkPrivate(keyFile, says)]
  } catch (error) {
    const todo = 'Set both RECEIVE_TLS_CERT_FILE and RECEIVE_TLS_KEY_FILE to PEM files.'
    return [bad('problem', reasonOf(error), todo)]
  }
}

async function checkPrivate(file: string, says: string): Promise<Finding> {
  const { mode } = await stat(file)
  if ((mode & READABLE_BY_OTHERS) === 0) return ok(says)
  return bad('problem', `Every account may read ${file}.`, `Run "chmod o-r ${file}".`)
}

/** Checks the file of settings that `bin/signalpost` has found: it contains passwords. */
export async function checkSettingsFile(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const file = env['SIGNALPOST_SETTINGS'] ?? ''
  const isFile = await stat(file).then(
    (found) => found.isFile(),
    () => false,
  )
  return isFile ? [await checkPrivate(file, `The settings are in ${file}.`)] : []
}
