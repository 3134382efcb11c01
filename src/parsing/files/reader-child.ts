import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { reasonOf } from '../../errors.ts'
import type { FileFault } from '../../pieces/attachment.ts'
import { systemElapsed } from '../../world.ts'
import type { FileToRead } from './choose-files.ts'
import type { FileFinding } from './read-file.ts'
import type { FileAnswer } from './reader-process.ts'
import type { FileTask } from './reader-thread.ts'

/**
 * A file to read. `settle` gets what was found, and the time in milliseconds that it took.
 * `isAwaited`: whether a caller waits for it. The last free thread takes only such files.
 */
export type FileOrder = {
  file: FileToRead
  isAwaited: () => boolean
  settle: (finding: FileFinding, ms: number) => void
}

/** A process that reads several files at a time, and the line of files before it. */
export type ReaderChild<Order extends FileOrder> = {
  /** What the process does not survive is a fault of the file. */
  add: (order: Order) => void
  /** Takes back a file whose reading has not begun; false if it has. */
  takeBack: (order: Order) => boolean
  /** Looks for files again, after somebody has begun to wait for one. */
  look: () => void
  /** Its process id; undefined while there is none. */
  pid: () => number | undefined
  /** Files that are not read yet are `unread`. */
  close: () => void
}

/**
 * RLIMIT_DATA in KB. Node 26 reserves 1 GB of it with three threads, mostly for code, so that
 * about 430 MB remain.
 */
const DATA_KILOBYTES_MAX = 1_400_000
/** CPU time in seconds at which the operating system ends the process, as a last resort. */
const CPU_SECONDS_MAX = 300
const START_MS_MAX = 60_000
/** Time in milliseconds after which a process is ended that does not answer about a file. */
const ANSWER_MS_MAX = 30_000
const IDLE_MS = 60_000
/** Memory in bytes that files read at the same time may need; one that needs more is read alone. */
const MEMORY_MAX = 130_000_000
const PRIORITY = 5
const V8_OUT_OF_MEMORY = 134

// The extension is `.js` in the compiled package.
const PROGRAM = path.join(
  import.meta.dirname,
  `reader-process${path.extname(import.meta.filename)}`,
)

type Reading<Order> = { order: Order; finding: FileFinding; startMs: number; timer: NodeJS.Timeout }
type Ended = { code: number | null; signal: NodeJS.Signals | null }

const unread: FileFinding = { links: [], fault: 'unread' }

/**
 * Creates a reader, which takes the file of the lowest rank first. Its process starts with the
 * first file, and ends when it is idle for long. Calls `failed` when it cannot be started.
 */
export function createReaderChild<Order extends FileOrder>(
  rank: (order: Order) => number,
  failed: (obstacle: string) => void = () => undefined,
): ReaderChild<Order> {
  const line: Order[] = []
  const reading = createReading<Order>()
  let isClosed = false
  const reader = createProcess({
    answered(answer) {
      if (answer.is !== 'free') reading.note(answer)
      pump()
    },
    crashed(ended) {
      line.unshift(...reading.ended(ended))
      if (reading.hasSuspects() || line.length > 0) reader.wake()
    },
    failed(obstacle) {
      failed(obstacle)
      giveUp()
    },
  })

  function pump(): void {
    while (reader.room() > 0 && reading.canBegin()) {
      const order = reading.takeSuspect() ?? takeNext()
      if (!order) break
      reader.send({ ...order.file, number: reading.begin(order, reader.end) })
    }
    if (reading.isEmpty() && line.length === 0) reader.rest()
  }

  function takeNext(): Order | undefined {
    const able = line.filter(({ isAwaited }) => reader.room() > 1 || isAwaited())
    const [next] = able.toSorted((a, b) => rank(a) - rank(b))
    return next && reading.hasMemoryFor(next) && takeFrom(line, next) ? next : undefined
  }

  function giveUp(): void {
    reading.giveUp()
    for (const order of line.splice(0)) order.settle(unread, 0)
  }

  return {
    add(order) {
      if (isClosed) return order.settle(unread, 0)
      line.push(order)
      reader.wake()
      // Deferred, so that all files of a message are in the line before the first is taken.
      queueMicrotask(pump)
    },
    takeBack: (order) => takeFrom(line, order),
    look: pump,
    pid: reader.pid,
    close() {
      isClosed = true
      reader.drop()
      giveUp()
    },
  }
}

function takeFrom<Order>(line: Order[], order: Order): boolean {
  const at = line.indexOf(order)
  if (at >= 0) line.splice(at, 1)
  return at >= 0
}

/**
 * Keeps what a process reads. When the process ends while it reads several files, it is not known
 * which one is at fault: each is read again, alone.
 */
function createReading<Order extends FileOrder>() {
  const reading = new Map<number, Reading<Order>>()
  const suspects: Order[] = []
  /** The file that is read alone. */
  let alone: Order | undefined
  let number = 0

  function finish(its: number, { order, finding, startMs, timer }: Reading<Order>): void {
    reading.delete(its)
    clearTimeout(timer)
    if (alone === order) alone = undefined
    order.settle(finding, systemElapsed() - startMs)
  }

  return {
    isEmpty: () => reading.size === 0,
    hasMemoryFor({ file }: Order): boolean {
      const taken = [...reading.values()].reduce((sum, { order }) => sum + order.file.memory, 0)
      return taken === 0 || taken + file.memory <= MEMORY_MAX
    },
    canBegin: () => !alone && (suspects.length === 0 || reading.size === 0),
    hasSuspects: () => suspects.length > 0,
    takeSuspect: () => (alone = suspects.shift()),
    begin(order: Order, late: () => void): number {
      const timer = setTimeout(late, ANSWER_MS_MAX)
      const finding: FileFinding = { links: [] }
      reading.set(++number, { order, finding, startMs: systemElapsed(), timer })
      return number
    },
    note({ is, number: its, finding }: Exclude<FileAnswer, { is: 'free' }>): void {
      const one = reading.get(its)
      if (!one) return
      one.finding = finding
      if (is === 'whole') finish(its, one)
    },
    /** Returns the files that had not begun when the process ended itself, between two files. */
    ended(ended: Ended): Order[] {
      const all = [...reading]
      reading.clear()
      for (const [, { timer }] of all) clearTimeout(timer)
      if (ended.code === 0) {
        alone = undefined
        return all.map(([, { order }]) => order)
      }
      for (const [its, one] of all) {
        const finding = { ...one.finding, fault: faultOf(ended) }
        if (one.order === alone) finish(its, { ...one, finding })
        else suspects.push(one.order)
      }
      return []
    },
    giveUp(): void {
      for (const [its, one] of reading) finish(its, { ...one, finding: unread })
      for (const order of suspects.splice(0)) order.settle(unread, 0)
    },
  }
}

/** V8 aborts when it gets no memory, and a system without memory kills. */
function faultOf({ code, signal }: Ended): FileFault {
  if (signal === 'SIGXCPU') return 'too-slow'
  const isMemory = signal === 'SIGABRT' || signal === 'SIGKILL' || signal === 'SIGTRAP'
  return isMemory || code === V8_OUT_OF_MEMORY ? 'too-large' : 'unreadable'
}

type Events = {
  answered: (answer: FileAnswer) => void
  crashed: (ended: Ended) => void
  /** It cannot be started. */
  failed: (obstacle: string) => void
}
/** `free`: how many files it can take. */
type Running = { child: ChildProcess; free: number; hasStarted: boolean }

/** Creates a process that starts when it is woken, and again after its end. */
function createProcess(events: Events) {
  let running: Running | undefined
  let idle: NodeJS.Timeout | undefined

  function start(): Running {
    const answered = (answer: FileAnswer) => {
      if (running === started) events.answered(answer)
    }
    const started = openReader(answered, (ended, obstacle) => {
      if (running !== started) return
      running = undefined
      if (started.hasStarted) events.crashed(ended)
      else events.failed(obstacle)
    })
    return started
  }

  function drop(): void {
    clearTimeout(idle)
    running?.child.kill('SIGKILL')
    running = undefined
  }

  return {
    /** How many files it can take. */
    room: () => running?.free ?? 0,
    wake() {
      clearTimeout(idle)
      try {
        running ??= start()
        hold(running.child)
      } catch (error) {
        // The system has no room for another process.
        events.failed(reasonOf(error))
      }
    },
    send(task: FileTask) {
      if (!running) return
      running.free--
      // If this fails, the process has ended, or will.
      running.child.send(task, () => undefined)
    },
    /** Says that there is nothing to do. */
    rest() {
      if (!running) return
      release(running.child)
      clearTimeout(idle)
      idle = setTimeout(drop, IDLE_MS).unref()
    },
    /** Ends the process as if it had crashed. */
    end: () => void running?.child.kill('SIGKILL'),
    drop,
    pid: () => running?.child.pid,
  }
}

/** Starts a process. Calls `over` when it ends or does not start. */
function openReader(
  answered: (answer: FileAnswer) => void,
  over: (ended: Ended, obstacle: string) => void,
): Running {
  const child = spawnReader()
  const opened: Running = { child, free: 0, hasStarted: false }
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
  child.on('message', (answer: FileAnswer) => {
    clearTimeout(timer)
    opened.hasStarted = true
    if (answer.is === 'free') opened.free++
    answered(answer)
  })
  child.on('error', (error) => {
    if (!opened.hasStarted) over({ code: null, signal: null }, reasonOf(error))
  })
  child.once('close', (code, signal) => {
    clearTimeout(timer)
    over({ code, signal }, `It ended with ${signal ?? code}.`)
  })
  return opened
}

/** glibc gives the memory of ended threads back, which it would keep. */
const environment = {
  ...{ UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '1' },
  ...{ MALLOC_TRIM_THRESHOLD_: '65536', MALLOC_MMAP_THRESHOLD_: '65536' },
}

/**
 * Starts the process with none of the settings and open files of this one, the limits of the
 * operating system where it has them, and the permissions of Node: it may only read the program. A
 * shell sets the limits, because Node cannot.
 */
function spawnReader(): ChildProcess {
  const limits = `ulimit -c 0; ulimit -d ${DATA_KILOBYTES_MAX}; ulimit -t ${CPU_SECONDS_MAX}`
  const script = `{ ${limits}; } 2>/dev/null; exec nice -n ${PRIORITY} "$0" "$@"`
  const flags = ['--v8-pool-size=1', '--no-warnings', ...permissions()]
  const command = [process.execPath, ...flags, PROGRAM]
  const child = spawn('/bin/sh', ['-c', script, ...command], {
    ...{ cwd: '/', env: environment, serialization: 'advanced' },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
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
  const reads = allowed.map((folder) => `--allow-fs-read=${folder}`)
  return ['--permission', '--allow-worker', ...reads]
}

function hold(child: ChildProcess): void {
  child.ref()
  child.channel?.ref()
}

/** Lets this process end although the other one runs. */
function release(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}
