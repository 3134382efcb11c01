import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { jsonOf } from '../mail/text.ts'
import { systemRandom } from '../world.ts'

/** The first accounts of an instance and their passwords; only a demo has a reporter. */
export type FirstAccounts = {
  admin: { email: string; password: string }
  reporter?: { email: string; password: string }
}

/** The mail address of the demo reporter. */
export const demoReporter = 'reporter@signalpost.example'

const PRIVATE = 0o600
const ACCOUNTS = 'accounts.json'
const PARTS = 'parts.json'

const SECRET = 'secret'
const PREVIOUS_SECRETS = 'secret.previous'

/**
 * Returns the secret of the installation, which is created in the data folder on first use, and
 * those that `prepareSecret` replaced, the last one first.
 */
export async function keptSecrets(
  dataDir: string,
): Promise<{ secret: string; previous: readonly string[] }> {
  const secret = await kept(dataDir, SECRET, makeSecret)
  const text = await readFile(path.join(dataDir, PREVIOUS_SECRETS), 'utf8').catch(() => '')
  return { secret, previous: text.split(/\s+/).filter(Boolean).toReversed() }
}

/**
 * Puts a new secret into the data folder, and keeps the present one as a previous one. Can be
 * repeated after it was killed at any time.
 */
async function renewSecret(dataDir: string): Promise<void> {
  const { secret } = await keptSecrets(dataDir)
  await appendFile(path.join(dataDir, PREVIOUS_SECRETS), `${secret}\n`, { mode: PRIVATE })
  const unfinished = path.join(dataDir, `${SECRET}.${process.pid}`)
  await writeFile(unfinished, makeSecret(), { mode: PRIVATE })
  await rename(unfinished, path.join(dataDir, SECRET))
}

function makeSecret(): string {
  return systemRandom(32).toString('base64url')
}

/** Prepares a new secret where the present one is. Returns what to do next. */
export async function prepareSecret({
  secret,
  dataDir,
}: Pick<Config, 'secret' | 'dataDir'>): Promise<string> {
  const last = 'Restart Signalpost, and then run "signalpost secret rotate".'
  if (secret !== undefined) {
    return (
      `A new secret: ${makeSecret()}\nOn every machine, set SECRET_PREVIOUS to the present ` +
      `SECRET, and SECRET to the new one. ${last}`
    )
  }
  await renewSecret(dataDir)
  return `${path.join(dataDir, SECRET)} contains a new secret. ${last}`
}

/**
 * Returns the password of the embedded PostgreSQL, which is created in the data folder on first
 * use.
 */
export function keptDatabasePassword(dataDir: string): Promise<string> {
  return kept(dataDir, 'postgres.password', () => systemRandom(24).toString('base64url'))
}

/**
 * Returns the first accounts, which are created in the data folder on first use; a demo also has a
 * reporter.
 */
export async function keptAccounts(dataDir: string, isDemo: boolean): Promise<FirstAccounts> {
  const password = () => systemRandom(12).toString('base64url')
  const accounts: FirstAccounts = {
    admin: { email: 'admin@signalpost.example', password: password() },
    ...(isDemo && { reporter: { email: demoReporter, password: password() } }),
  }
  const text = await kept(dataDir, ACCOUNTS, () => JSON.stringify(accounts, null, 2))
  return JSON.parse(text) as FirstAccounts
}

/** Whether `keptAccounts` has stored accounts. */
export function hasKeptAccounts(dataDir: string): boolean {
  return existsSync(accountsFile(dataDir))
}

/** The path of the file where `keptAccounts` stores the accounts, readable only by its owner. */
export function accountsFile(dataDir: string): string {
  return path.join(dataDir, ACCOUNTS)
}

/** Stores the ids of the heartbeats of the parts that `start` runs, so that it knows them later. */
export async function notePartHeartbeats(dataDir: string, ids: readonly string[]): Promise<void> {
  await writeFile(path.join(dataDir, PARTS), JSON.stringify(ids), { mode: PRIVATE })
}

/** Returns the ids stored by `notePartHeartbeats`; none if they cannot be read. */
export async function notedPartHeartbeats(dataDir: string): Promise<string[]> {
  const text = await readFile(path.join(dataDir, PARTS), 'utf8').catch(() => '')
  const ids = z.array(z.uuid()).safeParse(jsonOf(text))
  return ids.success ? ids.data : []
}

/** Stores the URL of the embedded PostgreSQL, so that commands can connect while `start` runs. */
export async function noteDatabaseUrl(dataDir: string, url: string | undefined): Promise<void> {
  const file = path.join(dataDir, 'database.url')
  if (url === undefined) await rm(file, { force: true })
  else await writeFile(file, url, { mode: PRIVATE })
}

/** Returns the URL stored by `noteDatabaseUrl`; undefined if there is none. */
export async function notedDatabaseUrl(dataDir: string): Promise<string | undefined> {
  return readFile(path.join(dataDir, 'database.url'), 'utf8').catch(() => undefined)
}

/**
 * Claims the data folder for one process. Returns a function that releases it; undefined if another
 * running process has claimed it.
 */
export async function claimDataDir(dataDir: string): Promise<(() => Promise<void>) | undefined> {
  await mkdir(dataDir, { recursive: true })
  const file = path.join(dataDir, 'start.pid')
  const owner = Number(await readFile(file, 'utf8').catch(() => ''))
  if (owner && owner !== process.pid && (await isSignalpost(owner))) return undefined
  await writeFile(file, String(process.pid), { mode: PRIVATE })
  return () => rm(file, { force: true })
}

async function isSignalpost(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // Process ids are reused: after a reboot, another program may have this id.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'main.ts')
  return /\bmain\.[jt]s\b/.test(command)
}

async function kept(dataDir: string, name: string, make: () => string): Promise<string> {
  const file = path.join(dataDir, name)
  await mkdir(dataDir, { recursive: true })
  // If two processes create the file at the same time, one writes it and both read the same
  // content.
  await writeFile(file, make(), { mode: PRIVATE, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  })
  return readFile(file, 'utf8')
}
