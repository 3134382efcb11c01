import { decodeTransfer } from './transfer-encoding.ts'

/**
 * Decoders of body parts. They give the same results as those of mailparser for every input that
 * they accept, and a test compares both.
 */

/** Holds decoded bytes; reused for all parts, because allocating costs more than filling. */
let scratch = Buffer.alloc(64 * 1024)

const equalsSign = 0x3d
const carriageReturn = 0x0d
const lineFeed = 0x0a

/** Decodes base64; undefined if it has anything but digits, white space and final padding. */
export function decodeBase64(content: Buffer): Buffer | undefined {
  const text = content.toString('latin1')
  return cleanBase64.test(text) ? Buffer.from(text, 'base64') : undefined
}

const cleanBase64 = /^[A-Za-z0-9+/\r\n\t ]*={0,2}[\r\n\t ]*$/

/** Decodes quoted-printable (RFC 2045 §6.7) leniently. */
export function decodeQuoted(content: Buffer): Buffer {
  const length = quotedToScratch(content)
  return length < 0 ? irregularQuoted(content) : Buffer.from(scratch.subarray(0, length))
}

/** How the text of a part is written. */
export type TextForm = { encoding: string; charset: string; isFlowed: boolean; delSp: boolean }

/** Removes any transfer encoding, as leniently as mail programs do. */
export function decodeAnyBytes(content: Buffer, encoding: string): Buffer {
  if (encoding === 'quoted-printable') return decodeQuoted(content)
  if (encoding !== 'base64') return content
  const decode = () => Buffer.from(decodeTransfer(content.toString('latin1'), encoding), 'latin1')
  return decodeBase64(content) ?? decode()
}

/**
 * Decodes a text; its lines end in LF where they ended in CRLF. Undefined for rare charsets, for
 * texts that begin with a mark of UTF-16, and for base64 with other characters.
 */
export function decodeText(content: Buffer, form: TextForm): string | undefined {
  const decoder = decoderOf(form.charset)
  let bytes = decoder && plainBytes(content, form.encoding)
  if (!bytes || !decoder || utf16Mark(bytes) !== undefined) return undefined
  if (form.isFlowed) {
    bytes = Buffer.from(unflowed(bytes.toString('latin1'), form.delSp), 'latin1')
  }
  const text = decoder === 'utf-8' ? bytes.toString() : decodeLetters(bytes, decoder)
  return text.includes('\r') ? text.replaceAll('\r\n', '\n') : text
}

/** The charset of a text that begins with a byte order mark of UTF-16. */
export function utf16Mark(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const mark = bytes.length > 1 ? bytes.readUInt16BE() : 0
  return mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : undefined
}

/** Removes the transfer encoding. The result is valid until the next call. */
function plainBytes(content: Buffer, encoding: string): Buffer | undefined {
  if (encoding === 'base64') return decodeBase64(content)
  if (encoding !== 'quoted-printable') return content
  const length = quotedToScratch(content)
  return length < 0 ? irregularQuoted(content) : scratch.subarray(0, length)
}

/** The charsets of single bytes that are decoded here, as in mailparser. ASCII is read as UTF-8. */
const decoders = new Map(
  [
    ...[1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map((page) => `windows-${page}`),
    ...['iso-8859-1', 'iso-8859-2', 'iso-8859-5', 'iso-8859-7', 'iso-8859-9', 'iso-8859-15'],
    ...['latin1', 'koi8-r'],
  ].map((name) => [name, new TextDecoder(name)]),
)

function decoderOf(charset: string): TextDecoder | 'utf-8' | undefined {
  const lower = charset.toLowerCase()
  const bare = lower.replace(/[^a-z0-9]+/g, '')
  return bare === 'utf8' || bare === 'usascii' || bare === 'ascii' ? 'utf-8' : decoders.get(lower)
}

function decodeLetters(bytes: Buffer, decoder: TextDecoder): string {
  const text = bytes.toString('latin1')
  if (!/[\x80-\xff]/.test(text)) return text
  const decoded = decoder.decode(bytes)
  // Unlike mailparser, the decoder maps unused bytes of the Windows pages to control characters.
  return decoder.encoding.startsWith('windows-')
    ? decoded.replace(/[\x80-\x9f]/g, '\uFFFD')
    : decoded
}

/** Joins the lines of flowed text (RFC 3676). */
export function unflowed(text: string, delSp: boolean): string {
  const paragraphs: string[] = []
  let pieces: string[] | undefined
  let length = 0
  for (const line of text.split(/\r?\n/)) {
    const last = pieces?.at(-1) ?? ''
    const isSoft = last.endsWith(' ') && !(length === 3 && pieces?.join('') === '-- ')
    if (!isSoft) {
      if (pieces) paragraphs.push(pieces.join(''))
      pieces = []
      length = 0
    } else if (delSp) {
      pieces?.pop()
      if (last.length > 1) pieces?.push(last.slice(0, -1))
      length--
    }
    if (line !== '') pieces?.push(line)
    length += line.length
  }
  if (pieces && length > 0) paragraphs.push(pieces.join(''))
  return paragraphs.join('\n').replace(/^ /gm, '')
}

/** Decodes into `scratch` and returns the length; -1 if an `=` is neither of RFC 2045's uses. */
function quotedToScratch(content: Buffer): number {
  const { length } = content
  if (scratch.length < length) scratch = Buffer.alloc(length * 2)
  const to = scratch
  let end = 0
  /** The end without the blanks behind the last other byte, which do not count at a line end. */
  let solid = 0
  for (let at = 0; at < length;) {
    const code = content[at] ?? 0
    if (code > 0x20 && code !== equalsSign) {
      to[end++] = code
      solid = end
      at++
    } else if (code === 0x20 || code === 0x09) {
      to[end++] = code
      at++
    } else if (code === carriageReturn || code === lineFeed) {
      to[solid] = code
      end = ++solid
      at++
    } else if (code === equalsSign) {
      const value = hexPair(content[at + 1] ?? 0, content[at + 2] ?? 0)
      if (value >= 0) {
        to[end++] = value
        at += 3
      } else {
        const next = softBreakEnd(content, at + 1)
        if (next === 0) return -1
        if (next < 0) {
          to[end++] = code
          at++
        } else at = next
      }
      solid = end
    } else {
      to[end++] = code
      solid = end
      at++
    }
  }
  return solid
}

/**
 * Where the line after a soft line break begins; -1 if the `=` before `from` stands for itself; 0
 * if it is doubtful, because a soft line break after it may complete it.
 */
function softBreakEnd(content: Buffer, from: number): number {
  let at = from
  while (content[at] === 0x20 || content[at] === 0x09) at++
  const code = content[at]
  if (code === undefined) return at
  if (code === lineFeed) return at + 1
  if (code === carriageReturn) return content[at + 1] === lineFeed ? at + 2 : 0
  if (at > from) return -1
  if (code === equalsSign) return 0
  if (hexValue(code) < 0) return -1
  const second = content[at + 1]
  const isOpen = second === undefined || second === equalsSign || second <= 0x20
  return isOpen ? 0 : -1
}

function hexPair(high: number, low: number): number {
  const first = hexValue(high)
  const second = first < 0 ? -1 : hexValue(low)
  return second < 0 ? -1 : first * 16 + second
}

function hexValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** The rules of libqp, one after the other. */
function irregularQuoted(content: Buffer): Buffer {
  const text = content
    .toString('latin1')
    .replace(/[\t ]+$/gm, '')
    .replace(/=(?:\r?\n|$)/g, '')
    .replace(/=([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(text, 'latin1')
}
