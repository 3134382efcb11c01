/**
 * Packets of the milter protocol, version 6, as Sendmail's `mfdef.h` defines them and Postfix
 * speaks them: a length of four bytes, a letter, and data.
 */
export type Packet = { command: string; data: Buffer }

/** Thrown for bytes that are not the milter protocol. */
export class MilterError extends Error {
  override name = 'MilterError'
}

/**
 * Maximum length of a packet. Mail servers send bodies in chunks of 64 KB, and Postfix sends fields
 * of at most 100 KB.
 */
export const PACKET_BYTES_MAX = 262_144
const LENGTH_BYTES = 4

/** Cuts the bytes of a connection into packets. */
export type PacketReader = {
  /** @throws MilterError for a packet without a command or above the limit, before it is read */
  read: (chunk: Buffer) => Generator<Packet>
  /** Whether a packet has begun that is not complete. */
  isInPacket: () => boolean
}

/** Creates a reader, which takes linear time however the bytes are cut. */
export function createPacketReader(): PacketReader {
  const head = Buffer.alloc(LENGTH_BYTES)
  let part = head
  let filled = 0
  return {
    isInPacket: () => part !== head || filled > 0,
    *read(chunk) {
      for (let at = 0; at < chunk.length;) {
        const copied = chunk.copy(part, filled, at)
        at += copied
        filled += copied
        if (filled < part.length) return
        filled = 0
        if (part === head) {
          part = Buffer.allocUnsafe(lengthIn(head))
        } else {
          const whole = part
          part = head
          yield { command: String.fromCharCode(whole.readUInt8(0)), data: whole.subarray(1) }
        }
      }
    },
  }
}

function lengthIn(head: Buffer): number {
  const length = head.readUInt32BE(0)
  if (length >= 1 && length <= PACKET_BYTES_MAX) return length
  throw new MilterError(`A packet of ${length} bytes is not supported.`)
}

/** Composes a packet: a text ends with a zero byte, a number takes four bytes. */
export function formatPacket(command: string, ...parts: readonly (string | number)[]): Buffer {
  const data = parts.map((part) => {
    if (typeof part === 'string') return Buffer.from(`${part}\0`)
    const number = Buffer.alloc(LENGTH_BYTES)
    number.writeUInt32BE(part)
    return number
  })
  const length = data.reduce((sum, { length: bytes }) => sum + bytes, 1)
  const head = Buffer.alloc(LENGTH_BYTES + 1)
  head.writeUInt32BE(length)
  head.write(command, LENGTH_BYTES, 'latin1')
  return Buffer.concat([head, ...data])
}

/** Splits data into its texts, each of which ends with a zero byte; reads at most `max` of them. */
export function textsIn(data: Buffer, max: number): string[] {
  const texts: string[] = []
  for (let at = 0; at < data.length && texts.length < max;) {
    const end = data.indexOf(0, at)
    texts.push(data.toString('utf8', at, end < 0 ? data.length : end))
    at = end < 0 ? data.length : end + 1
  }
  return texts
}

/** Parses macros, `name value` pairs after the letter of the command that they belong to. */
export function parseMacros(data: Buffer): Map<string, string> {
  const texts = textsIn(data.subarray(1), 2 * MACROS_MAX)
  const macros = new Map<string, string>()
  for (let at = 0; at + 1 < texts.length; at += 2) {
    // Sendmail may leave the braces out.
    macros.set(texts[at]?.replace(/^\{(.*)\}$/, '$1') ?? '', texts[at + 1] ?? '')
  }
  return macros
}

const MACROS_MAX = 100

/** Parses what the mail server tells about its client; the address is absent for local mail. */
export function parseConnect(data: Buffer): { hostname: string; ip: string | undefined } {
  const end = data.indexOf(0)
  if (end < 0 || end + 1 >= data.length) throw new MilterError('The client is malformed.')
  const hostname = data.toString('utf8', 0, end)
  const family = String.fromCharCode(data.readUInt8(end + 1))
  if (family !== '4' && family !== '6') return { hostname, ip: undefined }
  const [address = ''] = textsIn(data.subarray(end + 2 + PORT_BYTES), 1)
  return { hostname, ip: address.replace(/^IPv6:/i, '') }
}

const PORT_BYTES = 2

/** A header field as the mail server passes it on: the bytes of its name and of its value. */
export type HeaderField = { name: string; bytes: Buffer }

/**
 * Parses a header field into the bytes it had in the message. Mail servers pass on folded values
 * with line feeds only, and without the first space unless `hasLeadingSpace`.
 */
export function parseHeaderField(data: Buffer, hasLeadingSpace: boolean): HeaderField {
  const nameEnd = data.indexOf(0)
  if (nameEnd < 0) throw new MilterError('A header field is malformed.')
  const valueEnd = data.indexOf(0, nameEnd + 1)
  const name = data.toString('latin1', 0, nameEnd)
  const value = data.toString('latin1', nameEnd + 1, valueEnd < 0 ? data.length : valueEnd)
  const lines = value.replaceAll(/\r?\n/g, '\r\n')
  const bytes = Buffer.from(`${name}:${hasLeadingSpace ? '' : ' '}${lines}\r\n`, 'latin1')
  return { name, bytes }
}

/** What the filter may do with a message (SMFIF). */
export const ACTIONS = { addFields: 0x01, changeFields: 0x10, quarantine: 0x20, askMacros: 0x100 }

/** Steps that the mail server leaves out, or that get no reply (SMFIP). */
export const STEPS = {
  noEndOfHeader: 0x40,
  noReplyToField: 0x80,
  noUnknown: 0x100,
  noData: 0x200,
  skip: 0x400,
  noReplyToHelo: 0x2000,
  noReplyToMail: 0x4000,
  leadingSpace: 0x10_0000,
}

export type Terms = { version: number; actions: number; steps: number }

const VERSION = 6
const VERSION_MIN = 2
const TERMS_BYTES = 12
/** The number of the stage at which the macros of a connection are sent. */
const AT_CONNECT = 0
const CONNECT_MACROS = 'j _ {daemon_name} {daemon_port}'

const maskOf = (bits: Readonly<Record<string, number>>) =>
  Object.values(bits).reduce((mask, bit) => mask | bit, 0)

/**
 * Returns the terms of a connection, all that we use of what the mail server offers, and our reply.
 * We also ask for the port of the mail server, which Postfix does not send by itself.
 */
export function negotiate(offer: Buffer): { terms: Terms; reply: Buffer } {
  if (offer.length < TERMS_BYTES || offer.readUInt32BE(0) < VERSION_MIN) {
    throw new MilterError('The version of the milter protocol is not supported.')
  }
  const terms = {
    version: Math.min(offer.readUInt32BE(0), VERSION),
    actions: offer.readUInt32BE(4) & maskOf(ACTIONS),
    steps: offer.readUInt32BE(8) & maskOf(STEPS),
  }
  const macros = (terms.actions & ACTIONS.askMacros) === 0 ? [] : [AT_CONNECT, CONNECT_MACROS]
  const { version, actions, steps } = terms
  return { terms, reply: formatPacket('O', version, actions, steps, ...macros) }
}
