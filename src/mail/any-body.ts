import { decodeAnyBytes, decodeText, unflowed, utf16Mark } from './body-encoding.ts'
import { charsetDecoder, decodeCharset, decodeHeaderText } from './encoded-word.ts'
import { fieldValue, type Header, parseHeader } from './header.ts'
import type { MessageBody } from './message-body.ts'
import { leafBytes, type MimeLeaf, mimeLeaves } from './mime-leaves.ts'
import { type BodyPiece, composeBody } from './ordinary-body.ts'
import { withShortBlankRuns } from './seven-bit.ts'

/**
 * Reads the body of any message. What a field of a part leaves open is read as mail programs read
 * it: a text of an unknown type is shown, one in an unknown charset is guessed, and a multipart
 * without parts is a text. Linear in bytes times levels; never throws.
 */
export async function readAnyBody(raw: Buffer, header: Header): Promise<MessageBody> {
  const leaves = shownLeaves(withLineFeeds(raw, header))
  const isNeeded = leaves.some((one) => 'type' in one && needsTables(one))
  const reading = { isOnly: leaves.length === 1, tables: isNeeded ? await loadTables() : undefined }
  const read = leaves.map((one) => ('type' in one ? readLeaf(one, reading) : one))
  const has = (isPage: boolean) => read.some((one) => 'isPage' in one && one.isPage === isPage)
  return composeBody(
    read.flatMap((one) => ('shownFields' in one ? fieldPieces(one.shownFields, has) : [one])),
  )
}

const returnInStructure = /\r(?:\r(?!\n)|--|[a-z-]{1,60}[ \t]*:)/i

/** Replaces CRs alone by LFs, if mail programs would end lines of the structure at them. */
function withLineFeeds(raw: Buffer, { lineEnd }: Header): Buffer {
  const text = raw.toString('latin1')
  if (lineEnd === 'lf' && !returnInStructure.test(text)) return raw
  return Buffer.from(text.replaceAll(/\r(?!\n)/g, '\n'), 'latin1')
}

/** A part, or the fields of a message inside that mail programs show above its text. */
type Shown = MimeLeaf | { shownFields: string[] }

const messageDepthMax = 30
const messageTypes = new Set(['message/rfc822', 'message/global', 'message/news'])

/** The leaves of a message and of the messages inside it that are shown with it. */
function shownLeaves(raw: Buffer, depth = 0): Shown[] {
  const leaves = mimeLeaves(raw)
  return leaves.flatMap((leaf) => {
    const isShown = leaf.isInline || !leaf.isTyped || leaves.length === 1
    const content =
      isShown && messageTypes.has(leaf.type) && depth < messageDepthMax
        ? leafBytes(leaf)
        : undefined
    if (content === undefined) return [leaf]
    const { fields } = parseHeader(content)
    const shownFields = ['From', 'Subject', 'Date', 'To', 'Cc'].flatMap((name) => {
      const value = fieldValue(fields, name.toLowerCase())?.slice(0, fieldCharsMax)
      return value === undefined ? [] : [`${name}: ${decodeHeaderText(value)}`]
    })
    return [{ shownFields }, ...shownLeaves(content, depth + 1)]
  })
}

const fieldCharsMax = 1_000

/** Shows fields in each of the forms that the message has. */
function fieldPieces(lines: readonly string[], has: (isPage: boolean) => boolean): BodyPiece[] {
  const text = `\n${lines.join('\n')}\n`
  const page = text
    .replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replaceAll('\n', '<br/>')
  return [
    ...(has(false) ? [{ text, isPage: false, isAlternative: true }] : []),
    ...(has(true) ? [{ text: page, isPage: true, isAlternative: true }] : []),
  ]
}

const rawType = 'application/octet-stream'

/** Tables of charsets, and of media types by file name. */
type Tables = Awaited<ReturnType<typeof loadTables>>

/** Called only if needed, because it takes 25 ms. */
async function loadTables() {
  const [types, charsets] = await Promise.all([import('libmime'), import('libmime/lib/charset.js')])
  return { typeOf: types.default.detectMimeType, decode: charsets.default.decode }
}

function needsTables({ type, isTyped, name, charset = '' }: MimeLeaf): boolean {
  const isUnclear = name !== undefined && (!isTyped || type === rawType)
  return isUnclear || (charset !== '' && isListed(labelOf(charset)))
}

/** Whether the tables know more about a charset than the decoders of the platform. */
function isListed(charset: string): boolean {
  // The tables take the names of transfer encodings for charsets.
  if (/^(?:base|hex)[\W\d_]*(?::\d+)?$/.test(charset)) return false
  return charset.startsWith('iso-2022-jp') || charsetDecoder(charset) === undefined
}

/** Types of text that mail programs do not show as text. */
const fileTypes = new Set(
  [
    ...['calendar', 'css', 'csv', 'directory', 'ecmascript', 'javascript', 'rtf', 'vcard'],
    ...['rfc822-header', 'rfc822-headers', 'watch-html', 'x-amp-html', 'x-moz-deleted'],
    ...['x-vcalendar', 'x-vcard', 'xml'],
  ].map((subtype) => `text/${subtype}`),
)
const shownTypes = new Set(['text/plain', 'text/html', 'message/delivery-status'])

/** A closing delimiter, in a multipart that has no parts. */
const lastDelimiter = /^--.{1,200}--[ \t]*$/

type Reading = { isOnly: boolean; tables: Tables | undefined }

function readLeaf(leaf: MimeLeaf, { isOnly, tables }: Reading): BodyPiece {
  const { name, isAlternative } = leaf
  const type = typeOf(leaf, tables)
  const isMultipart = type.startsWith('multipart/')
  const content = withShortBlankRuns(leaf.content)
  const isFile = (fileTypes.has(type) || name !== undefined) && !isOnly
  const isOtherText = type.startsWith('text/') && !isFile
  const isText = shownTypes.has(type) || isMultipart || isOtherText
  const { isFlowed, delSp, charset } = leaf
  // A multipart is not encoded (RFC 2045 §6.4).
  const named = isMultipart ? '' : (leaf.encoding ?? '')
  const encoding = leaf.mayBeBase64 && isFoldedBase64(content) ? 'base64' : named
  if (!isText || (leaf.isAttachment && !isOnly)) {
    const known = type === rawType && name !== undefined && tables?.typeOf(name)
    return { name, type: known || type, content: decodeAnyBytes(content, encoding) }
  }
  const form = { encoding, charset: charset ? labelOf(charset) : 'utf-8', isFlowed, delSp }
  const written = decodeText(content, form) ?? rareText(content, form, tables)
  const text = isMultipart ? withoutLastDelimiters(written) : written
  return { text, isPage: type === 'text/html', isAlternative }
}

function isBinary(leaf: MimeLeaf): boolean {
  return leafBytes(leaf)?.includes(0) !== false
}

function withoutLastDelimiters(text: string): string {
  const lines = text.split('\n').filter((line) => !lastDelimiter.test(line))
  return lines.join('\n').trim()
}

/** Whether a content is nothing but long lines of base64, as no text for people is. */
function isFoldedBase64(content: Buffer): boolean {
  return /^[A-Za-z\d+/]{24,}={0,2}(?:\r?\n[A-Za-z\d+/=]*)*$/.test(content.toString('latin1').trim())
}

/** The type of a part; derived from its file name if its header names no valid type. */
function typeOf(leaf: MimeLeaf, tables: Tables | undefined): string {
  const { type, isTyped, name, isAttachment } = leaf
  if (isTyped || type !== 'text/plain') return type
  const named = name !== undefined && /\.\w/.test(name) ? tables?.typeOf(name) : undefined
  if (named !== undefined && named !== rawType) return named
  return isAttachment || (named === rawType && isBinary(leaf)) ? rawType : type
}

/** The charset without quotes, comments and other characters around it, in lower case. */
function labelOf(charset: string): string {
  return /[a-z0-9][\w.:+-]*/.exec(charset.toLowerCase())?.[0] ?? ''
}

type Form = Parameters<typeof decodeText>[1]

/** Decodes a text in a rare charset, or in one that is guessed because it is unknown. */
function rareText(
  content: Buffer,
  { encoding, charset, isFlowed, delSp }: Form,
  tables: Tables | undefined,
): string {
  const decoded = decodeRare(decodeAnyBytes(content, encoding), charset, tables)
  return (isFlowed ? unflowed(decoded, delSp) : decoded).replaceAll('\r\n', '\n')
}

const utf16Names = /^(?:utf.?16|ucs.?2|cs.?unicode|unicode(?!.*utf)|iso.?10646)/
/** The tables need much memory. */
const listedBytesMax = 2 * 1024 * 1024

function decodeRare(bytes: Buffer, charset: string, tables: Tables | undefined): string {
  const isUtf16 = utf16Names.test(charset)
  const wide = utf16Mark(bytes) ?? (isUtf16 ? utf16Order(bytes) : undefined)
  if (wide !== undefined) return decodeCharset(bytes, wide)
  const isUtf7 = /utf.?7$/.test(charset)
  if (!isUtf7 && isPlain(bytes)) return bytes.toString('latin1')
  if (isUtf16) return decodeCharset(bytes, charsetDecoder(charset) ? charset : 'utf-16le')
  const isKnown = charsetDecoder(charset) !== undefined
  const listed = isListed(charset)
    ? tables?.decode(bytes.subarray(0, listedBytesMax), charset).toWellFormed()
    : undefined
  if (listed !== undefined && (isKnown || !listed.includes('\uFFFD'))) return listed
  return isKnown ? decodeCharset(bytes, charset) : guessedText(bytes)
}

/** The byte order of UTF-16, by the zeros in it; undefined when there are few. */
function utf16Order(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const start = bytes.subarray(0, 1_024)
  let [even, odd] = [0, 0]
  for (const [at, byte] of start.entries()) {
    if (byte !== 0) continue
    if (at % 2 === 0) even++
    else odd++
  }
  if (Math.max(even, odd) * 8 < start.length) return undefined
  return even > odd ? 'utf-16be' : 'utf-16le'
}

/** Whether bytes are ASCII without escape sequences, which mean the same in most charsets. */
function isPlain(bytes: Buffer): boolean {
  return /^[\t\n\f\r\x20-\x7e]*$/.test(bytes.toString('latin1'))
}

/** Reads bytes as UTF-8 unless most of their letters would be invalid. */
function guessedText(bytes: Buffer): string {
  const text = bytes.toString()
  let [letters, invalid] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) letters++
    if (code === 0xfffd) invalid++
  }
  return invalid * 2 > letters ? decodeCharset(bytes, 'windows-1252') : text
}
