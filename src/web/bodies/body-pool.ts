import path from 'node:path'
import { Piscina } from 'piscina'
import type { ReportedBy } from '../../reports/message-refusal.ts'
import { ProblemError } from '../problem.ts'
import { bodyTasks, type BodyTasks } from './body-tasks.ts'
import type { ThreadMade, ThreadTask } from './body-thread.ts'
import { AbortedError, inSlices } from './read-body.ts'

/**
 * A request that waits for its turn: its reporter, its size, and whether the client is connected.
 */
type Waiting = { reporterId: string; bytes: number; gone: AbortSignal }

/** Runs the work when it has its turn, and returns its result. */
export type WaitForTurn = <T>(owner: Waiting, work: () => Promise<T>) => Promise<T>

/**
 * Runs at most `places` pieces of work in parallel, never two of the same reporter, so that slow
 * work delays only its own reporter. Each reporter may have waiting work of up to `ownBytesMax`
 * bytes in total; a single piece may be larger. A client that disconnects loses its place, and its
 * work is rejected with an AbortedError.
 */
export function createTurns(places: number, ownBytesMax: number): WaitForTurn {
  const served = new Set<string>()
  const waiting: (Waiting & { start: () => void })[] = []

  function pump(): void {
    while (served.size < places) {
      const at = waiting.findIndex(({ reporterId }) => !served.has(reporterId))
      const [next] = at < 0 ? [] : waiting.splice(at, 1)
      if (!next) return
      served.add(next.reporterId)
      next.start()
    }
  }

  function hasTurn(owner: Waiting): Promise<void> {
    const own = waiting.filter(({ reporterId }) => reporterId === owner.reporterId)
    const ownBytes = own.reduce((sum, { bytes }) => sum + bytes, 0)
    if (own.length > 0 && ownBytes + owner.bytes > ownBytesMax) throw tooMuch()
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(entry), 1)
        reject(new AbortedError('the client went away'))
      }
      const start = () => {
        owner.gone.removeEventListener('abort', leave)
        resolve()
      }
      const entry = { ...owner, start }
      waiting.push(entry)
      owner.gone.addEventListener('abort', leave)
      pump()
    })
  }

  return async (owner, work) => {
    if (owner.gone.aborted) throw new AbortedError('the client went away')
    await hasTurn(owner)
    try {
      return await work()
    } finally {
      served.delete(owner.reporterId)
      pump()
    }
  }
}

function tooMuch(): ProblemError {
  return new ProblemError(
    'unavailable',
    'Other uploads of yours are already waiting. Try again shortly.',
    {
      'retry-after': '5',
    },
  )
}

/** The sender of a body, whether the client is still connected, and who reports a message. */
type BodyOwner = { ownerId: string; gone?: AbortSignal; by?: ReportedBy }

/**
 * Parses bodies, one task each, without blocking the event loop for long: small bodies are parsed
 * directly, large ones in threads.
 *
 * @throws ProblemError of the task, or 400 if it takes too much time or memory
 */
export type BodyPool = {
  read: <Name extends keyof BodyTasks>(
    name: Name,
    bytes: Buffer,
    owner: BodyOwner,
  ) => Promise<ReturnType<BodyTasks[Name]>>
  close: () => Promise<void>
}

/** Maximum size in bytes for direct parsing; the slowest known body of this size takes 10 ms. */
const SMALL_BYTES_MAX = 128_000
const TASK_MS_MAX = 10_000
const HEAP_MEGABYTES_MAX = 320
const IDLE_MS = 30_000
const THREADS_MAX = 2

/**
 * Creates a pool of two threads, which start with the first large body and stop when idle. A sender
 * uses at most one of them. A body that takes too much time or memory ends its thread, which is
 * replaced.
 */
export function createBodyPool(bytesMax: number): BodyPool {
  const pool = new Piscina({
    filename: path.join(import.meta.dirname, `body-thread${path.extname(import.meta.filename)}`),
    minThreads: 0,
    maxThreads: THREADS_MAX,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX, maxYoungGenerationSizeMb: 24 },
  })
  // The work that waits here needs no limit, because the number of bytes held in memory is limited.
  const inTurn: WaitForTurn = createTurns(THREADS_MAX, Number.POSITIVE_INFINITY)

  async function runInThread(task: ThreadTask): Promise<ThreadMade> {
    try {
      return (await pool.run(task, { signal: AbortSignal.timeout(TASK_MS_MAX) })) as ThreadMade
    } catch (error) {
      const detail = 'The body takes too much time or memory to read.'
      throw Object.assign(new ProblemError('bad-request', detail), { cause: error })
    }
  }

  async function read(name: keyof BodyTasks, bytes: Buffer, sender: BodyOwner) {
    const { ownerId, gone = STAYS, by } = sender
    if (bytes.length <= SMALL_BYTES_MAX) return inSlices(() => bodyTasks[name](bytes, bytesMax, by))
    const owner = { reporterId: ownerId, bytes: bytes.length, gone }
    const task = { name, bytes: alone(bytes), bytesMax, by }
    const answer = await inTurn(owner, () => runInThread(task))
    if ('problem' in answer) throw new ProblemError(answer.problem, answer.detail)
    const { made } = answer
    const raw = 'raw' in made && made.raw ? asBuffer(made.raw) : undefined
    if ('message' in made) return { message: { ...made.message, raw: raw ?? bytes } }
    return raw ? { ...made, raw } : made
  }

  return {
    // The type of each result follows from the name of the task.
    read: read as BodyPool['read'],
    close: () => pool.close({ force: true }),
  }
}

/** A signal that is never aborted, for callers without a client. */
const STAYS = new AbortController().signal

/**
 * Copies bytes to a buffer of their own if needed, because the whole underlying buffer would be
 * transferred to the thread.
 */
function alone(bytes: Buffer): Uint8Array {
  return bytes.buffer.byteLength < bytes.length * 2 ? bytes : new Uint8Array(bytes)
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
