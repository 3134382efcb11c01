import { systemElapsed } from '../world.ts'
import { createEndLock, type EndLock } from './run-in-time.ts'

/**
 * Tasks that are sent to a thread together. The thread stores the index of its current task in
 * `progress`; that task is at fault when the thread crashes or stalls.
 */
export type Chunk<Task> = { tasks: readonly Task[]; progress: Int32Array; lock: EndLock }

/** The outcome of a task in a chunk: its result, or an error message. */
export type Outcome<Made> = { made: Made } | { fault: string }

/** Sends a chunk to a thread; rejects when the thread crashes, stalls or uses too much memory. */
export type RunChunk<Task, Made> = (chunk: Chunk<Task>) => Promise<Outcome<Made>[]>

/** Runs a task; calls `onSlow` when it moves to the slow lane. */
export type RunTask<Task, Made> = (task: Task, onSlow?: () => void) => Promise<Made>

type LineOptions<Task, Made> = {
  /** Maximum number of chunks in the fast lane at the same time. */
  places: number
  fast: RunChunk<Task, Made>
  slow: RunChunk<Task, Made>
  /** The attempts in the slow lane, in order. */
  slowAttempts: (task: Task) => readonly Task[]
  bytesOf: (task: Task) => number
  /**
   * How long a task waits in milliseconds for others while chunks run; 0: it takes the next free
   * place at once.
   */
  companyMs: number
}

/**
 * Maximum number of tasks in a chunk. The transfer to a thread costs a third of processing a
 * message.
 */
const CHUNK_TASKS_MAX = 8
/**
 * Maximum size of a chunk in bytes, because a chunk is copied in one step; a larger message is sent
 * alone.
 */
const CHUNK_BYTES_MAX = 1_000_000

/** Makes a chunk of tasks, with its own memory for its progress. */
export function chunkOf<Task>(tasks: readonly Task[]): Chunk<Task> {
  const progress = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  return { tasks, progress, lock: createEndLock() }
}

type Pending<Task, Made> = {
  task: Task
  since: number
  onSlow: (() => void) | undefined
  resolve: (made: Made) => void
  reject: (error: unknown) => void
}

/**
 * Runs tasks in chunks, in their order of arrival. A task that makes its chunk fail moves to the
 * slow lane.
 */
export function createLine<Task, Made>(options: LineOptions<Task, Made>): RunTask<Task, Made> {
  const { places, fast, companyMs } = options
  const line: Pending<Task, Made>[] = []
  let free = places
  /** The number of tasks in the fast lane. */
  let running = 0
  let isCalled = false
  let late: NodeJS.Timeout | undefined

  async function runFast(its: readonly Pending<Task, Made>[]): Promise<void> {
    const chunk = chunkOf(its.map(({ task }) => task))
    try {
      settle(its, await fast(chunk))
    } catch {
      const atFault = its[Atomics.load(chunk.progress, 0)]
      line.unshift(...its.filter((one) => one !== atFault))
      if (atFault) void runSlowly(atFault, options)
    }
  }

  /**
   * Whether the waiting tasks wait for others, with which they cost less. They wait until each free
   * place could take as many as run now: if they waited for a full chunk, processors would be idle.
   */
  function awaitsCompany(): boolean {
    const [first] = line
    if (!first || line.length >= CHUNK_TASKS_MAX || line.length * free >= running) return false
    const leftMs = companyMs - (systemElapsed() - first.since)
    if (leftMs <= 0) return false
    late ??= setTimeout(() => {
      late = undefined
      callPump()
    }, leftMs)
    return true
  }

  /** Starts one chunk per turn of the event loop, because copying several would block it. */
  function pump(): void {
    isCalled = false
    if (free === 0 || line.length === 0 || awaitsCompany()) return
    // An equal share for each free place: otherwise one thread would take all waiting messages
    // while the others are idle.
    const share = companyMs > 0 ? line.length : Math.ceil(line.length / free)
    const length = chunkLength(
      line.slice(0, CHUNK_TASKS_MAX + 1).map(({ task }) => options.bytesOf(task)),
      share,
    )
    free--
    running += length
    void runFast(line.splice(0, length)).finally(() => {
      free++
      running -= length
      callPump()
    })
    callPump()
  }

  function callPump(): void {
    if (!isCalled) setImmediate(pump)
    isCalled = true
  }

  return (task, onSlow) =>
    new Promise((resolve, reject) => {
      line.push({ task, since: systemElapsed(), onSlow, resolve, reject })
      // Deferred, so that the rest of the batch can be queued first.
      callPump()
    })
}

async function runSlowly<Task, Made>(
  one: Pending<Task, Made>,
  { slow, slowAttempts }: LineOptions<Task, Made>,
): Promise<void> {
  one.onSlow?.()
  let first: unknown
  for (const task of slowAttempts(one.task)) {
    try {
      return settle([one], await slow(chunkOf([task])))
    } catch (error) {
      first ??= error
    }
  }
  one.reject(first)
}

function settle<Task, Made>(
  its: readonly Pending<Task, Made>[],
  outcomes: readonly Outcome<Made>[],
): void {
  its.forEach(({ resolve, reject }, index) => {
    const outcome = outcomes[index] ?? { fault: 'The parser returned no answer.' }
    if ('made' in outcome) resolve(outcome.made)
    else reject(new Error(outcome.fault))
  })
}

/** Returns the number of tasks for the next chunk, at least one and at most `share`. */
function chunkLength(sizes: readonly number[], share: number): number {
  const tasksMax = Math.min(CHUNK_TASKS_MAX, share)
  let bytes = 0
  const tooMany = sizes.findIndex((size, index) => {
    bytes += size
    return index === tasksMax || (index > 0 && bytes > CHUNK_BYTES_MAX)
  })
  return tooMany < 0 ? sizes.length : tooMany
}
