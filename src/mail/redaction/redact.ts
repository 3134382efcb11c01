import { createHash } from 'node:crypto'
import { parseMailboxes } from '../address.ts'
import { decodeHeaderText, decodeUtf7 } from '../encoded-word.ts'
import type { HeaderField } from '../header.ts'
import {
  type Body,
  composeMimeTree,
  type Entity,
  entityField,
  entityText,
  isReadBack,
  leafText,
  leavesOf,
  newField,
  parseMimeTree,
} from '../mime-tree.ts'
import { partFields } from '../part-fields.ts'
import { composeEncodedWords } from '../seven-bit.ts'
import { encodeTransfer } from '../transfer-encoding.ts'
import { createAddressRedactor } from './address-redactor.ts'
import { identifyingFields, recipientsIn, redactFields, type Redactors } from './redact-fields.ts'
import { localParts, reporterNames } from './reporter-names.ts'
import { createTokenRedactor } from './token-redactor.ts'

/** A message as one consumer may see it. */
export type Redaction = {
  /** The message as a receiver parses it; only the header and no body if `form` is `headers`. */
  tree: Entity
  /** `headers` if part of the body could not be searched, or would take too long. */
  form: 'whole' | 'headers'
  /** Redacts texts about the message in the same way: return path, links, explanations. */
  redactText: (text: string) => string
  /** The code of the recipient. */
  recipient: string | undefined
}

/** The options of a redaction: what to redact in a message, and how. */
export type RedactionOptions = {
  /** The reporter's own addresses; those in the header are found automatically. */
  addresses: readonly string[]
  /**
   * Author addresses that passed authentication. They are kept even if To or Cc repeats them, as in
   * mail with hidden recipients, because the abuse desk needs them.
   */
  authors?: readonly string[]
  /** The consumer's key, from `redactionKey`. */
  key: Buffer
  /** Whether opaque tokens are kept: only for the consumer that issued them. */
  tokens: 'redacted' | 'kept'
}

/**
 * Redacts the reporter in a message (RFC 6590). `addresses`, and the recipients in the header (To,
 * Cc, Delivered-To and similar fields, `for` in Received), become codes keyed by `key` wherever
 * they occur, also in encoded text. So do their names and, unless kept, tokens that may identify
 * them. Fields that only identify the mailbox are dropped. Parts with opaque content (archives,
 * PDF, encrypted) are replaced by a note with their checksum. The MIME structure is kept, and so
 * are the bytes of every part without a match.
 *
 * The result is searched once more; in doubt only the header is kept. Linear time.
 */
export function redactMessage(
  raw: Buffer,
  { addresses, key, tokens, authors = [] }: RedactionOptions,
): Redaction {
  const tree = parseMimeTree(raw)
  const fields = tree?.fields ?? []
  const { delivered, claimed: named } = recipientsIn(fields)
  const verified = new Set(authors.map((address) => address.toLowerCase()))
  const claimed = named.filter((address) => !verified.has(address.toLowerCase()))
  const sole = claimed.length === 1 ? claimed : []
  const own = [...addresses, ...delivered.slice(0, deliveredMax), ...sole]
  const everybody = [...addresses, ...delivered, ...claimed]
  const people = createAddressRedactor(everybody, key, reporterNames(fields, own))
  const opaque =
    tokens === 'kept' ? undefined : createTokenRedactor(key, authorsOf(fields), localParts(own))
  const budget = { occurrences: OCCURRENCES_MAX, fieldChars: NAMING_FIELD_CHARS_MAX }
  const redactors: Redactors = { people, tokens: opaque, clean: new Set(), budget }
  const redactText = (text: string) => {
    const named = people.redact(text)
    return opaque ? opaque.redact(named) : named
  }
  const recipient = delivered[0] ?? addresses[0]
  const rest = { redactText, recipient: recipient && people.redact(recipient) }
  const top = redactFields(fields, redactors, 'top')
  const telling = identifyingFields(top, people, redactors.clean)
  const isUnsafe = tree === undefined || telling.size > 0 || isSpent(budget)
  const redacted = isUnsafe ? undefined : redactBody({ ...tree, fields: top }, redactors)
  if (tree && redacted) {
    const read = isReadBack(redacted, tree) ? redacted : readBack(redacted, tree)
    if (read && isClean(read, redacted, redactors)) return { tree: read, form: 'whole', ...rest }
  }
  const safe = top.filter((field) => !telling.has(field) && !isMime(field))
  const headers: Entity = { ...emptyEntity, fields: safe }
  const read = parseMimeTree(composeMimeTree(headers)) ?? emptyEntity
  return { tree: read, form: 'headers', ...rest }
}

/** Returns a tree as a receiver parses it; undefined if its number of leaves changes. */
function readBack(entity: Entity, before: Entity): Entity | undefined {
  const read = parseMimeTree(composeMimeTree(entity))
  return read && leavesOf(read).length === leavesOf(before).length ? read : undefined
}

/**
 * Maximum number of occurrences of the recipient in a message, and maximum number of characters in
 * fields that name the recipient, not counting To and Cc. Above these limits only the header is
 * sent, because each occurrence causes further searches. The maximum in 980 real messages was 176
 * occurrences and 5,206 characters of such fields.
 */
const OCCURRENCES_MAX = 1_000
const NAMING_FIELD_CHARS_MAX = 16 * 1024

function isSpent({ occurrences, fieldChars }: Redactors['budget']): boolean {
  return occurrences < 0 || fieldChars < 0
}

/** Maximum number of addresses written by the provider that count as the reporter's own. */
const deliveredMax = 10

/** Returns the addresses in From. They are kept, because the abuse desk acts on these accounts. */
function authorsOf(fields: readonly HeaderField[]): string[] {
  return fields
    .filter(({ key }) => key === 'from')
    .flatMap(({ value }) => parseMailboxes(decodeHeaderText(value.slice(0, 16 * 1024))))
    .map(({ address }) => address)
}

const emptyEntity: Entity = {
  fields: [],
  type: 'text/plain',
  encoding: 'identity',
  body: { kind: 'leaf', text: '' },
}

/** Redacts a message, or a part inside another one; undefined if it cannot be redacted. */
function redactEntity(entity: Entity, redactors: Redactors): Entity | undefined {
  const fields = redactFields(entity.fields, redactors, 'inner')
  if (isSpent(redactors.budget)) return undefined
  return redactBody({ ...entity, fields }, redactors)
}

/** Redacts the body of an entity whose fields are redacted already. */
function redactBody(entity: Entity, redactors: Redactors): Entity | undefined {
  const { people } = redactors
  const { body } = entity
  if (body.kind === 'leaf') return redactLeaf(entity, redactors)
  if (body.kind === 'message') {
    const message = redactEntity(body.message, redactors)
    return message && { ...entity, body: { kind: 'message', message } }
  }
  const parts: typeof body.parts = []
  for (const part of body.parts) {
    const inner = redactEntity(part.entity, redactors)
    if (inner === undefined) return undefined
    parts.push({ delimiter: people.redact(part.delimiter), entity: inner })
  }
  const spoken = people.redactWithin(redactors.budget, body.preamble)
  if (spoken === undefined) return undefined
  const preamble = redactors.tokens?.redactLinks(spoken) ?? spoken
  const close = people.redact(body.close)
  return { ...entity, body: { ...body, parts, preamble, close, epilogue: '\r\n' } }
}

function isMime({ key }: HeaderField): boolean {
  return key.startsWith('content-') || key === 'mime-version'
}

function redactLeaf(entity: Entity, redactors: Redactors): Entity | undefined {
  const { body, encoding, type } = entity
  const { people, tokens, clean } = redactors
  if (body.kind !== 'leaf' || encoding === undefined) return undefined
  const content = leafText(entity)
  if (!isText(type) && !readsAsText(content)) {
    if (isOpaque(type, content) || people.finds(content)) return withheld(entity, content)
    clean.add(body)
    return entity
  }
  const redacted = redactContent(entity, content, redactors)
  if (redacted === undefined) return undefined
  if (isWide(entity) && (redacted !== content || (tokens && wideLink.test(content)))) {
    return withheld(entity, content)
  }
  if (isUtf7(entity) && people.finds(decodeUtf7(redacted))) return withheld(entity, content)
  if (redacted === content) {
    clean.add(body)
    return entity
  }
  const text = encoding === 'identity' ? redacted : encodeTransfer(redacted, encoding)
  return { ...entity, body: { kind: 'leaf', text } }
}

/**
 * Redacts content with a transfer encoding. An attached message must not be encoded (RFC 2046), but
 * some are encoded anyway, and they are redacted too. Encoded messages may contain further ones; at
 * most `ENCODED_LEVELS_MAX` levels are decoded, because each is parsed again.
 */
function redactContent(entity: Entity, content: string, redactors: Redactors): string | undefined {
  const { encodedLevels = ENCODED_LEVELS_MAX } = redactors
  const isMessage =
    encodedLevels > 0 &&
    entity.encoding !== 'identity' &&
    /^message\/(?:rfc822|global)/.test(entity.type)
  const inner = isMessage ? parseMimeTree(Buffer.from(content, 'latin1')) : undefined
  const within = { ...redactors, encodedLevels: encodedLevels - 1 }
  const redacted = inner && redactEntity(inner, within)
  const { people, budget } = redactors
  const text = people.redactWithin(budget, redacted ? entityText(redacted) : content)
  if (text === undefined) return undefined
  const opaque = redactors.tokens ? redactors.tokens.redactLinks(text) : text
  people.vouchFor(opaque, text)
  return opaque
}

const ENCODED_LEVELS_MAX = 3
const wideLink = /h\0t\0t\0p/i

function isText(type: string): boolean {
  return type.startsWith('text/') || type.startsWith('multipart/') || type.startsWith('message/')
}

const textStart = /^(?:\xef\xbb\xbf)?\s{0,200}(?:<[!?a-z]|begin:v|[a-z][\w-]{1,40}:[ \t])/i

/**
 * Whether the content is a page, a calendar or a message with another declared type; it is redacted
 * by its real type.
 */
function readsAsText(content: string): boolean {
  return textStart.test(content.slice(0, 400)) && !/[\0-\x08\x0e-\x1a]/.test(content.slice(0, 4096))
}

/** Whether the charset uses several bytes for every letter, so that a code would not fit in. */
function isWide(entity: Entity): boolean {
  return /^"?(?:utf-?(?:16|32)|ucs)/i.test(charsetOf(entity))
}

function isUtf7(entity: Entity): boolean {
  return /^"?(?:unicode-1-1-|x-)?utf-?7/i.test(charsetOf(entity))
}

function charsetOf(entity: Entity): string {
  return partFields(entity.fields).charset ?? ''
}

const opaqueTypes = /pkcs7|pgp|ms-tnef|pdf|zip|compressed|msword|officedocument|rar|epub/
const opaqueStarts = ['PK\x03\x04', '%PDF', '\x1f\x8b', 'Rar!', '7z\xbc\xaf', 'BZh', '\xfd7zXZ']
const opaqueStartsLess = ['\x28\xb5\x2f\xfd', 'MSCF', '\xd0\xcf\x11\xe0', '-----BEGIN PGP']

/** Whether the content is compressed or encrypted, so that an address inside could not be found. */
function isOpaque(type: string, content: string): boolean {
  if (opaqueTypes.test(type)) return true
  return [...opaqueStarts, ...opaqueStartsLess].some((start) => content.startsWith(start))
}

/** Creates a note that replaces a part, with data to identify the part elsewhere. */
function withheld(entity: Entity, content: string): Entity {
  const bytes = Buffer.from(content, 'latin1')
  const described = composeEncodedWords(entityField(entity, 'content-type') ?? entity.type)
  const text = [
    'This part was removed because it may identify the person who received the message.',
    `Content type: ${described.slice(0, 300)}`,
    `Bytes: ${String(bytes.length)}`,
    `SHA-256: ${createHash('sha256').update(bytes).digest('hex')}`,
  ].join('\r\n')
  const fields = entity.fields.filter(({ key }) => !key.startsWith('content-'))
  fields.push(newField('Content-Type', 'text/plain; charset=us-ascii'))
  const body: Body = { kind: 'leaf', text: `${text}\r\n` }
  return { fields, type: 'text/plain', encoding: 'identity', body }
}

/**
 * Whether the result, parsed as a receiver would, contains no match. What was searched in the
 * redacted tree and is the same in the result is not searched again.
 */
function isClean(read: Entity, sent: Entity | undefined, redactors: Redactors): boolean {
  const { people, clean } = redactors
  const isSame = sent?.fields.length === read.fields.length && sent.fields.every(isFieldOf(read))
  const fields = isSame ? sent.fields : read.fields
  if (identifyingFields(fields, people, clean).size > 0) return false
  const { body } = read
  const other = sent?.body
  if (body.kind === 'leaf') {
    const isKnown =
      other?.kind === 'leaf' &&
      clean.has(other) &&
      read.encoding === sent?.encoding &&
      body.text === other.text
    return isKnown || !people.finds(leafText(read))
  }
  if (body.kind === 'message') {
    return isClean(body.message, other?.kind === 'message' ? other.message : undefined, redactors)
  }
  const parts = other?.kind === 'multipart' ? other.parts : []
  return (
    !people.finds(body.preamble) &&
    body.parts.every(({ entity }, index) => isClean(entity, parts[index]?.entity, redactors))
  )
}

function isFieldOf({ fields }: Entity): (field: HeaderField, index: number) => boolean {
  return ({ raw }, index) => fields[index]?.raw === raw
}
