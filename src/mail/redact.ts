import { createHash } from 'node:crypto'
import { createAddressRedactor, redactedDomain } from './address-redactor.ts'
import type { AddressRedactor } from './address-redactor.ts'
import { decodeHeaderText } from './encoded-word.ts'
import type { HeaderField } from './header.ts'
import { composeMimeTree, fieldParameter, leafText, leavesOf } from './mime-tree.ts'
import { entityField, newField, parseMimeTree } from './mime-tree.ts'
import type { Body, Entity } from './mime-tree.ts'
import { composeEncodedWords, foldText } from './seven-bit.ts'
import { encodeTransfer } from './transfer-encoding.ts'

/** A message as one consumer may see it. */
export type Redaction = {
  /** The message with CRLF line ends; the header alone and an empty body when `form` says so. */
  raw: Buffer
  /** What `raw` was read as in the last search, where it was. */
  tree?: Entity
  /** `headers` when something in the body could not be looked into. */
  form: 'whole' | 'headers'
  /** The same redaction for what is said about the message: return path, links, explanations. */
  redactText: (text: string) => string
}

/**
 * Takes the reporter out of a message (RFC 6590): `addresses` and those the header gives as the
 * recipient's (To, Cc, Delivered-To and their kin, `for` in Received) become codes under `key`
 * wherever they stand, decoded where need be. Fields that exist to name the mailbox are dropped,
 * recipients' display names too. Parts that hide their content (archives, PDF, encrypted) give way
 * to a note with their checksum. MIME structure stays.
 *
 * What comes out is searched once more; when in doubt only the header is left. Linear time.
 */
export function redactMessage(
  raw: Buffer,
  { addresses, key }: { addresses: readonly string[]; key: Buffer },
): Redaction {
  const tree = parseMimeTree(raw)
  const fields = tree?.fields ?? []
  const redactor = createAddressRedactor([...addresses, ...recipientAddresses(fields)], key)
  const redactText = (text: string) => redactor.redact(text)
  const redacted = tree && redactEntity(tree, redactor, 'top')
  if (tree && redacted) {
    const whole = composeMimeTree(redacted)
    const read = parseMimeTree(whole)
    if (read && isClean(read, redactor, leavesOf(tree).length)) {
      return { raw: whole, tree: read, form: 'whole', redactText }
    }
  }
  const safe = redactFields(fields, redactor, 'top').filter((field) => !tells(field, redactor))
  const headers: Entity = { ...emptyEntity, fields: safe.filter((field) => !isMime(field)) }
  return { raw: composeMimeTree(headers), form: 'headers', redactText }
}

const emptyEntity: Entity = {
  fields: [],
  type: 'text/plain',
  encoding: 'identity',
  body: { kind: 'leaf', text: '' },
}

const recipientFields = new Set(['to', 'cc', 'resent-to', 'resent-cc'])

// Written by the reporter's provider or mail program, for the mailbox and nobody else.
const mailboxFields = new Set([
  ...['bcc', 'resent-bcc', 'delivered-to', 'x-delivered-to', 'x-original-to', 'envelope-to'],
  ...['x-envelope-to', 'x-rcpt-to', 'x-real-to', 'x-resolved-to', 'x-forwarded-to'],
  ...['x-forwarded-for', 'original-recipient', 'x-original-recipient', 'x-recipient'],
  ...['x-failed-recipients', 'apparently-to', 'x-apparently-to', 'x-account-key', 'x-uidl'],
  ...['x-gmail-labels', 'x-gm-thrid', 'x-gm-msgid'],
  ...['x-mozilla-status', 'x-mozilla-status2', 'x-mozilla-keys'],
])

const addressInText = /[^\s<>,;:"'()[\]@]{1,128}@[A-Za-z0-9.-]{1,253}/g
const forClause = /\sfor\s+<?([^\s<>;()]{1,128}@[^\s<>;()]{1,253})/gi

/** The addresses a header gives as the recipient's; those the provider wrote come first. */
export function recipientAddresses(fields: readonly HeaderField[]): string[] {
  const delivered: string[] = []
  const claimed: string[] = []
  for (const { key, value } of fields) {
    if (key === 'received') {
      for (const [, address = ''] of ` ${value}`.matchAll(forClause)) delivered.push(address)
    } else if (mailboxFields.has(key) || recipientFields.has(key)) {
      const found = decodeHeaderText(value.slice(0, 64 * 1024)).match(addressInText) ?? []
      if (mailboxFields.has(key)) delivered.push(...found)
      else claimed.push(...found)
    }
  }
  return [...new Set([...delivered, ...claimed])]
}

type Level = 'top' | 'inner'

function redactEntity(entity: Entity, redactor: AddressRedactor, level: Level): Entity | undefined {
  const fields = redactFields(entity.fields, redactor, level)
  const { body } = entity
  if (body.kind === 'leaf') return redactLeaf({ ...entity, fields }, redactor)
  if (body.kind === 'message') {
    const message = redactEntity(body.message, redactor, 'inner')
    return message && { ...entity, fields, body: { kind: 'message', message } }
  }
  const parts: typeof body.parts = []
  for (const part of body.parts) {
    const inner = redactEntity(part.entity, redactor, 'inner')
    if (inner === undefined) return undefined
    parts.push({ delimiter: redactor.redact(part.delimiter), entity: inner })
  }
  const preamble = redactor.redact(body.preamble)
  const close = redactor.redact(body.close)
  return { ...entity, fields, body: { ...body, parts, preamble, close, epilogue: '\r\n' } }
}

function redactFields(
  fields: readonly HeaderField[],
  redactor: AddressRedactor,
  level: Level,
): HeaderField[] {
  const kept = fields.filter(({ key }) => level === 'inner' || !mailboxFields.has(key))
  const naming = fieldsTelling(kept, redactor)
  return kept.map((field) => {
    if (level === 'top' && recipientFields.has(field.key)) return redactRecipients(field, redactor)
    return naming.has(field) ? redactField(field, redactor) : field
  })
}

function redactField(field: HeaderField, redactor: AddressRedactor): HeaderField {
  const { name } = field
  const value = unfolded(field)
  const readable = value.includes('=?') ? decodeHeaderText(value) : value
  const raw = redactor.redact(field.raw)
  const changed = raw === field.raw ? field : withRaw(field, raw)
  // Encoded words must be opened, not searched: half of one would be no word any more.
  const isInWords = readable !== value && redactor.finds(readable)
  if (!isInWords && !tells(changed, redactor)) return changed
  const ascii = composeEncodedWords(Buffer.from(redactor.redact(readable)).toString('latin1'))
  return newField(name, foldText(ascii, name.length + 2))
}

/** Recipients are codes without their names: `To: "Jane Doe" <…>` names her all the same. */
function redactRecipients({ name, value }: HeaderField, redactor: AddressRedactor): HeaderField {
  const found = decodeHeaderText(value.slice(0, 64 * 1024)).match(addressInText) ?? []
  const codes = [...new Set(found)].map((one) => `${redactor.codeOf(one)}@${redactedDomain}`)
  const list = codes.length === 0 ? 'undisclosed-recipients:;' : codes.join(', ')
  return newField(name, foldText(list, name.length + 2))
}

function withRaw(field: HeaderField, raw: string): HeaderField {
  const value = raw
    .slice(raw.indexOf(':') + 1)
    .replace(/\r\n[ \t]+/g, ' ')
    .trim()
  return { name: field.name, key: field.key, raw, value }
}

/** Whether a field still names the reporter when its folds and encoded words are undone. */
function tells(field: HeaderField, redactor: AddressRedactor): boolean {
  const value = unfolded(field)
  if (redactor.finds(field.raw) || redactor.finds(value)) return true
  return value.includes('=?') && redactor.finds(decodeHeaderText(value))
}

/** The fields that name the reporter, folds and encoded words undone, in two searches for all. */
function fieldsTelling(
  fields: readonly HeaderField[],
  redactor: AddressRedactor,
): Set<HeaderField> {
  const inWords = fields.filter(({ raw }) => raw.includes('=?'))
  const asWritten = redactor.findsIn(fields.map((field) => `${field.name}:${unfolded(field)}`))
  const decoded = redactor.findsIn(inWords.map(({ raw }) => decodeHeaderText(raw)))
  return new Set([
    ...fields.filter((_, index) => asWritten[index]),
    ...inWords.filter((_, index) => decoded[index]),
  ])
}

function unfolded({ raw }: HeaderField): string {
  return raw.slice(raw.indexOf(':') + 1).replace(/\r\n[ \t]+/g, raw.includes('=?') ? ' ' : '')
}

function isMime({ key }: HeaderField): boolean {
  return key.startsWith('content-') || key === 'mime-version'
}

function redactLeaf(entity: Entity, redactor: AddressRedactor): Entity | undefined {
  const { body, encoding, type } = entity
  if (body.kind !== 'leaf' || encoding === undefined) return undefined
  const content = leafText(entity)
  if (!isText(type)) {
    return isOpaque(type, content) || redactor.finds(content) ? withheld(entity, content) : entity
  }
  const redacted = redactor.redact(content)
  if (redacted === content) return entity
  if (isWide(entity)) return withheld(entity, content)
  const text = encoding === 'identity' ? redacted : encodeTransfer(redacted, encoding)
  return { ...entity, body: { kind: 'leaf', text } }
}

function isText(type: string): boolean {
  return type.startsWith('text/') || type.startsWith('multipart/') || type.startsWith('message/')
}

/** Whether the charset spends several bytes on every letter, so that a code would not fit in. */
function isWide(entity: Entity): boolean {
  const charset = fieldParameter(entityField(entity, 'content-type') ?? '', 'charset') ?? ''
  return /^"?(?:utf-?(?:16|32)|ucs)/i.test(charset)
}

const opaqueTypes = /pkcs7|pgp|ms-tnef|pdf|zip|compressed|msword|officedocument|rar|epub/
const opaqueStarts = ['PK\x03\x04', '%PDF', '\x1f\x8b', 'Rar!', '7z\xbc\xaf', 'BZh', '\xfd7zXZ']
const opaqueStartsLess = ['\x28\xb5\x2f\xfd', 'MSCF', '\xd0\xcf\x11\xe0', '-----BEGIN PGP']

/** Compressed or encrypted: the reporter's address may be inside, and we would not see it. */
function isOpaque(type: string, content: string): boolean {
  if (opaqueTypes.test(type)) return true
  return [...opaqueStarts, ...opaqueStartsLess].some((start) => content.startsWith(start))
}

/** A note in place of a part, with what is needed to recognize it elsewhere. */
function withheld(entity: Entity, content: string): Entity {
  const bytes = Buffer.from(content, 'latin1')
  const described = composeEncodedWords(entityField(entity, 'content-type') ?? entity.type)
  const text = [
    'This part was left out: it may name the person who received the message.',
    `Described as: ${described.slice(0, 300)}`,
    `Bytes: ${String(bytes.length)}`,
    `SHA-256: ${createHash('sha256').update(bytes).digest('hex')}`,
  ].join('\r\n')
  const fields = entity.fields.filter(({ key }) => !key.startsWith('content-'))
  fields.push(newField('Content-Type', 'text/plain; charset=us-ascii'))
  const body: Body = { kind: 'leaf', text: `${text}\r\n` }
  return { fields, type: 'text/plain', encoding: 'identity', body }
}

/** Whether in the outcome, as its receiver reads it, nothing is found, nor lost a part. */
function isClean(tree: Entity, redactor: AddressRedactor, leaves: number): boolean {
  if (leavesOf(tree).length !== leaves) return false
  return entitiesOf(tree).every((entity) => {
    if (fieldsTelling(entity.fields, redactor).size > 0) return false
    if (entity.body.kind === 'leaf') return !redactor.finds(leafText(entity))
    return entity.body.kind === 'message' || !redactor.finds(entity.body.preamble)
  })
}

function entitiesOf(entity: Entity): Entity[] {
  const { body } = entity
  if (body.kind === 'leaf') return [entity]
  if (body.kind === 'message') return [entity, ...entitiesOf(body.message)]
  return [entity, ...body.parts.flatMap((part) => entitiesOf(part.entity))]
}
