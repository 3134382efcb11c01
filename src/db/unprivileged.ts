import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'

/** As whom the server runs; empty when we are not root and it runs as we do. */
export type Identity = { uid?: number; gid?: number }

/** Where a root without a reachable checkout keeps what the unprivileged server must reach. */
const SHARED_ROOT = '/var/lib/signalpost'
const WORLD_SEARCH = 0o001
const WORLD_READ_EXECUTE = 0o005

/**
 * PostgreSQL refuses to run as root: then it runs as `postgres` where there is one, else as
 * `nobody`.
 */
export function unprivileged(): Identity {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf(name, '-u')
    const gid = idOf(name, '-g')
    if (uid && gid) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no account "postgres" or "nobody".')
}

/**
 * The folder itself when the server may search its way to it; when it may not (a checkout under
 * `/root`), a folder of the same name under `/var/lib/signalpost`.
 */
export async function reachableFolder(folder: string, identity: Identity): Promise<string> {
  if (identity.uid === undefined || (await isReachable(path.dirname(folder)))) return folder
  await mkdir(SHARED_ROOT, { recursive: true, mode: 0o755 })
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 12)
  return path.join(SHARED_ROOT, `${path.basename(folder)}-${name}`)
}

/** The folder of the server's programs, copied to where it can be run from if need be. */
export async function reachablePrograms(native: string, identity: Identity): Promise<string> {
  if (identity.uid === undefined) return native
  const { mode } = await stat(path.join(native, 'bin', 'postgres'))
  const isOpen = (mode & WORLD_READ_EXECUTE) === WORLD_READ_EXECUTE
  if (isOpen && (await isReachable(path.join(native, 'bin')))) return native
  const name = createHash('sha256').update(native).digest('hex').slice(0, 12)
  const copy = path.join(SHARED_ROOT, `postgres-${name}`)
  if (await exists(copy)) return copy
  const unfinished = `${copy}.${process.pid}`
  await mkdir(SHARED_ROOT, { recursive: true, mode: 0o755 })
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true })
  execFileSync('chmod', ['-R', 'a+rX', unfinished])
  await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true }))
  return copy
}

async function isReachable(folder: string): Promise<boolean> {
  for (let at = folder; ; at = path.dirname(at)) {
    if ((await exists(at)) && ((await stat(at)).mode & WORLD_SEARCH) === 0) return false
    if (at === path.dirname(at)) return true
  }
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

function idOf(name: string, flag: '-u' | '-g'): number | undefined {
  try {
    return Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
  } catch {
    return undefined
  }
}
