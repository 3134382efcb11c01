import { hash } from 'node:crypto'
import { deEncapsulateSync } from 'rtf-stream-parser'
import { type HeaderField, looksLikeMessage, parseHeader } from '../header.ts'
import { unusedBoundary } from '../mail-parts.ts'
import { encodeTransfer } from '../transfer-encoding.ts'
import { readCompoundFile, type Storage } from './compound-file.ts'
import { readTnef } from './tnef.ts'

const charsets: Readonly<Record<number, string>> = {
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gb2312',
  949: 'ks_c_5601-1987',
  950: 'big5',
  20127: 'us-ascii',
  20866: 'koi8-r',
  21866: 'koi8-u',
  50220: 'iso-2022-jp',
  50221: 'iso-2022-jp',
  50222: 'iso-2022-jp',
  51932: 'euc-jp',
  51949: 'euc-kr',
  54936: 'gb18030',
  65001: 'utf-8',
}

/** The MIME charset of a Windows code page; undefined for a code page that mail does not use. */
function charsetOfCodepage(codepage: number): string | undefined {
  if (codepage >= 1250 && codepage <= 1258) return `windows-${codepage}`
  if (codepage > 28_590 && codepage <= 28_605) return `iso-8859-${codepage - 28_590}`
  return charsets[codepage]
}

/** The initial content of the decompression dictionary (MS-OXRTFCP §2.1.2.1). */
const dictionaryStart =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern ' +
  '\\fscript \\fdecor MS Sans SerifSymbolArialTimes New ' +
  'RomanCourier{\\colortbl\\red0\\green0\\blue0' +
  '\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx'

const headerBytes = 16
const compressedMark = 0x75465a4c
const plainMark = 0x414c454d
const dictionaryBytes = 4096

/**
 * Decompresses RTF as Outlook stores it (MS-OXRTFCP §2.2) to at most `bytesMax` bytes. Undefined
 * when the bytes are not in this format. A two-byte reference expands to at most 17 bytes. Ignores
 * the checksum: damaged input yields damaged text.
 */
export function readCompressedRtf(bytes: Buffer, bytesMax: number): Buffer | undefined {
  if (bytes.length < headerBytes) return undefined
  const size = Math.min(bytes.readUInt32LE(4), bytesMax)
  const mark = bytes.readUInt32LE(8)
  if (mark === plainMark) return bytes.subarray(headerBytes, headerBytes + size)
  if (mark !== compressedMark) return undefined
  const content = Buffer.alloc(Math.min(size, (bytes.length - headerBytes) * 9))
  return content.subarray(0, decompress(bytes.subarray(headerBytes), content))
}

function decompress(from: Buffer, to: Buffer): number {
  const dictionary = Buffer.alloc(dictionaryBytes, 0x20)
  let write = dictionary.write(dictionaryStart, 'latin1')
  let written = 0
  const put = (byte: number) => {
    to[written++] = byte
    dictionary[write] = byte
    write = (write + 1) % dictionaryBytes
  }
  let at = 0
  while (at < from.length && written < to.length) {
    const control = from[at++] ?? 0
    for (let bit = 0; bit < 8 && at < from.length && written < to.length; bit++) {
      if ((control & (1 << bit)) === 0) {
        put(from[at++] ?? 0)
        continue
      }
      const reference = ((from[at] ?? 0) << 8) | (from[at + 1] ?? 0)
      at += 2
      const offset = reference >> 4
      if (offset === write) return written
      const length = (reference & 0xf) + 2
      for (let step = 0; step < length && written < to.length; step++) {
        put(dictionary[(offset + step) % dictionaryBytes] ?? 0)
      }
    }
  }
  return written
}

const rtfBytesMax = 2_000_000
/**
 * Maximum nesting of RTF groups. Every level makes the library slower for each byte; real mail has
 * about ten levels.
 */
const RTF_NESTING_MAX = 40

/**
 * Extracts the HTML that Outlook encapsulated in RTF (MS-OXRTFEX). Undefined for any other RTF,
 * because the recipient's own mail program generated it and it was never sent. Takes 0.5 s per
 * megabyte. Never throws.
 */
export function htmlOfRtf(compressed: Buffer): string | undefined {
  const rtf = readCompressedRtf(compressed, rtfBytesMax)
  if (!rtf?.subarray(0, 200).includes('\\fromhtml') || isTooDeep(rtf)) return undefined
  try {
    const { mode, text } = deEncapsulateSync(rtf, { mode: 'html', prefix: false, decode })
    return mode === 'html' ? text.toString() : undefined
  } catch {
    return undefined
  }
}

function isTooDeep(rtf: Buffer): boolean {
  let depth = 0
  for (const byte of rtf) {
    if (byte === 0x7b) depth++
    else if (byte === 0x7d) depth--
    if (depth > RTF_NESTING_MAX) return true
  }
  return false
}

function decode(bytes: Buffer, codepage: string): string {
  const name = codepage.toLowerCase().replace(/^cp(125\d|874)$/, 'windows-$1')
  const known = { cp932: 'shift_jis', cp936: 'gbk', cp949: 'euc-kr', cp950: 'big5' }[name] ?? name
  try {
    return new TextDecoder(known).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

type KeptText = { bytes: Buffer; charset: string }

/** An attached file. `type` is undefined when the file does not state one. */
type KeptFile = {
  name: string | undefined
  type: string | undefined
  contentId: string | undefined
  bytes: Buffer
}

/** The parts of a message that a mail program stores separately. */
type KeptPieces = {
  /** The header as received, as text. */
  header: Buffer
  text: KeptText | undefined
  html: KeptText | undefined
  files: readonly KeptFile[]
}

const typeShape = /^[a-z]+\/[a-z0-9!#$&^_.+-]{1,120}$/i

/**
 * Builds a message from the header as received and a new body made of the stored parts; the same
 * input gives the same bytes. Leaves out the header fields that describe the original body
 * (MIME-Version and Content-*). The text is the one that was sent, but its bytes differ, so no
 * signature of the body can be valid.
 */
function rebuildMessage({ header, text, html, files }: KeptPieces): Buffer {
  const fields = parseHeader(header).fields.filter(({ key }) => !isOfBody(key))
  const seed = hash('sha256', header)
  const texts = [
    ...(text || !html ? [textPart('text/plain', text)] : []),
    ...(html ? [textPart('text/html', html)] : []),
  ]
  const body = texts.length > 1 ? multipart('alternative', texts, seed) : (texts[0] ?? '')
  const content =
    files.length > 0 ? multipart('mixed', [body, ...files.map(filePart)], `${seed} all`) : body
  const lines = [...fields.map(asLines), 'MIME-Version: 1.0\r\n', content]
  return Buffer.from(lines.join(''), 'latin1')
}

function isOfBody(key: string): boolean {
  return key === 'mime-version' || key.startsWith('content-')
}

/** Converts all line ends to CRLF, because some readers treat a lone CR as a line end. */
function asLines({ raw }: HeaderField): string {
  return `${raw.replace(/\r*\n|\r/g, '\r\n')}\r\n`
}

function textPart(type: string, { bytes, charset }: KeptText = emptyText): string {
  const encoded = encodeTransfer(bytes.toString('latin1'), 'base64')
  return (
    `Content-Type: ${type}; charset=${charset}\r\n` +
    `Content-Transfer-Encoding: base64\r\n\r\n${encoded}`
  )
}

const emptyText: KeptText = { bytes: Buffer.alloc(0), charset: 'utf-8' }

function filePart({ name, type = '', contentId, bytes }: KeptFile): string {
  const isMessage = type === 'message/rfc822'
  const isSafe = typeShape.test(type) && !/^(?:multipart|message)\//i.test(type)
  const shownType = isMessage || isSafe ? type : 'application/octet-stream'
  const content = bytes.toString('latin1')
  const encoded = isMessage
    ? `Content-Transfer-Encoding: 8bit\r\n\r\n${content}`
    : `Content-Transfer-Encoding: base64\r\n\r\n${encodeTransfer(content, 'base64')}`
  const id = /^[\x21-\x3b\x3d\x3f-\x7e]{1,200}$/.test(contentId ?? '')
    ? `Content-ID: <${contentId ?? ''}>\r\n`
    : ''
  const file = name === undefined ? '' : `;\r\n filename*=utf-8''${percentEncoded(name)}`
  return `Content-Type: ${shownType}\r\nContent-Disposition: attachment${file}\r\n${id}${encoded}`
}

function percentEncoded(name: string): string {
  return encodeURIComponent(name.toWellFormed().slice(0, 200)).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function multipart(kind: string, parts: readonly string[], seed: string): string {
  const boundary = unusedBoundary(seed, parts)
  const inside = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join('')
  const type = `Content-Type: multipart/${kind}; boundary="${boundary}"\r\n\r\n`
  return `${type}${inside}--${boundary}--\r\n`
}

/** The message of an Outlook file, or the reason why there is none. */
export type OutlookMessage = { raw: Buffer } | { refusal: 'no-header' | 'not-a-message' }

/**
 * Property ids (MS-OXPROPS). Each property is a stream named after its id and the type of its
 * value.
 */
const ids = {
  header: '007D',
  text: '1000',
  html: '1013',
  rtf: '1009',
  data: '3701',
  fileName: '3707',
  shortName: '3704',
  mimeType: '370E',
  contentId: '3712',
}
const internetCodepage = 0x3fde
const messageCodepage = 0x3ffd
const filesMax = 200
const MESSAGE_NESTING_MAX = 3
const nameCharsMax = 300

/**
 * Rebuilds the message of an Outlook file (`.msg`, MS-OXMSG). The file contains the header as
 * received, but the body only as Outlook interpreted it. Refuses a file without that header,
 * because the origin of the message cannot be determined without it. Never throws.
 */
export function readOutlookMessage(bytes: Buffer): OutlookMessage {
  const root = readCompoundFile(bytes)
  // Word and Excel documents and installers are compound files too.
  if (!root?.streams.has('__properties_version1.0')) return { refusal: 'not-a-message' }
  const raw = messageOf(root, 0)
  return raw ? { raw } : { refusal: 'no-header' }
}

/** A message in another file of Outlook; `raw` is undefined if its header is missing. */
export type AttachedMessage = { name: string; raw: Buffer | undefined; isRebuilt: boolean }

/**
 * The messages that are attached in a `winmail.dat` (MS-OXTNEF): files with the bytes of a message,
 * and messages that are rebuilt like those of Outlook files. Never throws.
 */
export function messagesInTnef(bytes: Buffer): AttachedMessage[] {
  const { files, messages } = readTnef(bytes)
  const whole = files.filter((file) => looksLikeMessage(parseHeader(file.bytes)))
  return [
    ...whole.map(({ name, bytes: raw }) => ({ name, raw, isRebuilt: false })),
    ...messages.slice(0, filesMax).map((storage, index) => {
      return { name: String(index + 1), raw: messageOf(storage, 0), isRebuilt: true }
    }),
  ]
}

function messageOf(storage: Storage, depth: number): Buffer | undefined {
  const header = headerOf(storage)
  if (!header) return undefined
  return rebuildMessage({ header, ...textsOf(storage, depth), files: filesOf(storage, depth) })
}

/**
 * The Internet header of the message. Undefined when the file has none, or when it lacks the fields
 * of a mail message, as in mail that never left the sender's own organization.
 */
function headerOf(storage: Storage): Buffer | undefined {
  const text = textProperty(storage, ids.header)?.bytes.toString('latin1') ?? ''
  const start = text.replace(/^\s*(?:Microsoft Mail Internet Headers Version [\d.]+\s*)?/i, '')
  const header = Buffer.from(start, 'latin1')
  return looksLikeMessage(parseHeader(header)) ? header : undefined
}

function textsOf(storage: Storage, depth: number) {
  const numbers = numbersOf(storage, depth)
  const kept = charsetOfCodepage(numbers.get(messageCodepage) ?? 0) ?? 'windows-1252'
  const text = textProperty(storage, ids.text, kept)
  return { text, html: htmlOf(storage, numbers.get(internetCodepage)) }
}

function htmlOf(storage: Storage, codepage = 0): KeptText | undefined {
  const html = streamOf(storage, ids.html, '0102')
  if (html && html.length > 0) return { bytes: html, charset: charsetOfHtml(html, codepage) }
  const text = textProperty(storage, ids.html)
  if (text && text.bytes.length > 0) return text
  const rtf = streamOf(storage, ids.rtf, '0102')
  const found = rtf && htmlOfRtf(rtf)
  return found ? { bytes: Buffer.from(found), charset: 'utf-8' } : undefined
}

function charsetOfHtml(html: Buffer, codepage: number): string {
  const known = charsetOfCodepage(codepage)
  if (known) return known
  return isUtf8(html) ? 'utf-8' : 'windows-1252'
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

function filesOf(storage: Storage, depth: number): KeptFile[] {
  return [...storage.storages]
    .filter(([name]) => name.startsWith('__attach_version1.0_#'))
    .slice(0, filesMax)
    .flatMap(([, attachment]) => fileOf(attachment, depth) ?? [])
}

function fileOf(attachment: Storage, depth: number): KeptFile | undefined {
  const word = (id: string) =>
    textProperty(attachment, id)?.bytes.toString().trim().slice(0, nameCharsMax) || undefined
  const name = word(ids.fileName) ?? word(ids.shortName)
  const inside = attachment.storages.get(`__substg1.0_${ids.data}000D`)
  if (inside) {
    const raw = depth < MESSAGE_NESTING_MAX ? messageOf(inside, depth + 1) : undefined
    return raw && { name, type: 'message/rfc822', contentId: undefined, bytes: raw }
  }
  const bytes = streamOf(attachment, ids.data, '0102')
  return bytes && { name, type: word(ids.mimeType), contentId: word(ids.contentId), bytes }
}

/** Reads a text property: Unicode as UTF-8, other text as its bytes in the given charset. */
function textProperty(storage: Storage, id: string, charset = 'utf-8'): KeptText | undefined {
  const unicode = streamOf(storage, id, '001F')
  if (unicode) return { bytes: Buffer.from(unicode.toString('utf16le')), charset: 'utf-8' }
  const bytes = streamOf(storage, id, '001E')
  return bytes && { bytes, charset }
}

function streamOf({ streams }: Storage, id: string, type: string): Buffer | undefined {
  return streams.get(`__substg1.0_${id}${type}`)?.read()
}

/**
 * Reads the properties that are numbers (MS-OXMSG §2.4): entries of 16 bytes after a header of 32
 * bytes, or 24 in an attached message.
 */
function numbersOf({ streams }: Storage, depth: number): Map<number, number> {
  const table = streams.get('__properties_version1.0')?.read() ?? Buffer.alloc(0)
  const numbers = new Map<number, number>()
  for (let at = depth === 0 ? 32 : 24; at + 16 <= table.length; at += 16) {
    if (table.readUInt16LE(at) === 3)
      numbers.set(table.readUInt16LE(at + 2), table.readInt32LE(at + 8))
  }
  return numbers
}
