import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, readlink, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { variableNames } from '../../src/config.ts'
import { freePort, reachableFolder, unprivileged } from '../../src/db/embedded.ts'
import { type FirstAccounts, keptAccounts } from '../../src/processes/data-dir.ts'

/** An instance of Signalpost that runs only for the demonstration. */
export type Instance = {
  url: string
  databaseUrl: string
  /** A bearer token of a reporter. */
  token: string
}

/** The folder and the ports of an instance; `clear` must be called in any case. */
export type Site = {
  start: () => Promise<{ url: string }>
  addReporter: () => Promise<{ token: string }>
  databaseUrl: () => Promise<string>
  /** The accounts of a trial instance, after its start. */
  accounts: () => Promise<FirstAccounts>
  /** Ends every process and removes every file. May be called at any time, more than once. */
  clear: () => Promise<void>
}

const main = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts')
const START_MS = 60_000
const STOP_MS = 30_000
const COMPLAINT_CHARS_MAX = 600
/**
 * The folder in which `src/db/embedded.ts` puts files that an unprivileged PostgreSQL could not
 * read otherwise.
 */
const SHARED_ROOT = '/var/lib/signalpost'

/** Prepares a folder and free ports; nothing runs yet. `settings` are added to the environment. */
export async function openSite(settings: NodeJS.ProcessEnv = {}): Promise<Site> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'signalpost-demo-'))
  // An unprivileged PostgreSQL must be able to open folders in it; the contents are protected
  // individually.
  await chmod(dataDir, 0o711)
  const sharedBefore = await readdir(SHARED_ROOT).catch(() => undefined)
  const [httpPort, receivePort] = [await freePort(), await freePort()]
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !variableNames.includes(name)),
    ),
    DATA_DIR: dataDir,
    HTTP_PORT: String(httpPort),
    RECEIVE_PORT: String(receivePort),
    LOG_LEVEL: 'error',
    RDAP_BOOTSTRAP_URL: 'none',
    DNS_SERVERS: 'none',
    MESSAGE_AGE_MAX: '0',
    NODE_NO_WARNINGS: '1',
    ...settings,
  }
  const children: ChildProcess[] = []
  const run = (args: readonly string[]) => {
    const child = fork(main, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    children.push(child)
    return child
  }
  let cleared: Promise<void> | undefined
  return {
    async start() {
      await untilSaid(run(['start']), 'Signalpost is running.')
      return { url: `http://127.0.0.1:${httpPort}` }
    },
    async addReporter() {
      const args = ['account', 'add', '--email', 'demo@reporters.example', '--token']
      return JSON.parse(await untilSaid(run(args), '\n')) as { token: string }
    },
    databaseUrl: () => readFile(path.join(dataDir, 'database.url'), 'utf8'),
    accounts: () => keptAccounts(dataDir, true),
    clear: () => (cleared ??= clear(children, dataDir, sharedBefore)),
  }
}

/** Resolves to the output of a command when it contains `words`. */
async function untilSaid(child: ChildProcess, words: string): Promise<string> {
  let [said, complained] = ['', '']
  child.stderr?.on('data', (chunk) => {
    if (complained.length < COMPLAINT_CHARS_MAX) complained += String(chunk)
  })
  const done = new Promise<string>((resolve) => {
    child.stdout?.on('data', (chunk) => {
      said += String(chunk)
      if (said.includes(words)) resolve(said)
    })
  })
  const ended = once(child, 'close').then(() => {
    throw new Error(`Signalpost ended before it was ready.\n${complained.trim()}`)
  })
  const late = wait(START_MS, undefined, { ref: false }).then(() => {
    throw new Error(`Signalpost was not ready after ${START_MS / 1000} s.\n${complained.trim()}`)
  })
  ended.catch(() => undefined)
  late.catch(() => undefined)
  return Promise.race([done, ended, late])
}

async function clear(
  children: readonly ChildProcess[],
  dataDir: string,
  sharedBefore: readonly string[] | undefined,
): Promise<void> {
  await Promise.all(children.map(end))
  const folder = await reachableFolder(path.join(dataDir, 'postgres'), unprivileged())
  await endServer(folder)
  await rm(folder, { recursive: true, force: true })
  await rm(`${folder}.unfinished`, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  await removeSharedPrograms(sharedBefore)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(killer)
}

/** Kills the server, which `start` could not do if it was killed itself. */
async function endServer(folder: string): Promise<void> {
  const pidFile = path.join(folder, 'postmaster.pid')
  const server = Number((await readFile(pidFile, 'utf8').catch(() => '')).split('\n')[0])
  if (!server) return
  try {
    process.kill(server, 'SIGQUIT')
    for (const deadline = Date.now() + STOP_MS; Date.now() < deadline; await wait(50)) {
      process.kill(server, 0)
    }
  } catch {
    // The server has already ended.
  }
}

/**
 * Removes the copy of PostgreSQL's programs, if it was made for this instance and no other process
 * uses it.
 */
async function removeSharedPrograms(before: readonly string[] | undefined): Promise<void> {
  const now = await readdir(SHARED_ROOT).catch((): string[] => [])
  for (const name of now.filter((entry) => /^postgres-[0-9a-f]{12}$/.test(entry))) {
    if (before?.includes(name)) continue
    const folder = path.join(SHARED_ROOT, name)
    const isProgramFolder = (await readdir(folder).catch((): string[] => [])).includes('bin')
    if (isProgramFolder && !(await runs(folder))) await rm(folder, { recursive: true, force: true })
  }
  if (before === undefined) await rmdir(SHARED_ROOT).catch(() => undefined)
}

async function runs(folder: string): Promise<boolean> {
  const pids = (await readdir('/proc').catch((): string[] => [])).filter((name) =>
    /^\d+$/.test(name),
  )
  const programs = await Promise.all(
    pids.map((pid) => readlink(`/proc/${pid}/exe`).catch(() => '')),
  )
  return programs.some((program) => program.startsWith(folder))
}
