import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { reachableFolder, unprivileged } from '../../src/db/embedded.ts'
import { freePort } from './free-port.ts'
import { makeScratchFolder } from './scratch-folder.ts'
import {
  descendants,
  isAlive,
  killAll,
  processes,
  type Program,
  startCommand,
  startProgram,
} from './process.ts'

/** A data folder of a test with free ports, and the processes started on it. */
export type Place = {
  dataDir: string
  url: string
  receivePort: number
  env: Record<string, string>
  /** Runs `signalpost start` on this folder. */
  start: (env?: Record<string, string>) => Program
  /** Runs another command, such as `npm start`, on this folder. */
  startBy: (command: readonly [string, ...string[]], env?: Record<string, string>) => Program
  /** Returns the stored credentials of the first accounts. */
  accounts: () => Promise<Accounts>
  /** The file in which PostgreSQL stores its pid. */
  postmasterFile: string
  /** Returns the descendants of the started processes, with their command lines. */
  tree: () => { pid: number; command: string }[]
  /** Returns the pids of those `start` processes that are still running. */
  running: () => number[]
  /** Kills the remaining processes and removes the folder. */
  clear: () => Promise<void>
}

/** The credentials of the first accounts, as stored. */
type Accounts = Record<'admin' | 'reporter', { email: string; password: string }>

/** Creates a place. `env` applies to everything started on it. */
export async function makePlace(env: Record<string, string> = {}): Promise<Place> {
  const dataDir = await makeScratchFolder('e2e')
  const [httpPort, receivePort] = [await freePort(), await freePort()]
  const postgresDir = await reachableFolder(path.join(dataDir, 'postgres'), unprivileged())
  const settings = {
    DATA_DIR: dataDir,
    HTTP_PORT: String(httpPort),
    RECEIVE_PORT: String(receivePort),
    LOG_LEVEL: 'info',
    WORKERS: '1',
    RDAP_BOOTSTRAP_URL: 'none',
    ...env,
  }
  const started: Program[] = []
  const seen = new Set<number>()
  const tree = () => {
    const found = started.flatMap(({ pid }) => descendants(pid))
    for (const { pid } of found) seen.add(pid)
    return found
  }
  return {
    dataDir,
    url: `http://127.0.0.1:${httpPort}`,
    receivePort,
    env: settings,
    start(more = {}) {
      const program = startProgram(['start'], { ...settings, ...more })
      started.push(program)
      return program
    },
    startBy(command, more = {}) {
      const program = startCommand(command, { ...settings, ...more })
      started.push(program)
      return program
    },
    accounts: async () =>
      JSON.parse(await readFile(path.join(dataDir, 'accounts.json'), 'utf8')) as Accounts,
    postmasterFile: path.join(postgresDir, 'postmaster.pid'),
    tree,
    running: () => started.map(({ pid }) => pid).filter(isAlive),
    async clear() {
      tree()
      await Promise.all(started.filter(({ pid }) => isAlive(pid)).map((program) => program.stop()))
      await killAll([...seen].filter(isAlive))
      await killAll(processes().flatMap((one) => (isOrphan(one, postgresDir) ? [one.pid] : [])))
      await rm(postgresDir, { recursive: true, force: true })
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Whether a process is a server whose `start` was killed; it is recognized by its data folder. */
function isOrphan({ command }: { command: string }, postgresDir: string): boolean {
  return command.includes(`postgres -D ${postgresDir} `)
}

/** Resolves when `start` has reported that everything runs. */
export async function untilRunning(program: Program): Promise<Program> {
  await program.says(/Press Ctrl-C to stop\./)
  return program
}
