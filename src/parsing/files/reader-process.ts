import path from 'node:path'
import { Worker } from 'node:worker_threads'
import type { FileFault } from '../../pieces/attachment.ts'
import { inTime, systemElapsed } from '../../world.ts'
import type { FileFinding } from './read-file.ts'
import type { FileTask, ThreadAnswer } from './reader-thread.ts'

// The program of the process that reads files. Threads read, one file each, and this one watches
// them: a thread that takes too long or too much memory is replaced. Its channel is its only
// connection.

/** `free`: a thread can take a file. */
export type FileAnswer =
  | { is: 'free' }
  | { is: 'part' | 'whole'; number: number; finding: FileFinding }

type Reading = {
  task: FileTask
  finding: FileFinding
  startedAt: number
  cpuBefore: number | undefined
}
type Thread = { worker: Worker; reading: Reading | undefined }

const THREADS = 3
const HEAP_MEGABYTES = {
  maxOldGenerationSizeMb: 64,
  maxYoungGenerationSizeMb: 16,
  codeRangeSizeMb: 32,
}
/**
 * Resident memory of this process in bytes: while it reads, and afterwards, when other threads, or
 * else another process, take the place of those that keep it. It has 170 MB at its start.
 */
const RESIDENT_BYTES_MAX = { reading: 300_000_000, idle: 270_000_000 }
/** Memory in bytes of a thread without a file: 28 MB at its start, and what files leave behind. */
const THREAD_BYTES = 40_000_000
const WATCH_MS = 25
const ASK_MS_MAX = 500
/** How much longer than its CPU time a file may take; Node 20 does not know that time. */
const WALL_FACTOR = 'cpuUsage' in Worker.prototype ? 10 : 3
const END_MS_MAX = 2_000
/** How many threads may end one after the other before one is ready. */
const FAILED_STARTS_MAX = 5

// The extension is `.js` in the compiled package.
const PROGRAM = path.join(import.meta.dirname, `reader-thread${path.extname(import.meta.filename)}`)

const threads = new Set<Thread>()
const free: Thread[] = []
/** Files whose thread has just ended. */
const line: FileTask[] = []
let ending = 0
/** Threads that ended after the parent was notified that they are free. */
let owed = 0
/** Idle threads that were replaced since the memory was last below its limit. */
let replaced = 0
/** Answers that are not written yet. */
let unsent = 0
let failedStarts = 0
let watching: NodeJS.Timeout | undefined

function answer(message: FileAnswer): void {
  unsent++
  process.send?.(message, () => unsent--)
}

function startThread(): void {
  const worker = new Worker(PROGRAM, { resourceLimits: HEAP_MEGABYTES })
  const thread: Thread = { worker, reading: undefined }
  threads.add(thread)
  if (++failedStarts > FAILED_STARTS_MAX) process.exit(1)
  worker.on('message', (message: ThreadAnswer) => {
    if (message === 'ready') return setFree(thread)
    if (!thread.reading) return
    thread.reading.finding = message.finding
    if (message.isLast) settle(thread, message.finding.fault)
    else answerWith('part', thread.reading)
  })
  worker.on('error', (error: NodeJS.ErrnoException) => {
    settle(thread, error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'too-large' : 'unreadable')
  })
  worker.on('exit', () => {
    threads.delete(thread)
    keepFrom(thread)
    startThread()
  })
}

function setFree(thread: Thread): void {
  failedStarts = 0
  const next = line.shift()
  if (next) return give(thread, next)
  free.push(thread)
  if (owed > 0) owed--
  else answer({ is: 'free' })
}

/** Gives no more files to a thread. */
function keepFrom(thread: Thread): void {
  if (!free.includes(thread)) return
  free.splice(free.indexOf(thread), 1)
  owed++
}

function answerWith(is: 'part' | 'whole', { task: { number }, finding }: Reading): void {
  answer({ is, number, finding })
}

/** Says what was found in a file. */
function settle(thread: Thread, fault: FileFault | undefined): void {
  const { reading } = thread
  thread.reading = undefined
  if (!reading) return
  const finding = fault === undefined ? reading.finding : { ...reading.finding, fault }
  answerWith('whole', { ...reading, finding })
}

/** Ends a thread because of its file; another one replaces it. */
function end(thread: Thread, fault: FileFault): void {
  settle(thread, fault)
  replace(thread)
}

function replace(thread: Thread): void {
  ending++
  void inTime(thread.worker.terminate(), END_MS_MAX, undefined).then((code) => {
    ending--
    if (code === undefined) process.exit(1)
  })
}

/** Asks a thread what it uses, also while it computes; undefined where that cannot be asked. */
async function ask<T>(asking: () => Promise<T>): Promise<T | undefined> {
  try {
    return await inTime(asking(), ASK_MS_MAX, undefined)
  } catch {
    // It has just ended, or is a thread of Node 20.
    return undefined
  }
}

/** CPU time of a thread in milliseconds. */
async function cpuOf({ worker }: Thread): Promise<number | undefined> {
  const usage = await ask(() => worker.cpuUsage())
  return usage && (usage.user + usage.system) / 1_000
}

/**
 * Memory in bytes that a thread takes beyond what it needs for its file. One that does not answer
 * is suspected only if no other one takes too much: on a busy machine, any thread may be silent.
 */
async function excessOf({ worker, reading }: Thread): Promise<number> {
  const used = await ask(() => worker.getHeapStatistics())
  if (!used) return 1
  const due = reading ? THREAD_BYTES + reading.task.memory : 0
  return used.total_heap_size + used.external_memory - due
}

/** Returns the thread that takes the most memory beyond what it should, if any does. */
async function largestOf(threads: readonly Thread[]): Promise<Thread | undefined> {
  const excess = await Promise.all(threads.map(excessOf))
  const most = Math.max(...excess)
  return most > 0 ? threads[excess.indexOf(most)] : undefined
}

/** Ends a file that takes too long. */
async function watch(thread: Thread): Promise<void> {
  const { reading } = thread
  if (!reading) return
  const { task, startedAt } = reading
  const cpu = await cpuOf(thread)
  reading.cpuBefore ??= cpu
  const isOver = (cpu ?? 0) - (reading.cpuBefore ?? 0) > task.msMax
  if (!isOver && systemElapsed() - startedAt < task.msMax * WALL_FACTOR) return
  if (thread.reading === reading) end(thread, 'too-slow')
}

/**
 * Ends the file that takes most beyond what it should if the process takes too much memory. That
 * may also be memory of threads that have ended, for which no file is at fault.
 */
async function watchMemory(threads: readonly Thread[]): Promise<void> {
  // The memory of a thread that ends is still counted.
  if (ending > 0 || process.memoryUsage.rss() < RESIDENT_BYTES_MAX.reading) return
  const largest = await largestOf(threads)
  if (largest?.reading && ending === 0) end(largest, 'too-large')
}

/**
 * Replaces the idle thread that keeps the most memory. When all were replaced in vain, this process
 * ends, and another one starts with the next file.
 */
async function giveBackMemory(): Promise<void> {
  if (ending > 0 || free.length < THREADS) return
  if (replaced >= THREADS) {
    if (unsent === 0) process.exit()
    return
  }
  replaced++
  const largest = await largestOf(free)
  if (!largest || !free.includes(largest)) return
  keepFrom(largest)
  replace(largest)
}

function watchAll(): void {
  const reading = [...threads].filter((thread) => thread.reading)
  void watchMemory(reading)
  for (const thread of reading) void watch(thread)
  if (reading.length > 0) return
  if (process.memoryUsage.rss() > RESIDENT_BYTES_MAX.idle) return void giveBackMemory()
  replaced = 0
  clearInterval(watching)
  watching = undefined
}

function give(thread: Thread, task: FileTask): void {
  const startedAt = systemElapsed()
  thread.reading = { task, finding: { links: [] }, startedAt, cpuBefore: undefined }
  const content = Uint8Array.from(task.content)
  thread.worker.postMessage({ ...task, content }, [content.buffer])
  watching ??= setInterval(watchAll, WATCH_MS)
}

// A signal of the terminal goes to the whole group; the parent decides when this process ends.
process.on('SIGINT', () => undefined)
process.on('disconnect', () => process.exit())
process.on('message', (task: FileTask) => {
  const thread = free.shift()
  if (thread) give(thread, task)
  else line.push(task)
})
for (let number = 0; number < THREADS; number++) startThread()
