import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemElapsed } from '../../world.ts'
import { ProblemError } from '../problem.ts'

/** Work on bodies in one turn of the event loop, in milliseconds. */
const TURN_MS = 10

let workedMs = 0
let isResetting = false
let turns: Promise<void> = Promise.resolve()

/**
 * Does a piece of work of a few milliseconds on a body. All bodies of the process share a small
 * budget for each turn of the event loop. Above it, each piece waits for a turn of its own, so that
 * many large bodies do not delay the answers to other clients.
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

/** What a body may have, and whose it is. */
type BodyLimits = {
  bytesMax: number
  /** Who sends it, where that is known: nobody has more than half of what is in hand. */
  ownerId?: string | undefined
}

/** Hands over the body of a request, chunk by chunk, while it comes. */
export type TakeBody = (
  req: IncomingMessage,
  res: ServerResponse,
  limits: BodyLimits,
  take: (chunk: Buffer) => void | Promise<void>,
) => Promise<void>

/** Reads the exact bytes of a request's body. */
export type ReadBody = (
  req: IncomingMessage,
  res: ServerResponse,
  bytesMax: number,
  ownerId?: string,
) => Promise<Buffer>

/** The client went away before its request was complete: nobody is there to answer. */
export class AbortedError extends Error {
  override name = 'AbortedError'
}

/** Aborted when the client of a request is there no more, or has its answer. */
export function goneSignal(res: ServerResponse): AbortSignal {
  const gone = new AbortController()
  if (res.destroyed) gone.abort()
  else res.once('close', () => gone.abort())
  return gone.signal
}

/** What is read after a refusal and thrown away, so that the client gets to see the answer. */
const DISCARDED_BYTES_MAX = 64_000_000
/** Of all requests together, so that refused bodies leave the processor to other requests. */
const DISCARDED_BYTES_PER_MS = 50_000

/** What a message has: such a body finds its place however many large ones are held. */
const SMALL_BYTES_MAX = 500_000
/** Of what is in hand, large bodies may take so much. */
const LARGE_SHARE = 0.8
const OWN_SHARE = 0.5

/**
 * Readers of bodies that hold at most `bytesInHandMax` bytes of all requests together: more are
 * asked to come back, so that a hundred large uploads at once cannot fill the memory. Large ones
 * leave some of it to small ones, and one sender half of it to others, so that nobody who sends
 * slowly keeps others from sending.
 *
 * A body is refused as soon as that is certain, by its declared length before any of it is read:
 * 413 past `bytesMax`, 415 for a compressed body, 503 when too much is in hand. Also what `take`
 * throws ends the reading. The rest of the body is thrown away while the client has its answer.
 */
export function createBodies(bytesInHandMax: number): { readBody: ReadBody; takeBody: TakeBody } {
  const { hold, isFull } = createHand(bytesInHandMax)

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

/** Lets a client that waits for it send its body (RFC 9110 §10.1.1). */
export function askForBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.headers.expect !== undefined) res.writeContinue()
}

/** The chunks of a body; who went away in the middle is told apart from who has finished. */
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
 * Throws away what still comes of a body, 50 MB a second for all requests together; cuts the
 * connection when it is too much.
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

/** Counts what is held, of all and of each. */
function createHand(bytesInHandMax: number) {
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

/** @throws ProblemError 415 */
export function refuseCompressed(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding']
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw new ProblemError('wrong-type', 'Send the body as it is, without Content-Encoding.', {
    'accept-encoding': 'identity',
  })
}

/** A body with more bytes than it may have. */
export function tooBig(bytesMax: number): ProblemError {
  return new ProblemError('too-big', `A request may have at most ${bytesMax} bytes here.`)
}

/** More bytes of bodies at once than are held. */
export function tooMuch(): ProblemError {
  return new ProblemError('unavailable', 'Too many large uploads at once. Try again shortly.', {
    'retry-after': '2',
  })
}
