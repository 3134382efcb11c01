import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, looksLikeMessage, parseHeader } from '../header.ts'
import { readMessage, type ReadMessage } from '../message.ts'
import { decodeTransfer, transferEncoding } from '../transfer-encoding.ts'
import { looksMbox, splitMbox } from './mailbox-file.ts'

/**
 * The message in given bytes, or why there is none: `line` is the first line that is no part of a
 * header, counted from one, and `text` its beginning.
 */
export type SavedMessage =
  | { message: ReadMessage }
  | { refusal: 'not-a-message'; line?: number; text?: string }
  | { refusal: 'several-messages' }

/** Removes what a program or a person put around a message; undefined if it is not there. */
type Layer = (given: ReadMessage) => Buffer | undefined

const LAYERS_MAX = 4
/** Maximum number of bytes before a message, and of its header, that are examined. */
const HEAD_BYTES_MAX = 256 * 1024
const LINES_MAX = 5_000

/**
 * Finds the message in what a program saved or a person copied: after a byte order mark or blank
 * lines, in UTF-16, below the table of a page that shows a source, in the HTML of such a page, with
 * HTML entities, indented or quoted, in base64 or quoted-printable as a whole, or with header lines
 * that were wrapped. An ordinary message is returned unchanged, also with an mbox line before it.
 * Linear; never throws.
 */
export function openSaved(bytes: Buffer): SavedMessage {
  let current = readMessage(bytes)
  for (let count = 0; count < LAYERS_MAX; count++) {
    const inside = firstOf(current)
    if (!inside) break
    current = readMessage(inside)
  }
  if (looksMbox(current.raw) && splitMbox(current.raw, 2).messages.length > 1) {
    return { refusal: 'several-messages' }
  }
  return looksLikeMessage(current.header) ? { message: current } : faultOf(bytes)
}

function firstOf(given: ReadMessage): Buffer | undefined {
  for (const layer of isOrdinary(given) ? ordinaryLayers : layers) {
    const inside = layer(given)
    if (inside) return inside
  }
  return undefined
}

/** Whether the bytes begin with the header of a message; it may still be damaged. */
function isOrdinary({ raw, header }: ReadMessage): boolean {
  return firstLine.test(raw.toString('latin1', 0, 140)) && looksLikeMessage(header)
}

function isMessage(bytes: Buffer): boolean {
  return looksLikeMessage(parseHeader(bytes))
}

function ifMessage(bytes: Buffer): Buffer | undefined {
  return isMessage(bytes) ? bytes : undefined
}

const blankStart = /^(?:\xef\xbb\xbf|\xe2\x80[\x8b\x8e\x8f]|\xc2\xa0|[\t\n\v\f\r ])+/
const fieldLine = /^[\x21-\x39\x3b-\x7e]{1,128}[ \t]*:/
const firstLine = new RegExp(`${fieldLine.source}|^>?From `)

function headOf({ raw }: ReadMessage): string {
  return raw.toString('latin1', 0, HEAD_BYTES_MAX)
}

/** Removes a byte order mark, invisible characters and blank lines before the first field. */
function withoutBlankStart(given: ReadMessage): Buffer | undefined {
  const head = headOf(given)
  const length = blankStart.exec(head)?.[0].length ?? 0
  if (length === 0) return undefined
  const lineStart = Math.max(head.lastIndexOf('\n', length - 1), head.lastIndexOf('\r', length - 1))
  const indent = /^[ \t]+/.exec(head.slice(lineStart + 1, length))?.[0]
  // If all fields are indented, the first one must stay like the others.
  const isIndented = indent !== undefined && indentedFields(head.slice(length), indent)
  const isField = firstLine.test(head.slice(length, length + 140))
  const start = isIndented || !isField ? lineStart + 1 : length
  return start > 0 && start < given.raw.length ? given.raw.subarray(start) : undefined
}

function indentedFields(rest: string, indent: string): boolean {
  for (const line of rest.split(/\r\n|\r|\n/, 100)) {
    if (line.trim() === '') return false
    if (line.startsWith(indent) && fieldLine.test(line.slice(indent.length))) return true
    if (fieldLine.test(line)) continue
  }
  return false
}

/** Converts UTF-16, with or without its mark, to UTF-8. */
function fromUtf16({ raw }: ReadMessage): Buffer | undefined {
  const mark = raw.length > 1 ? raw.readUInt16BE() : 0
  const charset = mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : unmarkedUtf16(raw)
  return charset && Buffer.from(new TextDecoder(charset).decode(raw))
}

function unmarkedUtf16(raw: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const start = raw.subarray(0, 64)
  if (start.length < 16) return undefined
  const zeros = [0, 0]
  for (const [at, byte] of start.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  const most = Math.floor(start.length / 2) - 1
  if (odd >= most && even === 0) return 'utf-16le'
  return even >= most && odd === 0 ? 'utf-16be' : undefined
}

const sourceElement = /<(pre|textarea|xmp)\b[^<>]{0,2000}>/gi

/** Finds the source of a message in the saved page that shows it. */
function fromHtmlPage(given: ReadMessage): Buffer | undefined {
  if (!/^\s*<[!a-z]/i.test(headOf(given).slice(0, 1000))) return undefined
  const page = given.raw.toString('latin1')
  const small = page.toLowerCase()
  let count = 0
  for (const found of page.matchAll(sourceElement)) {
    const start = found.index + found[0].length
    const end = small.indexOf(`</${found[1]?.toLowerCase()}`, start)
    const inside = page.slice(start, end < 0 ? page.length : end)
    const text = entitiesDecoded(
      inside.replace(/<br\s{0,3}\/?>(?:\r?\n)?/gi, '\n').replace(/<\/?[a-z][^<>]{0,2000}>/gi, ''),
      true,
    )
    const blank = blankStart.exec(text.slice(0, HEAD_BYTES_MAX))?.[0].length ?? 0
    const bytes = Buffer.from(text.slice(blank), 'latin1')
    if (isMessage(bytes)) return bytes
    // An element without an end contains all others.
    if (end < 0 || ++count >= ELEMENTS_MAX) return undefined
  }
  return undefined
}

const ELEMENTS_MAX = 20
const entities: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' },
}

/** Decodes the entities with which programs escape a text; others are left as they are. */
function entitiesDecoded(text: string, isPage: boolean): string {
  return text.replace(
    /&(?:#(\d{1,3})|#x([\da-f]{1,2})|([a-z]{2,4}));/gi,
    (whole, decimal, hex, name) => {
      if (name !== undefined) {
        const sign = entities[String(name).toLowerCase()] ?? whole
        return isPage || sign !== ' ' ? sign : whole
      }
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code < 0x7f && (isPage || code > 0x20) ? String.fromCharCode(code) : whole
    },
  )
}

const escapedAddress = /&(?:lt|#60|#x3c);[^<>&\s]{1,320}@[^<>&\s]{1,320}&(?:gt|#62|#x3e);/i

/**
 * Undoes the escaping of a message for HTML: it then has no angle bracket at all. White space is
 * never escaped, but a client can write such an entity in its host name, which servers record.
 */
function unescaped({ raw, header: { bodyOffset } }: ReadMessage): Buffer | undefined {
  if (raw.includes(0x3c) || raw.includes(0x3e)) return undefined
  const head = raw.toString('latin1', 0, Math.max(bodyOffset, 8_192))
  if (!escapedAddress.test(head)) return undefined
  return ifMessage(Buffer.from(entitiesDecoded(raw.toString('latin1'), false), 'latin1'))
}

/** Blanks in a line, and line ends, which no program encodes in a header. */
const encodedBlank = /(?<!\n)=(?:[01][\dA-F]|20|7F)(?!=?[ \t]{0,20}\r?\n)|=0[AD]/i

/**
 * Decodes a message that is in quoted-printable with its header. A client can write an encoded line
 * end in its host name, which servers record; decoded, it would forge lines of the server.
 */
function fromQuotedPrintable(given: ReadMessage): Buffer | undefined {
  const { raw, header } = given
  const start = raw.toString('latin1', 0, header.bodyOffset)
  if (!start.includes('=3D') && !/=\r?\n/.test(start)) return undefined
  if (encodedBlank.test(start)) return undefined
  if (/=(?![\dA-Fa-f]{2}|[ \t]{0,20}\r?\n|$)/.test(headOf(given))) return undefined
  return ifMessage(decodeTransfer(raw, 'quoted-printable'))
}

const DATA_URL = /^data:[^,]{0,200};base64,/

/** Decodes a message that is in base64 with its header. */
function fromBase64({ raw }: ReadMessage): Buffer | undefined {
  const start = DATA_URL.exec(raw.toString('latin1', 0, 300))?.[0].length ?? 0
  const text = raw.toString('latin1', start)
  if (!isBase64(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return isMessage(bytes) || bytes[0] === 0xef ? bytes : undefined
}

const BASE64_MIN = 40

/** Searches for another character: matching all of a long text needs a deep stack. */
function isBase64(text: string): boolean {
  const found = text.search(/[^A-Za-z0-9+/\s]/)
  const end = found < 0 ? text.length : found
  return end >= BASE64_MIN && /^={0,2}\s{0,100}$/.test(text.slice(end))
}

/** Decodes a MIME part that holds a message, with its own fields before it. */
function fromPart({ raw, header: { fields, bodyOffset } }: ReadMessage): Buffer | undefined {
  if (!fields.some(({ key }) => key.startsWith('content-')) || looksLikeMessage({ fields })) {
    return undefined
  }
  const encoding = transferEncoding(fieldValue(fields, 'content-transfer-encoding'))
  return ifMessage(decodeTransfer(raw.subarray(bodyOffset), encoding))
}

/**
 * Finds the source of a message below lines of a page or program that shows it. The header above
 * has no Received field: one that has was written by a mail server, and nothing of it is skipped.
 * Below a header, the source must have its subject.
 */
function belowPage(given: ReadMessage): Buffer | undefined {
  const { fields } = given.header
  if (fields.some(({ key }) => messageFields.has(key))) return undefined
  const subject = looksLikeMessage({ fields }) ? subjectOf(given) : undefined
  const start = sourceStart(headOf(given))
  if (start === undefined) return undefined
  const source = given.raw.subarray(start)
  return subject === undefined || subjectOf(readMessage(source)) === subject ? source : undefined
}

/** Fields that a page does not show in its table, but a message has. */
const messageFields = new Set([
  ...['received', 'return-path', 'delivered-to', 'arc-seal'],
  ...['mime-version', 'content-type', 'content-transfer-encoding'],
])

function subjectOf({ header: { fields } }: ReadMessage): string {
  return decodeHeaderText((fieldValue(fields, 'subject') ?? '').slice(0, 2_000)).trim()
}

/** Where the first block of fields begins that has Received and is a header; after other lines. */
function sourceStart(head: string): number | undefined {
  let block: { start: number; fields: { key: string }[] } | undefined
  for (const { start, text } of linesOf(head)) {
    if (block && /^[ \t]+\S/.test(text)) continue
    const isField = fieldLine.test(text)
    if (isField) {
      block ??= { start, fields: [] }
      block.fields.push({ key: text.slice(0, text.indexOf(':')).trimEnd().toLowerCase() })
    } else if (block) {
      if (isSource(block)) return block.start
      block = undefined
    }
  }
  return block && isSource(block) ? block.start : undefined
}

function isSource({ start, fields }: { start: number; fields: { key: string }[] }): boolean {
  return start > 0 && fields.some(({ key }) => key === 'received') && looksLikeMessage({ fields })
}

const TRACE_CHARS_MAX = 4_000

type Line = { start: number; text: string; end: number }

/** The first lines of a text, without their line ends. */
function* linesOf(text: string): Generator<Line> {
  const separator = text.includes('\n') ? '\n' : '\r'
  let start = 0
  for (let count = 0; start < text.length && count < LINES_MAX; count++) {
    const found = text.indexOf(separator, start)
    const end = found < 0 ? text.length : found + 1
    yield { start, text: withoutLineEnd(text.slice(start, end)), end }
    start = end
  }
}

function withoutLineEnd(line: string): string {
  let end = line.length
  while (line[end - 1] === '\n' || line[end - 1] === '\r') end--
  return line.slice(0, end)
}

/** Removes the indentation, or the marks of a quotation, before every line of a message. */
function unindented(given: ReadMessage): Buffer | undefined {
  const head = headOf(given)
  const prefix = /^(?:[ \t]+|(?:[>|] ?){1,5})(?=[\x21-\x39\x3b-\x7e]{1,80}:)/.exec(head)?.[0]
  if (prefix === undefined) return undefined
  const bare = prefix.trimEnd()
  const text = given.raw.toString('latin1')
  const lines = text.split('\n').map((line) => {
    if (line.startsWith(prefix)) return line.slice(prefix.length)
    return bare !== '' && line.startsWith(bare) ? line.slice(bare.length) : line
  })
  return ifMessage(Buffer.from(lines.join('\n'), 'latin1'))
}

/**
 * Joins header lines that were wrapped when the message was copied: a line that is neither a field
 * nor indented, inside a field that is not complete without it.
 */
function rejoined({ raw, header }: ReadMessage): Buffer | undefined {
  const isBroken = !looksLikeMessage(header) || endsBeforeAuthor(raw, header)
  if (!isBroken && !hasStrayLines(raw, header)) return undefined
  const head = raw.toString('latin1', 0, isBroken ? HEAD_BYTES_MAX : header.bodyOffset)
  const joined: string[] = []
  let field = ''
  let end = 0
  let isChanged = false
  for (const line of linesOf(head)) {
    if (line.text.trim() === '') break
    const isFold = /^[ \t]/.test(line.text)
    const isField = !isFold && fieldLine.test(line.text)
    if (!isField && !isFold && field !== '' && (isBroken || isOpenTrace(field))) {
      const before = withoutLineEnd(joined.pop() ?? '')
      joined.push(/[ \t]$/.test(before) ? before : `${before} `)
      isChanged = true
    } else if (isField) field = ''
    joined.push(head.slice(line.start, line.end))
    field = `${field} ${line.text}`.slice(0, TRACE_CHARS_MAX)
    end = line.end
  }
  if (!isChanged) return undefined
  const made = Buffer.concat([Buffer.from(joined.join(''), 'latin1'), raw.subarray(end)])
  const { fields } = parseHeader(made)
  const isRepaired = looksLikeMessage({ fields }) && (!isBroken || hasAuthor(fields))
  return isRepaired ? made : undefined
}

const isFoldLine = (line: string) => /^[ \t]+\S/.test(line)

/** Whether a Received field lacks its date, with which it ends. */
function isOpenTrace(field: string): boolean {
  const date = field.indexOf(';')
  return /^ received[ \t]*:/i.test(field) && (date < 0 || !/\d:\d\d/.test(field.slice(date)))
}

const hasAuthor = (fields: readonly { key: string }[]) => fields.some(({ key }) => key === 'from')

/** Whether the header ends at a line of text before the author is named. */
function endsBeforeAuthor(raw: Buffer, { fields, bodyOffset }: ReadMessage['header']): boolean {
  if (hasAuthor(fields) || bodyOffset === 0 || bodyOffset >= raw.length) return false
  const line = raw.toString('latin1', Math.max(0, bodyOffset - 4), bodyOffset)
  return !/(?:\n\r?\n|\r\r)$/.test(line)
}

function hasStrayLines(raw: Buffer, { fields, bodyOffset }: ReadMessage['header']): boolean {
  const eol = raw[raw.indexOf(0x0a) - 1] === 0x0d ? 2 : 1
  const written = fields.reduce((sum, field) => sum + field.raw.length + eol, 0)
  return bodyOffset - written > eol
}

const layers: readonly Layer[] = [
  ...[fromUtf16, withoutBlankStart, fromHtmlPage, unescaped, fromQuotedPrintable, fromBase64],
  ...[fromPart, unindented, belowPage, rejoined],
]

/** What may be around bytes that read as a message already. */
const ordinaryLayers: readonly Layer[] = [unescaped, fromQuotedPrintable, belowPage, rejoined]

const SHOWN_CHARS = 40

/** Names the first line that is no part of a header. */
function faultOf(bytes: Buffer): SavedMessage {
  const refusal = 'not-a-message'
  const head = bytes.toString('latin1', 0, HEAD_BYTES_MAX)
  let line = 0
  for (const { text, start } of linesOf(head)) {
    line++
    if (text.replace(blankStart, '') === '') continue
    if (fieldLine.test(text) || isFoldLine(text) || /^>?From /.test(text)) continue
    const shown =
      bytes
        .subarray(start, start + SHOWN_CHARS)
        .toString()
        .split(/[\r\n]/, 1)[0] ?? ''
    return { refusal, line, text: shown.replace(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, ' ').trim() }
  }
  return { refusal }
}
