import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  askForBody,
  chunksOf,
  discardRest,
  inSlices,
  refuseCompressed,
  tooBig,
  tooMuch,
} from './read-body.ts'

/** A line of a body without its line end; `too-long` if it exceeds the limit. */
export type Line = Buffer | 'too-long'

type LineLimits = {
  lineBytesMax: number
  allBytesMax: number
  /** A batch is passed on when it reaches this number of lines or bytes. */
  batch: { lines: number; bytes: number }
}

/**
 * Reads the lines of a request body as they arrive and passes them on in batches; reading pauses
 * while a batch is processed. Skips blank lines. `take` returns whether it accepts more.
 */
export type ReadLines = (
  req: IncomingMessage,
  res: ServerResponse,
  limits: LineLimits,
  take: (lines: readonly Line[]) => Promise<'more' | 'enough'>,
) => Promise<void>

const NEWLINE = 0x0a

/**
 * Creates a line reader that holds at most `bytesInHandMax` bytes of all requests together.
 *
 * The reader throws 413 if the body is too large, 415 if it is compressed, and 503 if too many
 * bytes are held; earlier lines may already have been processed.
 */
export function createReadLines(bytesInHandMax: number): ReadLines {
  let inHand = 0
  return async (req, res, limits, take) => {
    const gathering = createLineBatches(limits)
    let held = 0
    const hold = (bytes: number) => {
      inHand += bytes - held
      held = bytes
      if (inHand > bytesInHandMax) throw tooMuch()
    }
    let read = 0
    try {
      refuseCompressed(req)
      if (Number(req.headers['content-length'] ?? 0) > limits.allBytesMax) {
        throw tooBig(limits.allBytesMax)
      }
      askForBody(req, res)
      for await (const chunk of chunksOf(req)) {
        read += chunk.length
        if (read > limits.allBytesMax) throw tooBig(limits.allBytesMax)
        await inSlices(() => gathering.add(chunk))
        hold(gathering.bytes())
        if (!gathering.isFull()) continue
        if ((await take(gathering.lines())) === 'enough') return discardRest(req)
        hold(gathering.bytes())
      }
      const rest = gathering.end()
      if (rest.length > 0) await take(rest)
    } catch (error) {
      discardRest(req)
      throw error
    } finally {
      inHand -= held
    }
  }
}

function createLineBatches({ lineBytesMax, batch }: LineLimits) {
  let lines: Line[] = []
  let lineBytes = 0
  let open: Buffer[] = []
  let openBytes = 0
  let isTooLong = false
  const push = (part: Buffer) => {
    openBytes += part.length
    isTooLong ||= openBytes > lineBytesMax
    // Copied, because a view would keep the whole chunk in memory, most of which belongs to other
    // lines.
    if (isTooLong) open = []
    else if (part.length > 0) open.push(Buffer.from(part))
  }
  const close = () => {
    if (openBytes === 0) return
    const line = isTooLong ? 'too-long' : Buffer.concat(open)
    if (line === 'too-long' || !isBlank(line)) lines.push(line)
    lineBytes += line === 'too-long' ? 0 : line.length
    open = []
    openBytes = 0
    isTooLong = false
  }
  const taken = () => {
    const given = lines
    lines = []
    lineBytes = 0
    return given
  }
  return {
    add(chunk: Buffer): void {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        push(chunk.subarray(start, end))
        close()
        start = end + 1
      }
      push(chunk.subarray(start))
    },
    bytes: () => lineBytes + (isTooLong ? 0 : openBytes),
    isFull: () => lines.length >= batch.lines || lineBytes >= batch.bytes,
    lines: taken,
    end: () => {
      close()
      return taken()
    },
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}
