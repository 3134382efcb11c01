import { decodeAnyBytes, decodeText, unflowed } from './body-encoding.ts'
import { charsetDecoder, decodeCharset, decodeHeaderText } from './encoded-word.ts'
import { fieldValue, type Header, parseHeader } from './header.ts'
import type { MessageBody } from './message.ts'
import { type MimeLeaf, mimeLeaves } from './mime-leaves.ts'
import { type BodyPiece, composeBody } from './ordinary-body.ts'
import { withShortBlankRuns } from './seven-bit.ts'

/**
 * Reads the body of any message. What a field of a part leaves open is read as mail programs read
 * it: a text of an unknown type is shown, one in an unknown charset is guessed, and a multipart
 * without parts is a text. Linear in bytes times levels; never throws.
 */
export async function readAnyBody(raw: Buffer, header: Header): Promise<MessageBody> {
  const hasLineFeeds = header.lineEnd === 'lf' || raw.includes(0x0a, header.bodyOffset)
  const leaves = shownLeaves(hasLineFeeds ? raw : withLineFeeds(raw))
  const isNeeded = leaves.some((one) => 'type' in one && needsTables(one))
  const reading = { isOnly: leaves.length === 1, tables: isNeeded ? await loadTables() : undefined }
  const read = leaves.map((one) => ('type' in one ? readLeaf(one, reading) : one))
  const has = (isPage: boolean) => read.some((one) => 'isPage' in one && one.isPage === isPage)
  return composeBody(
    read.flatMap((one) => ('shownFields' in one ? fieldPieces(one.shownFields, has) : [one])),
  )
}

function withLineFeeds(raw: Buffer): Buffer {
  return Buffer.from(raw.toString('latin1').replaceAll('\r', '\n'), 'latin1')
}

/** A part, or the fields of a message inside that mail programs show above its text. */
type Shown = MimeLeaf | { shownFields: string[] }

const messageDepthMax = 3

/** The leaves of a message and of the messages inside it that are shown with it. */
function shownLeaves(raw: Buffer, depth = 0): Shown[] {
  return mimeLeaves(raw).flatMap((leaf) => {
    const isShown = leaf.type === 'message/rfc822' && (leaf.isInline || !leaf.isTyped)
    if (!isShown || leaf.encoding !== 'identity' || depth >= messageDepthMax) return [leaf]
    const { fields } = parseHeader(leaf.content)
    const shownFields = ['From', 'Subject', 'Date', 'To', 'Cc'].flatMap((name) => {
      const value = fieldValue(fields, name.toLowerCase())?.slice(0, fieldCharsMax)
      return value === undefined ? [] : [`${name}: ${decodeHeaderText(value)}`]
    })
    return [{ shownFields }, ...shownLeaves(leaf.content, depth + 1)]
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

/** Closing delimiters of a multipart that has no parts, and the lines around them. */
const lastDelimiters = /\n*^--[^\n]{1,200}--[ \t]*$\n*/gm

type Reading = { isOnly: boolean; tables: Tables | undefined }

function readLeaf(leaf: MimeLeaf, { isOnly, tables }: Reading): BodyPiece {
  const { name, isAlternative } = leaf
  const type = typeOf(leaf, tables)
  const isMultipart = type.startsWith('multipart/')
  const content = withShortBlankRuns(leaf.content)
  const isOtherText = type.startsWith('text/') && !fileTypes.has(type) && name === undefined
  const isText = shownTypes.has(type) || isMultipart || isOtherText
  const { isFlowed, delSp, charset } = leaf
  // A multipart is not encoded (RFC 2045 §6.4).
  const encoding = isMultipart ? '' : (leaf.encoding ?? '')
  if (!isText || (leaf.isAttachment && !isOnly)) {
    const known = type === rawType && name !== undefined && tables?.typeOf(name)
    return { name, type: known || type, content: decodeAnyBytes(content, encoding) }
  }
  const form = { encoding, charset: charset ? labelOf(charset) : 'utf-8', isFlowed, delSp }
  const written = decodeText(content, form) ?? rareText(content, form, tables)
  const text = isMultipart ? written.replace(lastDelimiters, '') : written
  return { text, isPage: type === 'text/html', isAlternative }
}

/** The type of a part; derived from its file name if its header names no valid type. */
function typeOf({ type, isTyped, name, isAttachment }: MimeLeaf, tables: Tables | undefined) {
  if (isTyped || type !== 'text/plain') return type
  if (name !== undefined && /\.\w/.test(name)) return tables?.typeOf(name) ?? rawType
  return isAttachment ? rawType : type
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
  const written = decodeAnyBytes(content, encoding)
  const bytes = isFlowed
    ? Buffer.from(unflowed(written.toString('latin1'), delSp), 'latin1')
    : written
  const isKnown = charsetDecoder(charset) !== undefined
  const listed = isListed(charset) ? tables?.decode(bytes, charset).toWellFormed() : undefined
  const isRead = listed !== undefined && (isKnown || !listed.includes('\uFFFD'))
  const text = isRead ? listed : isKnown ? decodeCharset(bytes, charset) : guessedText(bytes)
  return text.replaceAll('\r\n', '\n')
}

/** Reads bytes as UTF-8 unless most of their letters would be invalid. */
function guessedText(bytes: Buffer): string {
  const text = bytes.toString()
  const letters = text.match(/[^\0-\x7f]/gu) ?? []
  const invalid = letters.filter((letter) => letter === '\uFFFD').length
  return invalid * 2 > letters.length ? decodeCharset(bytes, 'windows-1252') : text
}
