import type { IncomingMessage, ServerResponse } from 'node:http'
import { ProblemError } from './problem.ts'

/** Reads the exact bytes of a request's body. */
export type ReadBody = (
  req: IncomingMessage,
  res: ServerResponse,
  bytesMax: number,
  /** Who sends it, where that is known: nobody has more than half of what is in hand. */
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

/** What is read past the limit and thrown away, so that the client gets to see the refusal. */
const DRAINED_BYTES_MAX = 64_000_000

type Expected = { bytesMax: number; ownerId: string | undefined }

/** What a message has: such a body finds its place however many large ones are held. */
const SMALL_BYTES_MAX = 500_000
/** Of what is in hand, large bodies may take so much. */
const LARGE_SHARE = 0.8
const OWN_SHARE = 0.5

/**
 * A reader of bodies that holds at most `bytesInHandMax` bytes of all requests together: more are
 * asked to come back, so that a hundred large uploads at once cannot fill the memory. Large ones
 * leave some of it to small ones, and one sender half of it to others, so that nobody who sends
 * slowly keeps others from sending.
 *
 * The reader throws 413 past `bytesMax`, 415 for a compressed body, 503 when too much is in hand.
 */
export function createReadBody(bytesInHandMax: number): ReadBody {
  const { hold, isFull } = createHand(bytesInHandMax)
  return (req, res, bytesMax, ownerId) => {
    refuseCompressed(req)
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let read = 0
      let held = 0
      let refusal: ProblemError | undefined
      const give = () => {
        hold(-held, ownerId)
        held = 0
      }
      res.once('close', give)
      const refuse = (error: ProblemError) => {
        refusal ??= error
        chunks.length = 0
        give()
      }
      if (Number(req.headers['content-length'] ?? 0) > bytesMax) refuse(tooBig(bytesMax))
      req.on('data', (chunk: Buffer) => {
        read += chunk.length
        if (read > bytesMax) refuse(tooBig(bytesMax))
        else if (isFull(read, chunk.length, { bytesMax, ownerId })) refuse(tooMuch())
        if (!refusal) {
          chunks.push(chunk)
          held += chunk.length
          hold(chunk.length, ownerId)
        } else if (read > bytesMax + DRAINED_BYTES_MAX) {
          req.pause()
          reject(new ProblemError(refusal.problem, refusal.message, { connection: 'close' }))
        }
      })
      req.on('end', () => {
        if (refusal) reject(refusal)
        else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, read))
      })
      const abort = () => {
        if (!req.complete) reject(new AbortedError('the client went away'))
      }
      req.on('error', abort)
      req.on('close', abort)
    })
  }
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
  const isFull = (read: number, more: number, { bytesMax, ownerId }: Expected) => {
    const own = ownerId === undefined ? 0 : (ownInHand.get(ownerId) ?? 0)
    const share = read > SMALL_BYTES_MAX ? LARGE_SHARE : 1
    return (
      inHand + more > Math.max(bytesInHandMax * share, Math.min(bytesMax, bytesInHandMax)) ||
      own + more > Math.max(bytesInHandMax * OWN_SHARE, bytesMax)
    )
  }
  return { hold, isFull }
}

function refuseCompressed(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding']
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw new ProblemError('wrong-type', 'Send the body as it is, without Content-Encoding.', {
    'accept-encoding': 'identity',
  })
}

function tooBig(bytesMax: number): ProblemError {
  return new ProblemError('too-big', `A request may have at most ${bytesMax} bytes here.`)
}

function tooMuch(): ProblemError {
  return new ProblemError('unavailable', 'Too many large uploads at once. Try again shortly.', {
    'retry-after': '2',
  })
}
