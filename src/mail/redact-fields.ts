import type { AddressRedactor } from './address-redactor.ts'
import { redactedDomain } from './address-redactor.ts'
import { decodeHeaderText } from './encoded-word.ts'
import type { HeaderField } from './header.ts'
import { newField } from './mime-tree.ts'
import { composeEncodedWords, foldText } from './seven-bit.ts'
import type { TokenRedactor } from './token-redactor.ts'

/** What is to be replaced; without `tokens` those are left, for who gave them out. */
export type Redactors = { people: AddressRedactor; tokens: TokenRedactor | undefined }

/** Whether a header is that of the message itself or of something inside it. */
export type Level = 'top' | 'inner'

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
  const { delivered, claimed } = recipientsIn(fields)
  return [...new Set([...delivered, ...claimed])]
}

/** Those that the provider wrote, and those that the author claims. */
export function recipientsIn(fields: readonly HeaderField[]): {
  delivered: string[]
  claimed: string[]
} {
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
  return { delivered, claimed }
}

/**
 * The fields without the reporter: those that exist to name the mailbox are dropped, recipients are
 * their codes, and whatever else names a person or holds a token says its code instead.
 */
export function redactFields(
  fields: readonly HeaderField[],
  { people, tokens }: Redactors,
  level: Level,
): HeaderField[] {
  const kept = fields.filter(({ key }) => level === 'inner' || !mailboxFields.has(key))
  const naming = fieldsTelling(kept, people)
  return kept.map((field) => {
    if (level === 'top' && recipientFields.has(field.key)) return redactRecipients(field, people)
    const named = naming.has(field) ? redactField(field, people) : field
    const opaque = tokens ? redactTokens(named, tokens) : named
    if (named === field && opaque !== field) people.vouchFor(wordsOf(opaque))
    return opaque
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

function redactTokens(field: HeaderField, tokens: TokenRedactor): HeaderField {
  if (tokens.leaves(field)) return field
  // A link or an address in angle brackets is one, wherever its line was folded.
  const raw =
    field.raw.includes('<') && field.raw.includes('\r\n')
      ? field.raw.replace(/<[^<>]*\r\n[^<>]*>/g, (one) => one.replace(/\r\n[ \t]+/g, ''))
      : field.raw
  const value = raw.slice(raw.indexOf(':') + 1)
  if (value.includes('=?')) {
    const readable = decodeHeaderText(unfolded(field))
    const redacted = tokens.redactField({ ...field, raw: `${field.name}: ${readable}` })
    if (redacted.trim() === readable.trim()) return field
    const ascii = composeEncodedWords(Buffer.from(redacted.trim()).toString('latin1'))
    return newField(field.name, foldText(ascii, field.name.length + 2))
  }
  const redacted = tokens.redactField({ ...field, raw })
  return redacted === value ? field : withRaw(field, `${raw.slice(0, -value.length)}${redacted}`)
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
export function tells(field: HeaderField, redactor: AddressRedactor): boolean {
  const value = unfolded(field)
  if (redactor.findsIn([field.raw, value]).includes(true)) return true
  return value.includes('=?') && redactor.finds(decodeHeaderText(value))
}

/** The fields that name the reporter, folds and encoded words undone, in two searches for all. */
export function fieldsTelling(
  fields: readonly HeaderField[],
  redactor: AddressRedactor,
): Set<HeaderField> {
  const inWords = fields.filter(({ raw }) => raw.includes('=?'))
  const asWritten = redactor.findsIn(fields.map(wordsOf))
  const decoded = redactor.findsIn(inWords.map(({ raw }) => decodeHeaderText(raw)))
  return new Set([
    ...fields.filter((_, index) => asWritten[index]),
    ...inWords.filter((_, index) => decoded[index]),
  ])
}

function wordsOf(field: HeaderField): string {
  return `${field.name}:${unfolded(field)}`
}

function unfolded({ raw }: HeaderField): string {
  const value = raw.slice(raw.indexOf(':') + 1)
  if (!value.includes('\r\n')) return value
  return value.replace(/\r\n[ \t]+/g, raw.includes('=?') ? ' ' : '')
}
