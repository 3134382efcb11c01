import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { variableNames } from '../../src/config.ts'

/** How a process ended. */
type Ending = { code: number | null; signal: NodeJS.Signals | null }

/** A running process of the real program. */
export type Program = {
  pid: number
  /** Returns everything that it has written to standard output and standard error. */
  said: () => string
  /** Resolves when the program writes a matching text; rejects when it ends first. */
  says: (words: RegExp) => Promise<RegExpExecArray>
  /** Resolves when a process reports over its channel that it is ready. */
  ready: Promise<void>
  ended: Promise<Ending>
  /** Sends a signal to the process only. */
  kill: (signal: NodeJS.Signals) => void
  /** Sends a signal to its process group, as Ctrl-C on a terminal does. */
  killGroup: (signal: NodeJS.Signals) => void
  /** Asks the process to end and waits; kills it if it does not end. */
  stop: () => Promise<Ending>
}

/** The result of a command that ends by itself. */
export type Outcome = { code: number | null; stdout: string; stderr: string }

const main = path.join(import.meta.dirname, '..', '..', 'src', 'main.ts')
const several = path.join(import.meta.dirname, 'several-commands.ts')
const PATIENCE_MS = 180_000
const STOP_MS = 25_000
const RUN_MS = 60_000

/**
 * Starts `signalpost …` in a separate process group, with only these settings in its environment.
 */
export function startProgram(args: readonly string[], env: Record<string, string>): Program {
  return startCommand([process.execPath, main, ...args], env)
}

/** Starts a command like `startProgram`, in the folder of the project. */
export function startCommand(
  [file, ...args]: readonly [string, ...string[]],
  env: Record<string, string>,
): Program {
  const child = spawn(file, args, {
    cwd: path.join(import.meta.dirname, '..', '..'),
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  })
  let text = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      text += String(chunk)
      for (const listener of listeners) listener()
    })
  }
  const ended = new Promise<Ending>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve()
    })
    void ended.then(() => reject(new Error(`"${args.join(' ')}" ended early:\n${text}`)))
  })
  ready.catch(() => undefined)
  return {
    pid: pidOf(child),
    said: () => text,
    says: (words) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = words.exec(text)
          if (!found) return
          listeners.delete(look)
          resolve(found)
        }
        listeners.add(look)
        look()
        const give = (why: string) => () => reject(new Error(`${why} before ${words}:\n${text}`))
        void ended.then(give('It ended'))
        void wait(PATIENCE_MS, undefined, { ref: false }).then(give('Time was up'))
      }),
    ready,
    ended,
    kill: (signal) => void child.kill(signal),
    killGroup: (signal) => process.kill(-pidOf(child), signal),
    stop: async () => {
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      const ending = await ended
      clearTimeout(killer)
      return ending
    },
  }
}

/** Runs `signalpost …` to its end. A command that does not end is killed, and its code is null. */
export function runProgram(
  args: readonly string[],
  env: Record<string, string>,
  input: string | Buffer = '',
): Promise<Outcome> {
  return runFile([main, ...args], env, { input })
}

/** Runs several command lines of the program in one process; none of them may read its input. */
export async function runSeveral(
  lines: readonly (readonly string[])[],
  env: Record<string, string>,
): Promise<Outcome[]> {
  const args = [several, JSON.stringify(lines)]
  const { code, stdout, stderr } = await runFile(args, env, { runMs: RUN_MS * lines.length })
  if (code !== 0) throw new Error(`The commands ended with ${code}: ${stderr}`)
  return JSON.parse(stdout) as Outcome[]
}

function runFile(
  args: readonly string[],
  env: Record<string, string>,
  { input = '', runMs = RUN_MS }: { input?: string | Buffer; runMs?: number },
): Promise<Outcome> {
  const child = spawn(process.execPath, args, {
    env: environment(env),
    timeout: runMs,
    killSignal: 'SIGKILL',
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  // A command that never reads its input may close it early.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/**
 * Repeats a query until its answer is not undefined; throws with `what` after the timeout, also
 * when the query itself never ends.
 */
export async function until<T>(
  what: string,
  ask: () => T | undefined | Promise<T | undefined>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  let obstacle: unknown
  const over = new AbortController()
  const late = wait(patienceMs, undefined, { signal: over.signal }).catch(() => undefined)
  try {
    for (const deadline = Date.now() + patienceMs; Date.now() < deadline; await wait(20)) {
      const asked = (async () => ask())()
      try {
        const answer = await Promise.race([asked, late])
        if (answer !== undefined) return answer
      } catch (error) {
        obstacle = error
      }
    }
  } finally {
    over.abort()
  }
  throw new Error(`Not in time: ${what}`, { cause: obstacle })
}

/** Whether a process is running; a zombie does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return stateOf(pid) !== 'Z'
}

/** Kills processes immediately and waits until they have ended. */
export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process ended together with another one.
    }
  }
  await untilGone(pids)
}

/** Resolves when all given processes have ended. */
export async function untilGone(pids: readonly number[], patienceMs = STOP_MS): Promise<void> {
  await until('the end of all processes', () => (pids.some(isAlive) ? undefined : true), patienceMs)
}

/** Returns the running descendants of a process, parents first, with their command lines. */
export function descendants(pid: number): { pid: number; command: string }[] {
  const all = processes()
  const found: { pid: number; command: string }[] = []
  const visit = (parent: number) => {
    for (const one of all.filter((candidate) => candidate.parent === parent)) {
      if (isAlive(one.pid)) found.push({ pid: one.pid, command: one.command })
      visit(one.pid)
    }
  }
  visit(pid)
  return found
}

function environment(env: Record<string, string>): NodeJS.ProcessEnv {
  const rest = Object.entries(process.env).filter(([name]) => !variableNames.includes(name))
  // The settings of vitest must not change the behavior of the program, and no request may leave
  // the machine.
  const ours = {
    NODE_OPTIONS: '',
    NODE_NO_WARNINGS: '1',
    DNS_SERVERS: 'none',
    MESSAGE_AGE_MAX: '0',
    DRAIN_SECONDS: '0',
    FORM_WAIT_SECONDS: '0',
  }
  return { ...Object.fromEntries(rest), ...ours, ...env }
}

function pidOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('The program could not be started.')
  return pid
}

function stateOf(pid: number): string | undefined {
  return existsSync('/proc') ? readStat(pid)?.state : undefined
}

/** Returns all processes of the machine. */
export function processes(): { pid: number; parent: number; command: string }[] {
  if (existsSync('/proc')) {
    return readdirSync('/proc').flatMap((name) => {
      const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
      return stat ? [{ pid: Number(name), parent: stat.parent, command: stat.command }] : []
    })
  }
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return table.split('\n').flatMap((line) => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}

function readStat(pid: number): { state: string; parent: number; command: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { state, parent: Number(parent), command }
  } catch {
    return undefined
  }
}
