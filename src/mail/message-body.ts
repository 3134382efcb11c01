import { signedEntity } from './containers/signed-content.ts'
import { type CharsetTables, needsTables } from './charset.ts'
import { decodeHeaderText } from './encoded-word.ts'
import { fieldValue, type Header, parseHeader } from './header.ts'
import { leafBytes, leafText, type MimeLeaf, readMime } from './mime-leaves.ts'

/** The readable parts of a message, and its attachments. */
export type MessageBody = {
  /** All text/plain parts, decoded; empty when there are none. */
  text: string
  /** All text/html parts, decoded; empty when there are none. */
  html: string
  attachments: BodyAttachment[]
}

/** A part that is not shown as text. */
export type BodyAttachment = { name: string | undefined; type: string; content: Buffer }

/**
 * Reads the MIME body of a message (RFC 2045-2047) as mail programs show it. What a field of a part
 * leaves open is read as they read it: a text of an unknown type is shown, one in an unknown
 * charset is guessed, and a multipart without parts is a text. Its cost grows with the structure,
 * so check `exceedsLimits` first. Linear in bytes times levels; never throws.
 */
export async function parseBody(raw: Buffer, header: Header): Promise<MessageBody> {
  const shown = shownParts(raw, header)
  const isNeeded = shown.some((one) => 'type' in one && isUnclear(one))
  const reading = { isOnly: shown.length === 1, tables: isNeeded ? await loadTables() : undefined }
  const read = shown.map((one) => ('type' in one ? readLeaf(one, reading) : one))
  const has = (isPage: boolean) => read.some((one) => 'isPage' in one && one.isPage === isPage)
  return composeBody(
    read.flatMap((one) => ('shownFields' in one ? fieldPieces(one.shownFields, has) : [one])),
  )
}

/** A part, or the fields of a message inside that mail programs show above its text. */
type Shown = MimeLeaf | { shownFields: string[] }

const messageDepthMax = 30
const messageTypes = new Set(['message/rfc822', 'message/global', 'message/news'])
const fieldCharsMax = 1_000

/** The leaves of a message, and of signatures and messages inside it that are shown with it. */
function shownParts(raw: Buffer, header: Header, depth = 0): Shown[] {
  const { leaves } = readMime(raw, header)
  return leaves.flatMap((leaf) => {
    const signed = signedEntity(leaf, depth)
    if (signed) return shownParts(signed, parseHeader(signed), depth + 1)
    const isShown = leaf.isInline || !leaf.isTyped || leaves.length === 1
    const isMessage = isShown && messageTypes.has(leaf.type) && depth < messageDepthMax
    const content = isMessage ? leafBytes(leaf) : undefined
    if (content === undefined) return [leaf]
    const its = parseHeader(content)
    const shownFields = ['From', 'Subject', 'Date', 'To', 'Cc'].flatMap((name) => {
      const value = fieldValue(its.fields, name.toLowerCase())?.slice(0, fieldCharsMax)
      return value === undefined ? [] : [`${name}: ${decodeHeaderText(value)}`]
    })
    return [{ shownFields }, ...shownParts(content, its, depth + 1)]
  })
}

type BodyPiece = { text: string; isPage: boolean; isAlternative: boolean } | BodyAttachment

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

/** Types of text that mail programs do not show as text. */
const fileTypes = new Set(
  [
    ...['calendar', 'css', 'csv', 'directory', 'ecmascript', 'javascript', 'rtf', 'vcard'],
    ...['rfc822-header', 'rfc822-headers', 'watch-html', 'x-amp-html', 'x-moz-deleted'],
    ...['x-vcalendar', 'x-vcard', 'xml'],
  ].map((subtype) => `text/${subtype}`),
)
const shownTypes = new Set(['text/plain', 'text/html', 'message/delivery-status'])
const rawType = 'application/octet-stream'

/** Tables of charsets, and of media types by file name. */
type Tables = CharsetTables & { typeOf: (name: string) => string }

/** Called only if needed, because it takes 25 ms. */
async function loadTables(): Promise<Tables> {
  const [types, charsets] = await Promise.all([import('libmime'), import('libmime/lib/charset.js')])
  return { typeOf: types.default.detectMimeType, decode: charsets.default.decode }
}

function isUnclear({ type, isTyped, name, charset = '' }: MimeLeaf): boolean {
  return (name !== undefined && (!isTyped || type === rawType)) || needsTables(charset)
}

type Reading = { isOnly: boolean; tables: Tables | undefined }

function readLeaf(leaf: MimeLeaf, { isOnly, tables }: Reading): BodyPiece {
  const { name, isAlternative, isFlowed, delSp } = leaf
  const type = typeOf(leaf, tables)
  const isMultipart = type.startsWith('multipart/')
  const isFile = (fileTypes.has(type) || name !== undefined) && !isOnly
  const isOtherText = type.startsWith('text/') && !isFile
  const isText = shownTypes.has(type) || isMultipart || isOtherText
  if (!isText || (leaf.isAttachment && !isOnly)) {
    const known = type === rawType && name !== undefined && tables?.typeOf(name)
    return { name, type: known || type, content: leafBytes(leaf) ?? leaf.content }
  }
  const lines = leafText(leaf, tables)
  const written = isFlowed ? unflowed(lines, delSp) : lines
  const text = isMultipart ? withoutLastDelimiters(written) : written
  return { text, isPage: type === 'text/html', isAlternative }
}

/** The type of a part; derived from its file name if its header names no valid type. */
function typeOf(leaf: MimeLeaf, tables: Tables | undefined): string {
  const { type, isTyped, name, isAttachment } = leaf
  if (isTyped || type !== 'text/plain') return type
  const named = name !== undefined && /\.\w/.test(name) ? tables?.typeOf(name) : undefined
  if (named !== undefined && named !== rawType) return named
  return isAttachment || (named === rawType && isBinary(leaf)) ? rawType : type
}

function isBinary(leaf: MimeLeaf): boolean {
  return leafBytes(leaf)?.includes(0) !== false
}

/** A closing delimiter, in a multipart that has no parts. */
const lastDelimiter = /^--.{1,200}--[ \t]*$/

function withoutLastDelimiters(text: string): string {
  const lines = text.split('\n').filter((line) => !lastDelimiter.test(line))
  return lines.join('\n').trim()
}

/** Joins the lines of flowed text (RFC 3676). */
function unflowed(text: string, delSp: boolean): string {
  const paragraphs: string[] = []
  let pieces: string[] | undefined
  let length = 0
  for (const line of text.split('\n')) {
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

/** Joins the pieces of a message in their order. */
function composeBody(pieces: readonly BodyPiece[]): MessageBody {
  const texts: string[] = []
  const pages: string[] = []
  const attachments: BodyAttachment[] = []
  const hasText = pieces.some((one) => 'text' in one && !one.isPage)
  const hasPage = pieces.some((one) => 'text' in one && one.isPage)
  for (const piece of pieces) {
    if (!('text' in piece)) {
      attachments.push(piece)
      continue
    }
    const { text, isPage, isAlternative } = piece
    if (text === '') continue
    ;(isPage ? pages : texts).push(text)
    // A separator, without the other form of the text.
    if (!isAlternative && isPage && hasText) texts.push('')
    if (!isAlternative && !isPage && hasPage) pages.push('')
  }
  return { text: texts.join('\n'), html: pages.join('<br/>\n'), attachments }
}
