import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { systemRandom } from '../world.ts'

/** The first accounts of an instance, with their passwords; only a demo has a reporter. */
export type FirstAccounts = {
  admin: { email: string; password: string }
  reporter?: { email: string; password: string }
}

/** The address of the reporter of a demo. */
export const demoReporter = 'reporter@signalpost.example'

const PRIVATE = 0o600
const ACCOUNTS = 'accounts.json'

/** The secret that signs what leaves: kept in the data folder, made there the first time. */
export function keptSecret(dataDir: string): Promise<string> {
  return kept(dataDir, 'secret', () => systemRandom(32).toString('base64url'))
}

/** The password of the embedded PostgreSQL, likewise. */
export function keptDatabasePassword(dataDir: string): Promise<string> {
  return kept(dataDir, 'postgres.password', () => systemRandom(24).toString('base64url'))
}

/** The accounts of a fresh instance, likewise, with one for trying it where it is a demo. */
export async function keptAccounts(dataDir: string, isDemo: boolean): Promise<FirstAccounts> {
  const password = () => systemRandom(12).toString('base64url')
  const accounts: FirstAccounts = {
    admin: { email: 'admin@signalpost.example', password: password() },
    ...(isDemo && { reporter: { email: demoReporter, password: password() } }),
  }
  const text = await kept(dataDir, ACCOUNTS, () => JSON.stringify(accounts, null, 2))
  return JSON.parse(text) as FirstAccounts
}

/** Where `keptAccounts` keeps them: a file that only its owner can read. */
export function accountsFile(dataDir: string): string {
  return path.join(dataDir, ACCOUNTS)
}

/** Notes where the embedded PostgreSQL listens, for commands typed beside a running `start`. */
export async function noteDatabaseUrl(dataDir: string, url: string | undefined): Promise<void> {
  const file = path.join(dataDir, 'database.url')
  if (url === undefined) await rm(file, { force: true })
  else await writeFile(file, url, { mode: PRIVATE })
}

/** What `noteDatabaseUrl` noted. */
export async function notedDatabaseUrl(dataDir: string): Promise<string | undefined> {
  return readFile(path.join(dataDir, 'database.url'), 'utf8').catch(() => undefined)
}

/**
 * Claims the data folder for one process. Undefined when another living one has it; else a
 * function that gives it back.
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
  // Numbers are used again: after a restart of the machine the pid may be anybody's.
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => 'main.ts')
  return command.includes('main.ts')
}

async function kept(dataDir: string, name: string, make: () => string): Promise<string> {
  const file = path.join(dataDir, name)
  await mkdir(dataDir, { recursive: true })
  // Of two processes that make it at once, one writes and both read the same.
  await writeFile(file, make(), { mode: PRIVATE, flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  })
  return readFile(file, 'utf8')
}
