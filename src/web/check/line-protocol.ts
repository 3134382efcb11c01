import type { Socket } from 'node:net'
import { reasonOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { Ask } from './answer-question.ts'
import { isLoopback } from './may-ask.ts'
import { composeLines, type Fields, messageIn } from './protocol.ts'

/** Handles connections with the older line protocol, and passes on those with HTTP. */
export type LineProtocol = {
  take: (socket: Socket, speaksHttp: (socket: Socket) => void) => void
  /** Closes the connections without a check in progress. */
  stop: () => void
  /** Closes the remaining connections. */
  close: () => void
}

const OPENING = /^(CHECK|SYMBOLS|PING) (RSPAMC|SPAMC)\//
const OPENING_BYTES = 'SYMBOLS RSPAMC/'.length
const HEADER_BYTES_MAX = 1_000_000
const IDLE_MS = 60_000
const QUESTION_MS_MAX = 180_000
const HEADER_END = '\r\n\r\n'
/**
 * Maximum number of bytes read and discarded beyond the limit, because mail servers read only after
 * they have written everything.
 */
const DRAINED_BYTES_MAX = 64_000_000

/**
 * Implements the line protocol that rspamd used before HTTP and that Exim still uses: `CHECK
 * RSPAMC/1.3`, header fields, an empty line, then `Content-length` bytes; one check per connection.
 * The protocol has no password, so only this machine may use it.
 */
export function createLineProtocol(ask: Ask, bytesMax: number, log: Logger): LineProtocol {
  const open = new Set<Socket>()
  const silent = new Set<Socket>()
  return {
    take(socket, speaksHttp) {
      let held: Buffer = Buffer.alloc(0)
      silent.add(socket)
      const onEnd = () => socket.destroy()
      socket.once('end', onEnd)
      socket.once('close', () => silent.delete(socket))
      socket.setNoDelay(true)
      socket.setTimeout(IDLE_MS, () => socket.destroy())
      const onError = () => socket.destroy()
      socket.on('error', onError)
      const look = (chunk: Buffer) => {
        held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
        const isLines = isLineProtocol(held)
        if (isLines === undefined) return
        silent.delete(socket)
        socket.removeListener('data', look)
        socket.removeListener('end', onEnd)
        socket.pause()
        socket.unshift(held)
        if (!isLines) {
          socket.setTimeout(0)
          socket.removeAllListeners('timeout')
          socket.removeListener('error', onError)
          speaksHttp(socket)
          return void socket.resume()
        }
        open.add(socket)
        socket.once('close', () => open.delete(socket))
        void converse(socket, ask, bytesMax, log)
      }
      socket.on('data', look)
    },
    stop: () => {
      for (const socket of silent) socket.destroy()
    },
    close: () => {
      for (const socket of open) socket.destroy()
    },
  }
}

/**
 * Whether a connection uses the line protocol; undefined while too few bytes have arrived to
 * decide.
 */
function isLineProtocol(held: Buffer): boolean | undefined {
  const start = held.toString('latin1', 0, OPENING_BYTES)
  if (OPENING.test(start)) return true
  const isOpen = start.length < OPENING_BYTES && !start.includes('\n')
  return isOpen && /^(C|S|P$|PI)/.test(start) ? undefined : false
}

async function converse(socket: Socket, ask: Ask, bytesMax: number, log: Logger): Promise<void> {
  using _deadline = setTimeout(() => socket.destroy(), QUESTION_MS_MAX)
  try {
    if (!isLoopback(socket.remoteAddress))
      return refuse(socket, 'Only programs on this machine may use this protocol.')
    const question = await readQuestion(socket, bytesMax)
    if (question === undefined) return void socket.destroy()
    if (question.isPing) return void socket.end('RSPAMD/1.3 0 PONG\r\n')
    const given =
      question.body === 'too-big'
        ? question.body
        : await messageIn(question.body, question.fields, bytesMax)
    if (!Buffer.isBuffer(given) && given !== 'too-big') return refuse(socket, given.fault)
    socket.end(composeLines(await ask(given, question.fields)))
  } catch (error) {
    if (socket.destroyed) return
    log.warn({ reason: reasonOf(error).slice(0, 200) }, 'Could not answer a mail server.')
    refuse(socket, 'Temporarily unavailable. Try again later.')
  }
}

/**
 * Refuses a check. Any reply other than "0 EX_OK" makes the mail server use its fallback; 75 is
 * EX_TEMPFAIL.
 */
function refuse(socket: Socket, why: string): void {
  socket.end(`RSPAMD/1.3 75 ${why}\r\n\r\n`)
  // Otherwise, unread bytes would keep the connection open.
  socket.resume()
}

type Question = { isPing: boolean; fields: Fields; body: Buffer | 'too-big' }

/** Reads a check; undefined if the client disconnects or violates the protocol. */
async function readQuestion(socket: Socket, bytesMax: number): Promise<Question | undefined> {
  let head: { fields: Fields; length: number; isPing: boolean } | undefined
  let chunks: Buffer[] = []
  let read = 0
  // The socket stays open after the loop, because the response is sent on it.
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    read += chunk.length
    if (!head) {
      const held = Buffer.concat(chunks)
      const end = held.indexOf(HEADER_END)
      if (end < 0 && held.length > HEADER_BYTES_MAX) return undefined
      chunks = [held]
      if (end < 0) continue
      head = readHead(held.toString('latin1', 0, end))
      const body = held.subarray(end + HEADER_END.length)
      chunks = [body]
      read = body.length
    }
    const { fields, length, isPing } = head
    if (Number.isNaN(length) || length > bytesMax + DRAINED_BYTES_MAX) return undefined
    if (length > bytesMax) chunks = []
    if (read < length) continue
    if (length > bytesMax) return { isPing, fields, body: 'too-big' }
    return { isPing, fields, body: Buffer.concat(chunks, read).subarray(0, length) }
  }
  return undefined
}

function readHead(text: string): { fields: Fields; length: number; isPing: boolean } {
  const [first = '', ...lines] = text.split('\r\n')
  const fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    ;(fields[name] ??= []).push(Buffer.from(line.slice(colon + 1).trim(), 'latin1').toString())
  }
  const isPing = first.startsWith('PING ')
  const length = fields['content-length']?.[0] ?? (isPing ? '0' : '')
  return { fields, length: /^\d{1,12}$/.test(length) ? Number(length) : Number.NaN, isPing }
}
