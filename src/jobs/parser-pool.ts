import path from 'node:path'
import { Piscina } from 'piscina'
import type { Analysis } from '../analysis/analyze.ts'
import type { Packed } from '../db/packed.ts'
import type { FeedbackContent } from './feedback-content.ts'

/** What a thread is asked to do with the bytes of one message. */
export type ParserTask =
  | { work: 'analyze'; packed: Packed; trustedRelays: readonly string[] }
  | { work: 'compose'; packed: Packed; analysis: Packed; content: FeedbackContent }

/** What an analysis comes to, and all of it as packed JSON: most of it is only stored. */
export type AnalysisDigest = Pick<Analysis, 'kind' | 'origin' | 'originObstacle'> & {
  subject: string | null
  hasForgedHop: boolean
  packed: Packed
}

/** A feedback report, and the copy of it that is kept. */
export type ComposedFeedback = { raw: Buffer; packed: Packed }

/** Bytes that crossed to another thread: there a Buffer is a plain Uint8Array. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The same with what crossed packed. */
export function asBuffers({ encoding, content }: Packed): Packed {
  return { encoding, content: asBuffer(content) }
}

/** Threads in which strangers' bytes are read. */
export type ParserPool = {
  /** Rejects when the message took too long or too much memory: its thread is replaced. */
  analyze: (packed: Packed, trustedRelays: readonly string[]) => Promise<AnalysisDigest>
  /** The feedback report of a message; `analysis` is the packed one of its digest. */
  compose: (packed: Packed, analysis: Packed, content: FeedbackContent) => Promise<ComposedFeedback>
  close: () => Promise<void>
}

/** What one message may cost. */
export type ParserLimits = { messageMsMax: number; heapMegabytesMax: number }

const usualLimits: ParserLimits = { messageMsMax: 20_000, heapMegabytesMax: 256 }

/**
 * Starts `threads` parser threads. A message that makes the parser crash, stall or swell costs its
 * own job and one thread, which is replaced.
 */
export function createParserPool(
  threads: number,
  { messageMsMax, heapMegabytesMax }: ParserLimits = usualLimits,
): ParserPool {
  const pool = new Piscina({
    filename: path.join(import.meta.dirname, 'parser-thread.ts'),
    minThreads: 1,
    maxThreads: threads,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax, maxYoungGenerationSizeMb: 32 },
  })
  const gate = createGate(threads)
  async function run(task: ParserTask): Promise<unknown> {
    // One task a thread, so that no message's time runs while another has the thread.
    await gate.enter()
    const watch = new AbortController()
    const timer = setTimeout(() => watch.abort(), messageMsMax)
    try {
      return await pool.run(task, { signal: watch.signal })
    } catch (cause) {
      if (!watch.signal.aborted) throw cause
      throw new Error(`The message could not be read within ${messageMsMax / 1000} s.`, { cause })
    } finally {
      clearTimeout(timer)
      gate.leave()
    }
  }
  return {
    async analyze(packed, trustedRelays) {
      const digest = (await run({ work: 'analyze', packed, trustedRelays })) as AnalysisDigest
      return { ...digest, packed: asBuffers(digest.packed) }
    },
    async compose(packed, analysis, content) {
      const made = (await run({ work: 'compose', packed, analysis, content })) as ComposedFeedback
      return { raw: asBuffer(made.raw), packed: asBuffers(made.packed) }
    },
    close: () => pool.close(),
  }
}

/** Lets `places` in at once, the others in the order they came. */
function createGate(places: number): { enter: () => Promise<void>; leave: () => void } {
  const waiting: (() => void)[] = []
  let free = places
  return {
    async enter() {
      if (free > 0) free--
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    leave() {
      const next = waiting.shift()
      if (next) next()
      else free++
    },
  }
}
