import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'
import { reasonOf } from '../../errors.ts'
import type { FileFault } from '../../pieces/analyze.ts'
import { systemElapsed } from '../../world.ts'
import type { ChosenFile, FileKind } from './choose-files.ts'
import type { FileFinding } from './read-file.ts'
import type { FileAnswer, FileTask } from './reader-process.ts'

/** A process that reads files, one at a time. */
export type ReaderChild = {
  /** Reads a file. Never rejects: what the process does not survive is a fault of the file. */
  read: (file: ChosenFile) => Promise<FileFinding>
  /** Its process id; undefined while there is none. */
  pid: () => number | undefined
  close: () => void
}

/** Resident memory of a process in bytes, from which on it is ended. */
const RESIDENT_BYTES_MAX = 230_000_000
/**
 * RLIMIT_DATA in KB. Node 26 reserves 570 MB of it, mostly for code, so that about 260 MB remain;
 * Node 20 reserves 50 MB.
 */
const DATA_KILOBYTES_MAX = 850_000
const HEAP_MEGABYTES_MAX = 128
/**
 * CPU time in seconds after which a process is replaced between two files, and at which the
 * operating system ends it: also when its parent has ended while it decodes.
 */
const CPU_SECONDS = { retires: 10, ends: 15 }
const WATCH_MS = 25
/** How much longer than its CPU time a file may take on a machine that is busy otherwise. */
const WALL_FACTOR = 10
const START_MS_MAX = 60_000
const IDLE_MS = 60_000
const PRIORITY = 3
const V8_OUT_OF_MEMORY = 134

// The extension is `.js` in the compiled package.
const PROGRAM = path.join(
  import.meta.dirname,
  `reader-process${path.extname(import.meta.filename)}`,
)

/**
 * `isReplaced`: the process must not be used again. `isUntouched`: it ended before it took any time
 * for the file.
 */
type Made = { finding: FileFinding; isReplaced: boolean; isUntouched?: boolean }
/** `obstacle`: why it did not start. */
type Running = { child: ChildProcess; obstacle: Promise<string | undefined> }

/**
 * Creates the reader of a kind of files. Its process starts with the first file. Calls `failed`
 * when a process cannot be started.
 */
export function createReaderChild(
  kind: FileKind,
  failed: (obstacle: string) => void = () => undefined,
): ReaderChild {
  let running: Running | undefined
  let isClosed = false
  let number = 0
  let idle: NodeJS.Timeout | undefined

  function start(): Running {
    const child = spawnReader(kind)
    const started = { child, obstacle: untilReady(child) }
    child.once('close', () => {
      if (running === started) running = undefined
    })
    return started
  }

  function end(): void {
    running?.child.kill('SIGKILL')
    running = undefined
  }

  /** Replaces a process that ended, so that the next file does not wait for the start. */
  function replace(): void {
    end()
    if (!isClosed) running = start()
  }

  async function readOnce(file: ChosenFile): Promise<Made> {
    running ??= start()
    const { child, obstacle } = running
    hold(child)
    const why = await obstacle
    if (why !== undefined && !isClosed) failed(why)
    const made = why === undefined ? await readWith(child, file, ++number) : notStarted
    if (why !== undefined) end()
    else if (made.isReplaced) replace()
    return made
  }

  return {
    async read(file) {
      clearTimeout(idle)
      const made = await readOnce(file)
      // The process may have ended while it had nothing to do, which is no fault of the file.
      const { finding } = made.isUntouched && !isClosed ? await readOnce(file) : made
      release(running?.child)
      idle = setTimeout(end, IDLE_MS).unref()
      return finding
    },
    pid: () => running?.child.pid,
    close() {
      isClosed = true
      clearTimeout(idle)
      end()
    },
  }
}

const notStarted: Made = { finding: { links: [], fault: 'unread' }, isReplaced: true }

/**
 * Starts the process with an empty environment, no open files, the limits of the operating system
 * where it has them, and the permissions of Node: it may only read the program. A shell sets the
 * limits, because Node cannot.
 */
function spawnReader(kind: FileKind): ChildProcess {
  const limits = `ulimit -c 0; ulimit -d ${DATA_KILOBYTES_MAX}; ulimit -t ${CPU_SECONDS.ends}`
  const script = `{ ${limits}; } 2>/dev/null; exec "$0" "$@"`
  const flags = [
    ...[`--max-old-space-size=${HEAP_MEGABYTES_MAX}`, '--max-semi-space-size=8'],
    ...['--v8-pool-size=1', '--no-warnings', ...permissions()],
  ]
  const command = [process.execPath, ...flags, PROGRAM, kind]
  const child = spawn('/bin/sh', ['-c', script, ...command], {
    ...{ cwd: '/', env: { UV_THREADPOOL_SIZE: '1' }, serialization: 'advanced' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  // What fails here shows by the end of the process.
  child.on('error', () => undefined)
  try {
    if (child.pid !== undefined) setPriority(child.pid, PRIORITY)
  } catch {
    // It ended at once, or the system does not allow it.
  }
  release(child)
  return child
}

function permissions(): string[] {
  if (!process.allowedNodeEnvironmentFlags.has('--permission')) return []
  const program = path.join(import.meta.dirname, '..', '..')
  const root = path.dirname(program)
  // Of an installed package, the libraries may be beside it.
  const around = /^.*?[/\\]node_modules(?=[/\\])/.exec(root)?.[0]
  const readable = [program, path.join(root, 'package.json'), path.join(root, 'node_modules')]
  const allowed = around === undefined ? readable : [...readable, around]
  return ['--permission', ...allowed.map((folder) => `--allow-fs-read=${folder}`)]
}

function hold(child: ChildProcess): void {
  child.ref()
  child.channel?.ref()
}

/** Lets this process end although the other one runs. */
function release(child: ChildProcess | undefined): void {
  child?.unref()
  child?.channel?.unref()
}

/** Waits until a process is ready; returns what kept it from that. */
async function untilReady(child: ChildProcess): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const timer = setTimeout(() => resolve('It took too long.'), START_MS_MAX).unref()
  child.once('message', () => resolve(undefined))
  child.once('error', (error) => resolve(reasonOf(error)))
  child.once('close', (code, signal) => resolve(`It ended with ${signal ?? code}.`))
  const obstacle = await promise
  clearTimeout(timer)
  return obstacle
}

/** Reads a file with a process that is ready. */
async function readWith(
  child: ChildProcess,
  { content, needsLook, msMax }: ChosenFile,
  number: number,
): Promise<Made> {
  const { promise, resolve } = Promise.withResolvers<FileFault | undefined>()
  const startedAt = systemElapsed()
  const cpuBefore = usageOf(child)?.cpuMs ?? 0
  let finding: FileFinding = { links: [] }
  let cpuMs = cpuBefore
  let isLost = false

  function watch(): void {
    const usage = usageOf(child)
    const elapsed = systemElapsed() - startedAt
    cpuMs = usage?.cpuMs ?? cpuMs
    // Without the figures of the system, all of the time counts.
    const spent = usage ? usage.cpuMs - cpuBefore : elapsed
    if (spent > msMax || elapsed > msMax * WALL_FACTOR) resolve('too-slow')
    else if (usage && usage.residentBytes > RESIDENT_BYTES_MAX) resolve('too-large')
  }

  function take(answer: FileAnswer): void {
    if ('isReady' in answer || answer.number !== number) return
    finding = answer.finding
    if (answer.isLast) resolve(finding.fault)
  }

  function closed(code: number | null, signal: NodeJS.Signals | null): void {
    // V8 aborts when it gets no memory, and a system without memory kills.
    const isMemory = signal === 'SIGABRT' || signal === 'SIGKILL' || signal === 'SIGTRAP'
    isLost = true
    if (isMemory || code === V8_OUT_OF_MEMORY) resolve('too-large')
    else resolve(signal === 'SIGXCPU' ? 'too-slow' : 'unreadable')
  }

  const timer = setInterval(watch, WATCH_MS)
  child.on('message', take)
  child.once('close', closed)
  const task: FileTask = { number, content, needsLook }
  child.send(task, (error) => {
    if (error) closed(null, null)
  })
  const fault = await promise
  clearInterval(timer)
  child.off('message', take)
  child.off('close', closed)
  const hasEnded = child.exitCode !== null || child.signalCode !== null
  const isOver = fault !== finding.fault || hasEnded || cpuMs > CPU_SECONDS.retires * 1_000
  return {
    finding: fault === undefined ? finding : { ...finding, fault },
    isReplaced: isOver,
    isUntouched: isLost && cpuMs === cpuBefore,
  }
}

const TICK_MS = 10
const PAGE_BYTES = 4_096

/** Returns what a process uses, where the system has `/proc`; its CPU time since its start. */
function usageOf({ pid }: ChildProcess): { cpuMs: number; residentBytes: number } | undefined {
  if (pid === undefined || process.platform !== 'linux') return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field, the name of the program, may contain blanks.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user = 0, system = 0, pages = 0] = [fields[11], fields[12], fields[21]]
    return { cpuMs: (user + system) * TICK_MS, residentBytes: pages * PAGE_BYTES }
  } catch {
    return undefined
  }
}
