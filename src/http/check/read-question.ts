import type { IncomingMessage } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createZstdDecompress, zstdDecompressSync } from 'node:zlib'
import type { Envelope } from '../../judging/envelope.ts'
import { parseIp, parseIpAndPort } from '../../mail/ip.ts'
import { inSlices } from '../bodies/in-slices.ts'

/** Header fields of a question by their names in lower case, each value they had. */
export type Fields = Readonly<Record<string, readonly string[] | undefined>>

/** The message of a question; `too-big` when it is more than is taken, else why it is none. */
export type Given = Buffer | 'too-big' | { fault: string }

const VALUE_CHARS_MAX = 1_000
const RECIPIENTS_MAX = 10_000
const BLOCKING_BYTES_MAX = 256_000
const UNPACKED_BLOCKING_BYTES_MAX = 1_000_000
const SLICE_BYTES = 1_000_000

/** The header fields of an HTTP request. */
export function fieldsOfRequest(req: IncomingMessage): Fields {
  return req.headersDistinct
}

/**
 * What the mail server says of the message, in the header fields of rspamd's protocol. Whatever
 * cannot be read is absent: a wrong header is no reason to leave a message unjudged.
 */
export function envelopeOf(fields: Fields): Envelope {
  const value = (name: string) => textOf(fields[name]?.[0])
  const address = (name: string) => addressOf(fields[name]?.[0])
  return {
    // rspamd's proxy writes the port as well.
    ip: parseIpAndPort(value('ip') ?? '')?.text,
    helo: value('helo'),
    hostname: named(value('hostname')),
    returnPath: address('from'),
    recipients: (fields['rcpt'] ?? []).slice(0, RECIPIENTS_MAX).flatMap((one) => {
      const recipient = addressOf(one)
      return recipient === undefined || recipient === '' ? [] : [recipient]
    }),
    user: value('user'),
    queueId: value('queue-id'),
  }
}

/**
 * The message in a body: all of it, or its last `Message-Length` bytes behind what tells of it;
 * first unpacked when `Compression` says zstd.
 */
export async function messageIn(body: Buffer, fields: Fields, bytesMax: number): Promise<Given> {
  if (fields['file'] && body.length === 0) {
    return { fault: 'Send the message itself: files of this machine are not read.' }
  }
  const form = fields['compression']?.[0]?.trim().toLowerCase() ?? ''
  if (form !== '' && form !== 'zstd') return { fault: `${textOf(form) ?? 'That'} is not zstd.` }
  const whole = form === 'zstd' ? await unpacked(body, bytesMax) : body
  if (!Buffer.isBuffer(whole)) return whole
  const length = fields['message-length']?.[0]
  if (length === undefined) return whole
  if (!/^\d{1,15}$/.test(length.trim()) || Number(length) > whole.length) {
    return { fault: 'Message-Length is not the length of what was sent.' }
  }
  return whole.subarray(whole.length - Number(length))
}

async function unpacked(body: Buffer, bytesMax: number): Promise<Given> {
  if (body.length === 0) return body
  try {
    const small = await inSlices(() => unpackedAtOnce(body, bytesMax))
    return small ?? (await inTurn(() => unpackedInSlices(body, bytesMax)))
  } catch {
    return { fault: 'The body is not what zstd makes.' }
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()

/** One at a time: each holds up to 25 MB twice. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const made = lastTurn.then(work)
  lastTurn = made.catch(() => undefined)
  return made
}

/** Copies one slice in a turn of the event loop: all at once block it for long. */
async function unpackedInSlices(body: Buffer, bytesMax: number): Promise<Buffer | 'too-big'> {
  const slices: Buffer[] = []
  let length = 0
  const unpacking = createZstdDecompress({ chunkSize: SLICE_BYTES })
  unpacking.end(body)
  for await (const slice of unpacking as AsyncIterable<Buffer>) {
    length += slice.length
    if (length > bytesMax) return 'too-big'
    slices.push(slice)
  }
  const whole = Buffer.allocUnsafeSlow(length)
  let at = 0
  for (const slice of slices) {
    await nextTurn()
    at += slice.copy(whole, at)
  }
  return whole
}

/** Undefined where it would block for long: a few bytes may unpack to very many. */
function unpackedAtOnce(body: Buffer, bytesMax: number): Buffer | undefined {
  if (body.length > BLOCKING_BYTES_MAX) return undefined
  try {
    const maxOutputLength = Math.min(bytesMax, UNPACKED_BLOCKING_BYTES_MAX)
    return zstdDecompressSync(body, { maxOutputLength })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Exim writes angle brackets, others do not; empty is the null return path. */
function addressOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  return cleaned(value.trim().replace(/^<(.*)>$/s, '$1'))
}

function textOf(value: string | undefined): string | undefined {
  const text = cleaned((value ?? '').trim())
  return text === '' ? undefined : text
}

function cleaned(value: string): string {
  return value.replaceAll(/[\p{Cc}]/gu, '').slice(0, VALUE_CHARS_MAX)
}

/** Postfix says "unknown" where it found no name; an address is no name either. */
function named(name: string | undefined): string | undefined {
  const isNone = name === undefined || name.toLowerCase() === 'unknown' || parseIp(name)
  return isNone ? undefined : name
}
