import type { IncomingMessage, ServerResponse } from 'node:http'
import { ProblemError } from './problem.ts'

/** Reads the exact bytes of a request's body. */
export type ReadBody = (
  req: IncomingMessage,
  res: ServerResponse,
  bytesMax: number,
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

/**
 * A reader of bodies that holds at most `bytesInHandMax` bytes of all requests together: more are
 * asked to come back, so that a hundred large uploads at once cannot fill the memory.
 *
 * The reader throws 413 past `bytesMax`, 415 for a compressed body, 503 when too much is in hand.
 */
export function createReadBody(bytesInHandMax: number): ReadBody {
  let inHand = 0
  return (req, res, bytesMax) => {
    refuseCompressed(req)
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let read = 0
      let held = 0
      let refusal: ProblemError | undefined
      const give = () => {
        inHand -= held
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
        else if (inHand + chunk.length > bytesInHandMax) refuse(tooMuch())
        if (!refusal) {
          chunks.push(chunk)
          held += chunk.length
          inHand += chunk.length
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
