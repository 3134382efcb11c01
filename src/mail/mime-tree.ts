import { type HeaderField, parseHeader } from './header.ts'
import { partFields } from './part-fields.ts'
import { decodeTransfer, type TransferEncoding } from './transfer-encoding.ts'

/**
 * One MIME entity (RFC 2045 §2.4), a message or a part of one, as the bytes it consists of.
 * Composing a parsed entity gives the original bytes, except for header lines that are not fields.
 * All text is a Latin-1 view with CRLF line ends.
 */
export type Entity = {
  fields: HeaderField[]
  /** In lower case; `text/plain` when the header names no type (RFC 2045 §5.2). */
  type: string
  encoding: TransferEncoding
  body: Body
}

/** The content of an entity: bytes, an attached message, or parts. */
type Body = { kind: 'leaf'; text: string } | { kind: 'message'; message: Entity } | Multipart

/** The parts of a multipart and all text between them (RFC 2046 §5.1). */
type Multipart = {
  kind: 'multipart'
  preamble: string
  /** Each part with the delimiter line before it; that line includes the CRLF before it. */
  parts: { delimiter: string; entity: Entity }[]
  /** The closing delimiter line, empty when it is missing. */
  close: string
  epilogue: string
}

const depthMax = 30
const partsMax = 2000
const fieldsMax = 20_000
/**
 * A longer boundary is ignored (RFC 2046 §5.1.1): the time to search content that resembles it
 * would grow with its length.
 */
const boundaryCharsMax = 70

/**
 * Parses a message whose line ends may be CRLF, LF or CR alone. Undefined when it nests deeper than
 * 30 levels or has more than 2,000 parts or 20,000 fields, which no mail program writes. A
 * multipart without its boundary is a leaf. Linear in bytes times levels. Never throws.
 */
export function parseMimeTree(raw: Buffer): Entity | undefined {
  const budget = { parts: partsMax, fields: fieldsMax }
  return parseEntity(withCrlf(raw), 'text/plain', 0, budget)
}

function findField(fields: readonly HeaderField[], key: string): HeaderField | undefined {
  return fields.find((field) => field.key === key)
}

/** All leaves of a tree in their order. */
export function leavesOf(entity: Entity): Entity[] {
  const { body } = entity
  if (body.kind === 'leaf') return [entity]
  if (body.kind === 'message') return leavesOf(body.message)
  return body.parts.flatMap((part) => leavesOf(part.entity))
}

/** The first part of the given type that is not inside an attached message. */
export function ownPart(entity: Entity, type: string): Entity | undefined {
  if (entity.type === type) return entity
  if (entity.body.kind !== 'multipart') return undefined
  for (const part of entity.body.parts) {
    const found = ownPart(part.entity, type)
    if (found) return found
  }
  return undefined
}

/** The decoded bytes of a leaf; still encoded if we cannot decode its transfer encoding. */
export function leafText({ body, encoding }: Entity): string {
  if (body.kind !== 'leaf') return ''
  const isEncoded = encoding === 'base64' || encoding === 'quoted-printable'
  return isEncoded ? decodeTransfer(body.text, encoding) : body.text
}

/**
 * The value of the first field with the given name (in lower case); undefined when there is none.
 */
export function entityField(entity: Entity, key: string): string | undefined {
  return findField(entity.fields, key)?.value
}

/** Creates a header field; `value` may contain folds. */
function withCrlf(raw: Buffer): Buffer {
  const text = raw.toString('latin1')
  let at = text.indexOf('\n')
  if (at < 0) return Buffer.from(text.replaceAll('\r', '\r\n'), 'latin1')
  while (at >= 0 && text.charCodeAt(at - 1) === 0x0d) at = text.indexOf('\n', at + 1)
  return at < 0 ? raw : Buffer.from(text.replace(/(?<!\r)\n/g, '\r\n'), 'latin1')
}

type Budget = { parts: number; fields: number }

function parseEntity(
  raw: Buffer,
  usualType: string,
  depth: number,
  budget: Budget,
): Entity | undefined {
  budget.parts -= 1
  if (depth > depthMax || budget.parts < 0) return undefined
  const { fields, bodyOffset } = parseHeader(raw)
  budget.fields -= fields.length
  if (budget.fields < 0) return undefined
  const { type: named, boundaries, encoding } = partFields(fields)
  const isUntyped = findField(fields, 'content-type') === undefined
  const type = named ?? (isUntyped ? usualType : 'text/plain')
  const content = raw.subarray(bodyOffset)
  const entity = { fields, type, encoding }
  if (named === undefined || type.startsWith('multipart/')) {
    const isDigest = type === 'multipart/digest'
    for (const boundary of boundaries.filter(({ length }) => length <= boundaryCharsMax)) {
      const body = parseMultipart(content, boundary, isDigest, depth, budget)
      if (body === undefined) return undefined
      if (body !== 'none') return { ...entity, body }
    }
  }
  if (isMessageType(type) && encoding === 'identity') {
    const message = parseEntity(content, 'text/plain', depth + 1, budget)
    return message && { ...entity, body: { kind: 'message', message } }
  }
  return { ...entity, body: { kind: 'leaf', text: content.toString('latin1') } }
}

function isMessageType(type: string): boolean {
  return type === 'message/rfc822' || type === 'message/global'
}

function parseMultipart(
  content: Buffer,
  boundary: string,
  isDigest: boolean,
  depth: number,
  budget: Budget,
): Multipart | 'none' | undefined {
  const lines = delimiterLines(content, boundary)
  const first = lines[0]
  if (first === undefined || first.isClose) return 'none'
  const usualType = isDigest ? 'message/rfc822' : 'text/plain'
  const parts: Multipart['parts'] = []
  let close = ''
  let epilogue = ''
  for (const [index, line] of lines.entries()) {
    const delimiter = content.toString('latin1', line.start, line.end)
    if (line.isClose) {
      close = delimiter
      epilogue = content.toString('latin1', line.end)
      break
    }
    const end = lines[index + 1]?.start ?? content.length
    const entity = parseEntity(content.subarray(line.end, end), usualType, depth + 1, budget)
    if (entity === undefined) return undefined
    parts.push({ delimiter, entity })
  }
  return {
    kind: 'multipart',
    preamble: content.toString('latin1', 0, first.start),
    parts,
    close,
    epilogue,
  }
}

/** The delimiter lines up to the closing one, each with the CRLF before it and its own line end. */
function delimiterLines(content: Buffer, boundary: string) {
  const lines: { start: number; end: number; isClose: boolean }[] = []
  const mark = Buffer.from(`--${boundary}`, 'latin1')
  let from = 0
  for (;;) {
    const at = content.indexOf(mark, from)
    if (at < 0) return lines
    from = at + mark.length
    if (at > 0 && content[at - 1] !== 0x0a) continue
    const lineEnd = content.indexOf('\n', at)
    const end = lineEnd < 0 ? content.length : lineEnd + 1
    const rest = content.toString('latin1', from, Math.min(end, from + 200)).trim()
    if (rest !== '' && rest !== '--') continue
    const previousEnd = lines.at(-1)?.end ?? 0
    lines.push({ start: Math.max(previousEnd, at - 2), end, isClose: rest === '--' })
    if (rest === '--') return lines
    from = end
  }
}
