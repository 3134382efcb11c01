import { LRUCache } from 'lru-cache'
import { decodeBase64, decodeQuoted, decodeText, type TextForm } from './body-encoding.ts'
import type { HeaderField } from './header.ts'
import type { BodyAttachment, MessageBody } from './message-body.ts'

/**
 * Reads the body of an ordinary message, as mailparser would. Undefined for everything that is not
 * ordinary: odd fields, unfinished and unusual structure, rare charsets, and encoded file names. A
 * test compares both. `fields` is the header of the message, with lines that end in LF or CRLF.
 * Linear.
 */
export function readOrdinaryBody(
  fields: readonly HeaderField[],
  body: Buffer,
): MessageBody | undefined {
  const written: PartHeader = {}
  for (const { key, raw } of fields) {
    if (loneReturn.test(raw) || !addField(written, key, raw)) return undefined
  }
  const part = readPart(written)
  if (part === undefined) return undefined
  const leaves: Leaf[] = []
  if (part.isMultipart) {
    if (!findLeaves(part, body, leaves)) return undefined
  } else {
    if (part.isAttachment) return undefined
    leaves.push({ part, content: body, isAlternative: false })
  }
  const pieces = leaves.map(pieceOf)
  return pieces.every((piece) => piece !== undefined) ? composeBody(pieces) : undefined
}

/** Some mail programs end a line at it, and so read another field. */
const loneReturn = /\r(?!\n)/

type PartHeader = { type?: string; disposition?: string; encoding?: string }

const contentKeys: Readonly<Record<string, keyof PartHeader>> = {
  'content-type': 'type',
  'content-disposition': 'disposition',
  'content-transfer-encoding': 'encoding',
}

/** Adds a field as written if it says how to read the body; false if it is repeated. */
function addField(header: PartHeader, key: string, raw: string): boolean {
  const known = Object.hasOwn(contentKeys, key) ? contentKeys[key] : undefined
  if (known === undefined) return true
  if (header[known] !== undefined) return false
  header[known] = raw
  return true
}

/** The properties of an entity that its header states. */
type Part = TextForm & {
  /** In lower case. */
  type: string
  isTyped: boolean
  isMultipart: boolean
  /** The delimiter without its line end; undefined if there is none. */
  delimiter: Buffer | undefined
  isAttachment: boolean
  name: string | undefined
}

const cachedCharsMax = 200
/** Most parts have one of a few headers: `text/html; charset=utf-8`, quoted-printable. */
const knownParts = new LRUCache<string, { part: Part | undefined }>({ max: 500 })

/** Reads the fields of an entity, as written; undefined when they are unusual. */
function readPart({ type = '', disposition = '', encoding = '' }: PartHeader): Part | undefined {
  const key = `${type}\0${disposition}\0${encoding}`
  if (key.length > cachedCharsMax) return newPart(type, disposition, encoding)
  const known = knownParts.get(key)
  if (known) return known.part
  const part = newPart(type, disposition, encoding)
  knownParts.set(key, { part })
  return part
}

const delimiterCharsMax = 100
const shownTypes = new Set(['text/plain', 'text/html', 'message/delivery-status'])
const encodings = new Set(['', '7bit', '8bit', 'binary', 'base64', 'quoted-printable'])
const dispositions = new Set(['', 'inline', 'attachment'])
const ordinaryType = /^[\w+.-]+\/[\w+.-]+$/

function newPart(typeField: string, dispositionField: string, encodingField: string) {
  const disposition = readValue(dispositionField)
  const type = readValue(typeField)
  const encoding = fieldText(encodingField)?.toLowerCase()
  if (disposition === undefined || type === undefined || encoding === undefined) return undefined
  if (typeField === '' && dispositionField !== '') return undefined
  const { parameters } = type
  const contentType = typeField === '' ? 'text/plain' : type.value.toLowerCase()
  const name = disposition.parameters.get('filename') || parameters.get('name') || ''
  const boundary = parameters.get('boundary')
  const shown = disposition.value.toLowerCase()
  const isMultipart = contentType.startsWith('multipart/')
  const isShown = shownTypes.has(contentType)
  const isUnusual =
    !ordinaryType.test(contentType) ||
    (contentType.startsWith('text/') && !isShown) ||
    (isMultipart ? !boundary || boundary.length > delimiterCharsMax : boundary) ||
    !encodings.has(encoding) ||
    !dispositions.has(shown) ||
    /=\?|\0/.test(name) ||
    (contentType.startsWith('message/') && !isShown && shown === 'inline') ||
    (contentType === 'application/octet-stream' && name !== '')
  if (isUnusual) return undefined
  return {
    type: contentType,
    isTyped: typeField !== '',
    isMultipart,
    delimiter: boundary ? Buffer.from(`--${boundary}`, 'latin1') : undefined,
    encoding,
    charset: parameters.get('charset') || 'utf-8',
    isFlowed: parameters.get('format')?.toLowerCase().trim() === 'flowed',
    delSp: parameters.get('delsp')?.toLowerCase().trim() === 'yes',
    isAttachment: !isShown || shown === 'attachment',
    name: name === '' ? undefined : name,
  }
}

/** The value of a field on one line; undefined when it is not printable ASCII. */
function fieldText(raw: string): string | undefined {
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\xff]|\r(?!\n)/.test(raw)) return undefined
  const line = raw.includes('\n') ? raw.replace(/\r?\n[ \t]*/g, ' ') : raw
  return line.slice(line.indexOf(':') + 1).trim()
}

type FieldValue = { value: string; parameters: ReadonlyMap<string, string> }

const whiteSpace = new Set([' ', '\t', '\r', '\n', '\f', '\v'])

/**
 * Splits a value into its first part and its parameters. Undefined for values that are not ASCII,
 * and for parameters that are repeated, or split or encoded by RFC 2231.
 */
function readValue(raw: string): FieldValue | undefined {
  const text = fieldText(raw)
  if (text === undefined) return undefined
  const parameters = new Map<string, string>()
  let main: string | undefined
  let key: string | undefined
  let piece = ''
  let isKey = false
  let isRepeated = false
  let isQuoted = false
  /** Length of the piece without the white space at its end, unless that is quoted. */
  let solid = 0
  const finish = () => {
    const found = piece.slice(0, solid)
    if (isKey) {
      if (found !== '') parameters.set(found.toLowerCase(), '')
    } else if (key === undefined) main = found
    else {
      isRepeated ||= parameters.has(key)
      parameters.set(key, found)
    }
    piece = ''
    solid = 0
  }
  for (let at = 0; at < text.length; at++) {
    let char = text.charAt(at)
    let isLiteral = false
    if (!isKey && char === '\\') {
      if (++at === text.length) break
      char = text.charAt(at)
      isLiteral = true
    }
    if (isLiteral) {
      piece += char
      solid = piece.length
    } else if (!isKey && char === '"') isQuoted = !isQuoted
    else if (char === ';' && !isQuoted) {
      finish()
      isKey = true
    } else if (isKey && char === '=') {
      key = piece.slice(0, solid).toLowerCase()
      piece = ''
      solid = 0
      isKey = false
    } else if (!isQuoted && whiteSpace.has(char)) {
      if (piece !== '') piece += char
    } else {
      piece += char
      solid = piece.length
    }
  }
  finish()
  if (isRepeated || parameters.keys().some((name) => name.includes('*'))) return undefined
  return { value: main ?? '', parameters }
}

/** A part that is not a multipart; `isAlternative`: it is inside a multipart/alternative. */
type Leaf = { part: Part; content: Buffer; isAlternative: boolean }

/** A multipart whose parts are being read. */
type Level = {
  delimiter: Buffer | undefined
  parent: Level | undefined
  isAlternative: boolean
  isDigest: boolean
  depth: number
  hasParts: boolean
  /** The delimiter line that was found last. */
  found: Delimiter | undefined
}

/** A delimiter line (RFC 2046 §5.1.1): its start, the start of the line after it, and its kind. */
type Delimiter = { start: number; end: number; isClose: boolean }

const never: Delimiter = { start: Infinity, end: Infinity, isClose: false }
const depthMax = 30
const partsMax = 900
/** How many times the length of the body may be searched for delimiters. */
const searchesMax = 8

/** The body that is searched, and the number of bytes that may still be searched. */
type Search = { body: Buffer; budget: number }

/**
 * Collects the leaves of a multipart. Like mailparser, considers only the delimiters of the current
 * multipart and of the one around it, and no longer those of the current one after it is closed.
 * False when the structure is unusual.
 */
function findLeaves(root: Part, body: Buffer, leaves: Leaf[]): boolean {
  const search: Search = { body, budget: searchesMax * body.length }
  let level = levelOf(root, undefined)
  let isClosed = false
  let at = 0
  for (let parts = 0; parts < partsMax;) {
    const own: Delimiter = isClosed ? never : nextDelimiter(search, level, at)
    const outer: Delimiter = level.parent ? nextDelimiter(search, level.parent, at) : never
    if (search.budget < 0) return false
    const next: Delimiter = own.start <= outer.start ? own : outer
    if (next === never) return level.hasParts
    at = next.end
    if (next === outer && level.parent) {
      if (!level.hasParts) return false
      level = level.parent
      isClosed = next.isClose
    }
    if (next.isClose) continue
    level.hasParts = true
    parts++
    const entity = readEntity(body, at, level.delimiter)
    if (!entity) return false
    const { part, bodyAt } = entity
    // A part of a digest is a message unless its header says otherwise (RFC 2046 §5.1.5).
    if (level.isDigest && !part.isTyped) return false
    at = bodyAt
    if (part.isMultipart) {
      if (level.depth >= depthMax) return false
      level = levelOf(part, level)
    } else {
      const end = nextDelimiter(search, level, bodyAt)
      if (end === never) return false
      const { isAlternative } = level
      leaves.push({ part, content: contentBefore(body, bodyAt, end), isAlternative })
      isClosed = end.isClose
      at = isClosed ? end.end : end.start
      continue
    }
    isClosed = false
  }
  return false
}

function levelOf({ delimiter, type }: Part, parent: Level | undefined): Level {
  return {
    delimiter,
    parent,
    isAlternative: parent?.isAlternative === true || type === 'multipart/alternative',
    isDigest: type === 'multipart/digest',
    depth: parent ? parent.depth + 1 : 0,
    hasParts: false,
    found: undefined,
  }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const dash = 0x2d

/** Finds the first delimiter line at or after a position that is the start of a line. */
function nextDelimiter(search: Search, level: Level, from: number): Delimiter {
  if (!level.delimiter) return never
  if (level.found && level.found.start >= from) return level.found
  level.found = findDelimiter(search, level.delimiter, from)
  return level.found
}

function findDelimiter(search: Search, mark: Buffer, from: number): Delimiter {
  const { body } = search
  let at = body.indexOf(mark, from)
  search.budget -= (at < 0 ? body.length : at) - from
  while (at >= 0 && search.budget >= 0) {
    const before = at === 0 ? lineFeed : body[at - 1]
    // mailparser takes a lone CR before a delimiter for part of it.
    if (before === carriageReturn) search.budget = -1
    const isClose = before === lineFeed ? closes(body, at + mark.length) : undefined
    // Blanks may follow a delimiter (RFC 2046 §5.1.1); mailparser takes it for text.
    if (before === lineFeed && isClose === undefined && isPadded(body, at + mark.length)) {
      search.budget = -1
    }
    if (isClose !== undefined) {
      const end = body.indexOf(lineFeed, at + mark.length)
      return { start: at, end: end < 0 ? body.length : end + 1, isClose }
    }
    const next = body.indexOf(mark, at + 1)
    search.budget -= (next < 0 ? body.length : next) - at
    at = next
  }
  return never
}

/**
 * Whether the rest of a line after the mark makes it a closing delimiter; undefined when it is no
 * delimiter. The rest is at most `--` and a line end: no white space may follow the mark.
 */
function closes(body: Buffer, at: number): boolean | undefined {
  let length = 0
  while (length < 5 && at + length < body.length && body[at + length++] !== lineFeed);
  if (length === 0 || length > 4) return undefined
  const [first, second, third, fourth] = body.subarray(at, at + length)
  if (isLineEnd(first)) return false
  const isClose =
    first === dash &&
    (second ?? dash) === dash &&
    isLineEnd(third ?? lineFeed) &&
    (fourth ?? lineFeed) === lineFeed
  return isClose || undefined
}

function isPadded(body: Buffer, at: number): boolean {
  const start = body[at] === dash && body[at + 1] === dash ? at + 2 : at
  return body[start] === 0x20 || body[start] === 0x09
}

function isLineEnd(code: number | undefined): boolean {
  return code === lineFeed || code === carriageReturn
}

/** The content of a part up to its delimiter, without the line end before it. */
function contentBefore(body: Buffer, start: number, { start: end, isClose }: Delimiter): Buffer {
  let last = end
  if (last > start && body[last - 1] === lineFeed) last--
  if (last > start && last < end && body[last - 1] === carriageReturn) last--
  // mailparser keeps the line end of a part that consists of nothing else, except of the last part.
  return body.subarray(start, last === start && !isClose ? end : last)
}

const headerLinesMax = 100

/**
 * Reads the header of a part; undefined when it is unusual, or unfinished before the next
 * delimiter.
 */
function readEntity(
  body: Buffer,
  start: number,
  delimiter: Buffer | undefined,
): { part: Part; bodyAt: number } | undefined {
  const header: PartHeader = {}
  let fieldAt = start
  let fieldEnd = start
  const keep = () => {
    const first = body[fieldAt] ?? 0
    if (fieldEnd === fieldAt) return true
    const raw = body.toString('latin1', fieldAt, fieldEnd)
    if ((first | 0x20) !== 0x63) return !loneReturn.test(raw)
    const colon = raw.indexOf(':')
    const lineEnd = raw.indexOf('\n')
    if (colon < 0 || (lineEnd >= 0 && lineEnd < colon)) return false
    return addField(header, raw.slice(0, colon).trim().toLowerCase(), raw)
  }
  let at = start
  for (let lines = 0; lines < headerLinesMax; lines++) {
    const found = body.indexOf(lineFeed, at)
    if (found < 0) return undefined
    const first = body[at]
    const isBlank = found === at || (found === at + 1 && first === carriageReturn)
    if (first === 0x20 || first === 0x09) {
      if (at === start) return undefined
    } else if (first === carriageReturn && !isBlank) return undefined
    else if (first === dash && delimiter && startsWith(body, at, delimiter)) return undefined
    else {
      if (!keep()) return undefined
      fieldAt = at
    }
    if (isBlank) {
      const part = readPart(header)
      return part && { part, bodyAt: found + 1 }
    }
    fieldEnd = body[found - 1] === carriageReturn ? found - 1 : found
    at = found + 1
  }
  return undefined
}

function startsWith(body: Buffer, at: number, text: Buffer): boolean {
  return body.subarray(at, at + text.length).equals(text)
}

/** A text that is shown, or an attachment. */
export type BodyPiece = { text: string; isPage: boolean; isAlternative: boolean } | BodyAttachment

/** Decodes a leaf; undefined if it cannot be decoded with certainty. */
function pieceOf({ part, content, isAlternative }: Leaf): BodyPiece | undefined {
  const { type, name, encoding, isAttachment } = part
  if (!isAttachment) {
    const text = decodeText(content, part)
    return text === undefined ? undefined : { text, isPage: type === 'text/html', isAlternative }
  }
  const bytes = decodedBytes(content, encoding)
  return bytes && { name, type, content: bytes }
}

/** Joins the pieces of a message in their order, as mailparser does. */
export function composeBody(pieces: readonly BodyPiece[]): MessageBody {
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

function decodedBytes(content: Buffer, encoding: string): Buffer | undefined {
  if (encoding === 'base64') return decodeBase64(content)
  return encoding === 'quoted-printable' ? decodeQuoted(content) : content
}
