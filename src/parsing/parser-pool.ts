import path from 'node:path'
import { Piscina } from 'piscina'
import type { Packed } from '../db/rows.ts'
import { type SigningKey, signMail } from '../mail/dkim-signature.ts'
import type { InboundReading } from '../mail/inbound/read-inbound.ts'
import type { Analysis, AnalysisOptions } from '../pieces/analyze.ts'
import type { MessageFeatures } from '../pieces/features/features.ts'
import type { Fingerprints } from '../pieces/fingerprints.ts'
import type { MarketerEvidence } from '../pieces/marketer.ts'
import { shingleSeed } from '../pieces/shingles/hash.ts'
import type { PackedShingles } from '../pieces/shingles/packed-shingles.ts'
import type { RelayCandidate } from '../verdict/relays.ts'
import type { Subject } from '../verdict/reputation/reputation.ts'
import type { FeedbackContent } from './feedback-content.ts'

/** What a thread is asked to do with the bytes of one message. */
export type ParserTask =
  | { work: 'analyze'; packed: Packed; options: ParserOptions }
  | { work: 'check'; packed: Packed; options: ParserOptions }
  | ComposeTask
  | { work: 'inbound'; packed: Packed; mailFrom: string }

type ComposeTask = {
  work: 'compose'
  packed: Packed
  analysis: Packed
  content: FeedbackContent
  /** Whether only the header is read: what nothing in a body can make slow. */
  isHeaderOnly: boolean
}

/** What is known of a message before it is read. */
export type ParserOptions = Omit<AnalysisOptions, 'ignoreStamps'>

/** What an analysis comes to, and all of it as packed JSON: most of it is only stored. */
export type AnalysisDigest = Pick<
  Analysis,
  'kind' | 'origin' | 'originObstacle' | 'listings' | 'unsubscribe' | 'cfbl'
> &
  MarketerEvidence & {
    subject: string | null
    hasForgedHop: boolean
    /** The machines of which the reporter could tell us whose they are. */
    candidates: readonly RelayCandidate[]
    /** Every address about which what they say may matter. */
    addressesAsked: readonly string[]
    /** When it was handed over, by the clocks of trusted lines, the stranger's first. */
    trustedTimes: readonly (string | null)[]
    /** The address behind a sending provider, where that tells. */
    submitterIp: string | undefined
    shingles: PackedShingles
    fingerprints: Fingerprints
    /** What it is judged by, as far as the message alone tells. */
    features: MessageFeatures
    /** What it can be blamed on or praised for; without the autonomous system. */
    subjects: readonly Subject[]
    /** The domains that stand behind it, with those above them. */
    verifiedDomains: readonly string[]
    packed: Packed
  }

/** The same of a message that a mail server asks about: nothing of it is stored. */
export type CheckDigest = Omit<AnalysisDigest, 'packed'> & { messageId: string | null }

/** A feedback report, and the copy of it that is kept. */
export type ComposedFeedback = { raw: Buffer; packed: Packed }

/** Bytes that crossed to another thread: there a Buffer is a plain Uint8Array. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Bytes in no more memory than they need: all of what they share would cross with them. */
function alone(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength < bytes.length * 2) return bytes
  return Buffer.from(new Uint8Array(bytes).buffer)
}

/** The same with what crossed packed. */
export function asBuffers({ encoding, content }: Packed): Packed {
  return { encoding, content: asBuffer(content) }
}

/** Threads in which strangers' bytes are read. */
export type ParserPool = {
  /**
   * Rejects when the message took too long or too much memory: its thread is replaced. `onSlow` is
   * called when the message takes long and goes on in the slow lane.
   */
  analyze: (packed: Packed, options: ParserOptions, onSlow?: () => void) => Promise<AnalysisDigest>
  /** The same for a message that is not kept. */
  check: (raw: Buffer, options: ParserOptions) => Promise<CheckDigest>
  /**
   * The feedback report of a message; `analysis` is the packed one of its digest. With the header
   * alone where that of the whole message cannot be composed in its time and memory. `onSlow` is
   * called when the message takes long and goes on in the slow lane.
   */
  compose: (
    packed: Packed,
    analysis: Packed,
    content: FeedbackContent,
    onSlow?: () => void,
  ) => Promise<ComposedFeedback>
  /** What a mail that came to us says; `mailFrom` is the sender of its envelope. */
  readInbound: (packed: Packed, mailFrom: string) => Promise<InboundReading>
  /** Signs a mail that was put together of what was composed here, as that is signed. */
  sign: (raw: Buffer) => Buffer
  close: () => Promise<void>
}

/**
 * Tasks that travel to a thread together. The thread writes into `progress` which of them it works
 * on: that one is to blame when the thread crashes or stalls.
 */
export type ParserChunk = { tasks: readonly ParserTask[]; progress: Int32Array }

/** What a task makes. */
export type Made = AnalysisDigest | CheckDigest | ComposedFeedback | InboundReading

/** How a task of a chunk ended: what it made, or the words of what went wrong. */
export type ParserOutcome = { made: Made } | { fault: string }

/** What one message may cost. */
export type ParserLimits = {
  messageMsMax: number
  heapMegabytesMax: number
  /** What takes longer is read in a lane of its own; 2 s when absent. */
  fastMsMax?: number
}

/** What the threads work with, whatever the message. */
export type ThreadData = { seed: bigint; signingKey: SigningKey | undefined }

/** `threadFile`: the program of a thread; tests give one that never ends. */
type PoolOptions = ThreadData & { threadFile: string }

const PARSER_THREAD = path.join(import.meta.dirname, 'parser-thread.ts')

type Pending = {
  task: ParserTask
  onSlow: (() => void) | undefined
  resolve: (made: Made) => void
  reject: (error: unknown) => void
}

const usualLimits: ParserLimits = { messageMsMax: 20_000, heapMegabytesMax: 128 }
const FAST_MS_MAX = 2_000
const IDLE_MS = 60_000
/** A journey to a thread costs a third of what a message does: eight share one. */
const CHUNK_TASKS_MAX = 8
/** All bytes of a chunk are copied at once: a large message travels alone. */
const CHUNK_BYTES_MAX = 1_000_000

/**
 * Starts `threads` parser threads. Messages travel to them in chunks. Where a chunk makes its
 * thread crash, stall or swell, the thread is replaced, the message at fault goes to the slow lane,
 * and the others of the chunk are read again. The slow lane is one more thread: a message leaves it
 * after `messageMsMax`, its wait for others there included, and delays no message outside. The
 * threads hash under the seed of the caller, and sign what they compose when they are given a key.
 */
export function createParserPool(
  threads: number,
  limits: ParserLimits = usualLimits,
  { seed = shingleSeed(), signingKey, threadFile = PARSER_THREAD }: Partial<PoolOptions> = {},
): ParserPool {
  const { messageMsMax, heapMegabytesMax, fastMsMax = FAST_MS_MAX } = limits
  const workerData: ThreadData = { seed, signingKey }
  const openThreads = (count: { minThreads: number; maxThreads: number }) => {
    const opened = new Piscina({
      filename: threadFile,
      ...count,
      idleTimeout: IDLE_MS,
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 24 },
    })
    // A thread that dies after its task is replaced; unheard, its error would end the process.
    return opened.on('error', () => undefined)
  }
  const fastThreads = openThreads({ minThreads: 1, maxThreads: threads })
  const slowThread = openThreads({ minThreads: 0, maxThreads: 1 })
  // How long a thread takes to start is not counted: else what comes after one that stalls would
  // be taken for slow, too.
  const start = () => fastThreads.run(chunkOf([])).catch(() => undefined)
  let isStarted = start()
  const inLine = createLine(threads, {
    fast: async (chunk) => {
      await isStarted
      try {
        return await runInTime(fastThreads, chunk, Math.min(fastMsMax, messageMsMax))
      } catch (error) {
        isStarted = start()
        throw error
      }
    },
    slow: (chunk) => runInTime(slowThread, chunk, messageMsMax),
  })
  return {
    async analyze(packed, options, onSlow) {
      const made = await inLine({ work: 'analyze', packed, options }, onSlow)
      const digest = made as AnalysisDigest
      const shingles = asBuffer(digest.shingles)
      return { ...digest, shingles, packed: asBuffers(digest.packed) }
    },
    async check(raw, options) {
      const packed: Packed = { encoding: 'identity', content: alone(raw) }
      const digest = (await inLine({ work: 'check', packed, options })) as CheckDigest
      return { ...digest, shingles: asBuffer(digest.shingles) }
    },
    async compose(packed, analysis, content, onSlow) {
      const task: ComposeTask = { work: 'compose', packed, analysis, content, isHeaderOnly: false }
      const made = await inLine(task, onSlow).catch((error: unknown) =>
        // What is wrong with the header, too, is told as it was at first.
        inLine({ ...task, isHeaderOnly: true }).catch(() => Promise.reject(error as Error)),
      )
      const composed = made as ComposedFeedback
      return { raw: asBuffer(composed.raw), packed: asBuffers(composed.packed) }
    },
    async readInbound(packed, mailFrom) {
      return (await inLine({ work: 'inbound', packed, mailFrom })) as InboundReading
    },
    sign: (raw) => (signingKey ? signMail(raw, signingKey) : raw),
    close: async () => void (await Promise.all([fastThreads.close(), slowThread.destroy()])),
  }
}

function chunkOf(tasks: readonly ParserTask[]): ParserChunk {
  return { tasks, progress: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) }
}

async function runInTime(
  threads: Piscina,
  chunk: ParserChunk,
  msMax: number,
): Promise<ParserOutcome[]> {
  const watch = new AbortController()
  const timer = setTimeout(() => watch.abort(), msMax)
  try {
    return (await threads.run(chunk, { signal: watch.signal })) as ParserOutcome[]
  } catch (cause) {
    if (!watch.signal.aborted) throw cause
    throw new Error(`The message could not be read within ${msMax / 1000} s.`, { cause })
  } finally {
    clearTimeout(timer)
  }
}

type RunChunk = (chunk: ParserChunk) => Promise<ParserOutcome[]>

/**
 * Runs tasks in chunks, as many at once as there are `places`, in the order they came. One that
 * makes its chunk fail goes to the slow lane.
 */
function createLine(
  places: number,
  lanes: { fast: RunChunk; slow: RunChunk },
): (task: ParserTask, onSlow?: () => void) => Promise<Made> {
  const line: Pending[] = []
  let free = places
  let isCalled = false

  async function runFast(its: readonly Pending[]): Promise<void> {
    const chunk = chunkOf(its.map(({ task }) => task))
    try {
      settle(its, await lanes.fast(chunk))
    } catch {
      const atFault = its[Atomics.load(chunk.progress, 0)]
      line.unshift(...its.filter((one) => one !== atFault))
      if (atFault) void runSlowly(atFault)
    }
  }

  async function runSlowly(one: Pending): Promise<void> {
    one.onSlow?.()
    try {
      settle([one], await lanes.slow(chunkOf([one.task])))
    } catch (error) {
      one.reject(error)
    }
  }

  /** One chunk a turn of the event loop, because the copies of several would block it. */
  function pump(): void {
    isCalled = false
    if (free === 0 || line.length === 0) return
    free--
    void runFast(line.splice(0, chunkLength(line))).finally(() => {
      free++
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
      line.push({ task, onSlow, resolve, reject })
      // Not at once: the rest of the batch is about to stand in line too.
      callPump()
    })
}

function settle(its: readonly Pending[], outcomes: readonly ParserOutcome[]): void {
  its.forEach(({ resolve, reject }, index) => {
    const outcome = outcomes[index] ?? { fault: 'The parser gave no answer.' }
    if ('made' in outcome) resolve(outcome.made)
    else reject(new Error(outcome.fault))
  })
}

/** How many tasks at the head of the line travel together: at least one. */
function chunkLength(line: readonly Pending[]): number {
  let bytes = 0
  const tooMany = line.findIndex(({ task }, index) => {
    bytes += task.packed.content.length
    return index === CHUNK_TASKS_MAX || (index > 0 && bytes > CHUNK_BYTES_MAX)
  })
  return tooMany < 0 ? line.length : tooMany
}
