import { execFile } from 'node:child_process'
import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../../config.ts'
import {
  misspelledIn,
  readGiven,
  relativeIn,
  type Surroundings,
  unknownIn,
} from '../given-settings.ts'
import { bad, type Finding, ok, type Patient } from './finding.ts'

/** Checks the names of the settings, and that their paths are absolute. */
export async function checkSettingNames(around: Surroundings): Promise<Finding[]> {
  const given = await readGiven(around)
  const inFile = new Set(given.map(({ name }) => name))
  const others = Object.entries(around.env).filter(([name]) => !inFile.has(name))
  return [
    ...unknownIn(given).map(({ says, todo }) => bad('problem', says, todo)),
    ...misspelledIn(Object.fromEntries(others)).map(({ says, todo }) => bad('warning', says, todo)),
    ...relativeIn(given, around.cwd).map(({ says, todo }) => bad('warning', says, todo)),
  ]
}

type Place = { variable: string; folder: string }

/** The folders that the service writes to, besides that of its data. */
function placesOf({ backups, listsDir, alarms }: Config): Place[] {
  const { file } = alarms
  return [
    { variable: 'BACKUP_DIR', folder: backups.folder },
    { variable: 'LISTS_DIR', folder: listsDir },
    ...(file === undefined ? [] : [{ variable: 'ALARM_FILE', folder: path.dirname(file) }]),
  ]
}

/**
 * Checks that this account can write to the folders of backups, lists and alarms, and may run the
 * program for alarms. `checkSpool` checks the spool.
 */
export async function checkFolders({ config }: Pick<Patient, 'config'>): Promise<Finding[]> {
  const { file, command } = config.alarms
  const faults = await Promise.all(placesOf(config).map(folderFault))
  if (file !== undefined && (await mayNot(file, constants.W_OK)) === 'EACCES') {
    const todo = 'Make the account of the service its owner.'
    faults.push(bad('problem', `This account may not write to ${file} (ALARM_FILE).`, todo))
  }
  if (command !== undefined && (await mayNot(command, constants.X_OK)) !== undefined) {
    const todo = `Run "chmod +x ${command}", or correct ALARM_COMMAND.`
    faults.push(bad('problem', `This account may not run ${command} (ALARM_COMMAND).`, todo))
  }
  const found = faults.filter((fault) => fault !== undefined)
  return found.length > 0 ? found : [ok('The folders for backups, lists and alarms are usable.')]
}

async function folderFault({ variable, folder }: Place): Promise<Finding | undefined> {
  const existing = await nearestExisting(folder)
  const todo =
    `Run "install -d -o ACCOUNT -g ACCOUNT -m 0750 ${folder}" with the account of the service, ` +
    `or set ${variable} to another folder.`
  if (!(await stat(existing)).isDirectory()) {
    return bad('problem', `${existing} is not a folder (${variable}).`, todo)
  }
  const fault = await mayNot(existing, constants.W_OK | constants.X_OK)
  if (fault === undefined) return undefined
  const why = fault === 'EROFS' ? 'its disk is read-only' : 'access is denied'
  const says =
    existing === folder
      ? `The folder ${folder} (${variable}) cannot be written: ${why}.`
      : `The folder ${folder} (${variable}) does not exist, and cannot be created: ${why}.`
  return bad('problem', says, todo)
}

async function nearestExisting(folder: string): Promise<string> {
  for (let place = folder; ; place = path.dirname(place)) {
    if ((await mayNot(place, constants.F_OK)) === undefined || place === '/') return place
  }
}

/** The code of the error that forbids an access; undefined if it is allowed. */
function mayNot(place: string, mode: number): Promise<string | undefined> {
  return access(place, mode).then(
    () => undefined,
    (error: unknown) => String((error as NodeJS.ErrnoException).code),
  )
}

/**
 * Checks that the units of systemd let the service write to its folders: they allow only their own
 * folders and those in `ReadWritePaths`. No finding without such units.
 *
 * @param show prints the properties of the units, as `systemctl show` does
 */
export async function checkUnits(
  { config }: Pick<Patient, 'config'>,
  show = showUnits,
): Promise<Finding[]> {
  const units = (await show()).trim().split(/\n\n+/).map(propertiesOf)
  const strict = units.filter((unit) => unit.get('ProtectSystem') === 'strict')
  const places: Place[] = [
    { variable: 'DATA_DIR', folder: config.dataDir },
    { variable: 'SPOOL_DIR', folder: config.spool.folder },
    ...placesOf(config),
  ]
  const findings = strict.flatMap((unit) => places.flatMap((place) => unitFault(place, unit)))
  if (findings.length > 0 || strict.length === 0) return findings
  return [ok('The unit of systemd lets the service write to its folders.')]
}

/** Folders of which a unit sees its own version, or none. */
const hidden = [
  { property: 'ProtectHome', folders: ['/home', '/root', '/run/user'] },
  { property: 'PrivateTmp', folders: ['/tmp', '/var/tmp'] },
]

function unitFault({ variable, folder }: Place, unit: ReadonlyMap<string, string>): Finding[] {
  const name = unit.get('Id') ?? ''
  const isBelow = (above: string) => folder === above || folder.startsWith(`${above}/`)
  const veil = hidden.find(
    ({ property, folders }) => unit.get(property) === 'yes' && folders.some(isBelow),
  )
  if (veil) {
    const todo = `Set ${variable} to a folder that is not below ${veil.folders.join(' or ')}.`
    return [bad('problem', `${name} does not see the folder ${folder} (${variable}).`, todo)]
  }
  const wordsOf = (property: string) => (unit.get(property) ?? '').split(' ').filter(Boolean)
  const writable = [
    ...wordsOf('ReadWritePaths').map((one) => one.replace(/^[-+]+/, '')),
    ...wordsOf('StateDirectory').map((one) => `/var/lib/${one}`),
    ...wordsOf('LogsDirectory').map((one) => `/var/log/${one}`),
  ]
  if (writable.some(isBelow)) return []
  const todo =
    'Run "systemctl daemon-reload" and restart it: the package derives ReadWritePaths from ' +
    `/etc/signalpost/signalpost.env. Without the package, add "ReadWritePaths=${folder}" by ` +
    `"systemctl edit ${name}".`
  return [bad('problem', `${name} may not write to the folder ${folder} (${variable}).`, todo)]
}

function propertiesOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\n').map((line) => {
      const at = line.indexOf('=')
      return [line.slice(0, at), line.slice(at + 1)]
    }),
  )
}

const ANSWER_MS = 5_000

/** What systemd says about our units; empty without systemd or without units. */
async function showUnits(): Promise<string> {
  const properties =
    'Id,LoadState,ProtectSystem,ProtectHome,PrivateTmp,ReadWritePaths,StateDirectory,LogsDirectory'
  const units = ['signalpost.service', 'signalpost@*.service']
  const { stdout } = await promisify(execFile)(
    'systemctl',
    ['show', `--property=${properties}`, ...units],
    { timeout: ANSWER_MS },
  ).catch(() => ({ stdout: '' }))
  return stdout
}
