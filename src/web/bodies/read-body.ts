import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemElapsed } from '../../world.ts'
import { ProblemError } from '../problem.ts'

/** Time in milliseconds for work on bodies per turn of the event loop. */
const TURN_MS = 10

let workedMs = 0
let isResetting = false
let turns: Promise<void> = Promise.resolve()

/**
 * Does a piece of work of a few milliseconds on a body. All bodies of the process share a small
 * budget for each turn of the event loop. When the budget is used up, each piece waits for a
 * separate turn, so that many large bodies do not delay the answers to other clients.
 */
export async function inSlices<T>(work: () => T | Promise<T>): Promise<T> {
  if (workedMs > TURN_MS) await (turns = turns.then(() => nextTurn()))
  const startedAt = systemElapsed()
  try {
    return await work()
  } finally {
    workedMs += systemElapsed() - startedAt
    if (!isResetting) {
      isResetting = true
      setImmediate(() => {
        workedMs = 0
        isResetting = false
      })
    }
  }
}

type BodyLimits = {
  bytesMax: number
  /** The authenticated sender; each may use at most half of the memory for bodies. */
  ownerId?: string | undefined
}

/** Passes on the body of a request chunk by chunk. */
export type TakeBody = (
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits,
  take: (chunk: Buffer) => void | Promise<void>,
) => Promise<void>

/** Reads the exact bytes of a request body. */
export type ReadBody = (
  req: IncomingMessage,
  res: ServerResponse,
  bytesMax: number,
  ownerId?: string,
) => Promise<Buffer>

/**
 * Thrown when the client disconnects before its request is complete, so that no response can be
 * sent.
 */
export class AbortedError extends Error {
  override name = 'AbortedError'
}

/** Returns a signal that is aborted when the client disconnects or has received its response. */
export function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController()
  // Without a reason, each request would create an error with its stack.
  if (res.destroyed) gone.abort(closed)
  else res.once('close', () => gone.abort(closed))
  return gone.signal
}

const closed = new AbortedError('The connection was closed.')

/**
 * Maximum number of bytes read and discarded after a refusal, so that the client receives the
 * response.
 */
const DISCARDED_BYTES_MAX = 64_000_000
/**
 * Discard rate for all requests together, so that refused bodies leave processor time to others.
 */
const DISCARDED_BYTES_PER_MS = 50_000

/** Maximum size of a small body. A small body is accepted even while many large ones are held. */
const SMALL_BYTES_MAX = 500_000
/** Share of the memory that large bodies may use. */
const LARGE_SHARE = 0.8
const OWN_SHARE = 0.5

/**
 * Creates readers of bodies that hold at most `bytesInHandMax` bytes of all requests together.
 * Beyond that, clients must retry, so that a hundred large uploads cannot fill the memory. Large
 * bodies may not use the part reserved for small ones, and a sender may use at most half of the
 * memory, so that slow clients do not block others.
 *
 * A body is refused as early as possible, by its declared length before any of it is read: 413
 * above `bytesMax`, 415 if compressed, 503 if too many bytes are held. An error thrown by `take`
 * also ends the reading. The rest of the body is discarded while the client receives its response.
 */
export function createBodies(bytesInHandMax: number): { readBody: ReadBody; takeBody: TakeBody } {
  const { hold, isFull } = createMemoryBudget(bytesInHandMax)

  const takeBody: TakeBody = async (req, res, limits, take) => {
    const { bytesMax, ownerId } = limits
    let read = 0
    let held = 0
    const give = () => {
      hold(-held, ownerId)
      held = 0
    }
    res.once('close', give)
    try {
      refuseCompressed(req)
      if (Number(req.headers['content-length'] ?? 0) > bytesMax) throw tooBig(bytesMax)
      askForBody(req, res)
      for await (const chunk of chunksOf(req)) {
        read += chunk.length
        if (read > bytesMax) throw tooBig(bytesMax)
        if (isFull(read, chunk.length, limits)) throw tooMuch()
        held += chunk.length
        hold(chunk.length, ownerId)
        await inSlices(() => take(chunk))
      }
    } catch (error) {
      give()
      discardRest(req)
      throw error
    }
  }

  const readBody: ReadBody = async (req, res, bytesMax, ownerId) => {
    const chunks: Buffer[] = []
    await takeBody(req, res, { bytesMax, ownerId }, (chunk) => void chunks.push(chunk))
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
  }

  return { readBody, takeBody }
}

/** Tells a client that expects 100-continue to send its body (RFC 9110 §10.1.1). */
export function askForBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers.expect !== undefined) res.writeContinue()
}

/** Yields the chunks of a body; throws AbortedError if the client disconnects before the end. */
export async function* chunksOf(req: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    const chunks = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
    for await (const chunk of chunks) yield chunk
  } catch {
    throw new AbortedError('the client went away')
  }
  if (!req.complete) throw new AbortedError('the client went away')
}

const discarding = new WeakSet<IncomingMessage>()
let discardedUntilMs = 0

/**
 * Discards the rest of a body, at 50 MB per second for all requests together; closes the connection
 * if it is too long.
 */
export function discardRest(req: IncomingMessage): void {
  if (discarding.has(req)) return
  discarding.add(req)
  let bytes = 0
  req.on('error', () => undefined)
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > DISCARDED_BYTES_MAX) return void req.destroy()
    const now = performance.now()
    discardedUntilMs = Math.max(now, discardedUntilMs) + chunk.length / DISCARDED_BYTES_PER_MS
    req.pause()
    setTimeout(() => req.resume(), discardedUntilMs - now)
  })
}

/** Counts the bytes held, in total and per sender. */
function createMemoryBudget(bytesInHandMax: number) {
  let inHand = 0
  const ownInHand = new Map<string, number>()
  const hold = (bytes: number, ownerId: string | undefined) => {
    inHand += bytes
    if (ownerId === undefined) return
    const own = (ownInHand.get(ownerId) ?? 0) + bytes
    if (own > 0) ownInHand.set(ownerId, own)
    else ownInHand.delete(ownerId)
  }
  const isFull = (read: number, more: number, { bytesMax, ownerId }: BodyLimits) => {
    const own = ownerId === undefined ? 0 : (ownInHand.get(ownerId) ?? 0)
    const share = read > SMALL_BYTES_MAX ? LARGE_SHARE : 1
    return (
      inHand + more > Math.max(bytesInHandMax * share, Math.min(bytesMax, bytesInHandMax)) ||
      own + more > Math.max(bytesInHandMax * OWN_SHARE, bytesMax)
    )
  }
  return { hold, isFull }
}

/**
 * Refuses a compressed body.
 *
 * @throws ProblemError 415
 */
export function refuseCompressed(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding']
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw new ProblemError('wrong-type', 'Send the body as it is, without Content-Encoding.', {
    'accept-encoding': 'identity',
  })
}

/** The error for a body above its size limit. */
export function tooBig(bytesMax: number): ProblemError {
  return new ProblemError('too-big', `A request may have at most ${bytesMax} bytes here.`)
}

/** The error for more bytes in bodies than can be held in memory. */
export function tooMuch(): ProblemError {
  return new ProblemError('unavailable', 'Too many large uploads at once. Try again shortly.', {
    'retry-after': '2',
  })
}
