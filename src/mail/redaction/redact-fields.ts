import { decodeHeaderText } from '../encoded-word.ts'
import { type HeaderField, writtenField } from '../header.ts'
import type { Body } from '../mime-tree.ts'
import { composeEncodedWords, foldText } from '../seven-bit.ts'
import { type AddressRedactor, redactedDomain, type RedactionBudget } from './address-redactor.ts'
import type { TokenRedactor } from './token-redactor.ts'

/**
 * The redactors for one message. Without `tokens`, tokens are kept, because the consumer issued
 * them.
 */
export type Redactors = {
  people: AddressRedactor
  tokens: TokenRedactor | undefined
  /** Fields and bodies of leaves that were searched, and in which nothing was found. */
  clean: Set<HeaderField | Body>
  /**
   * The remaining budget for the whole message. `fieldChars`: characters of fields that identify
   * the reporter, not counting lists of recipients.
   */
  budget: RedactionBudget & { fieldChars: number }
  /** The remaining number of nested encoded messages to decode. */
  encodedLevels?: number
}

/** Whether a header is that of the message itself or of something inside it. */
type Level = 'top' | 'inner'

const recipientFields = new Set(['to', 'cc', 'resent-to', 'resent-cc'])
// The person who resent the message to the reporter is usually the reporter, with another address.
const forwarderFields = new Set(['resent-from', 'resent-sender'])

// Fields that the reporter's provider or mail program writes for the mailbox only.
const mailboxFields = new Set([
  ...['bcc', 'resent-bcc', 'delivered-to', 'x-delivered-to', 'x-original-to', 'envelope-to'],
  ...['x-envelope-to', 'x-rcpt-to', 'x-real-to', 'x-resolved-to', 'x-forwarded-to'],
  ...['x-forwarded-for', 'original-recipient', 'x-original-recipient', 'x-recipient'],
  ...['envelope-recipient', 'x-envelope-recipient', 'x-env-recipient', 'x-spam-recipient'],
  ...['x-mdrcpt-to', 'x-mdaemon-deliver-to', 'x-deliver-to', 'x-original-delivered-to'],
  ...['x-google-original-to', 'x-spam-user', 'x-rcpt', 'x-mail-recipient'],
  ...['x-failed-recipients', 'apparently-to', 'x-apparently-to', 'x-account-key', 'x-uidl'],
  ...['x-gmail-labels', 'x-gm-thrid', 'x-gm-msgid'],
  ...['x-mozilla-status', 'x-mozilla-status2', 'x-mozilla-keys'],
])

const localCharsMax = 128
const localEnd = /[\s<>,;:"'()[\]@]/
const domainThere = /[A-Za-z0-9.-]{1,253}/y
const forClause = /\sfor\s+<?([^\s<>;()]{1,128}@[^\s<>;()]{1,253})/gi

/** Returns the recipients that the provider wrote, and the recipients that the author claims. */
export function recipientsIn(fields: readonly HeaderField[]): {
  delivered: string[]
  claimed: string[]
} {
  const delivered: string[] = []
  const claimed: string[] = []
  for (const field of fields) {
    const { key, raw } = field
    if (key === 'received') {
      // Most have no address, and reading a value takes time.
      const value = raw.includes('@') ? ` ${field.value}` : ''
      for (const [, address = ''] of value.matchAll(forClause)) delivered.push(address)
    } else if (mailboxFields.has(key) || recipientFields.has(key)) {
      const found = addressesInText(decodeHeaderText(field.value.slice(0, 64 * 1024)))
      if (mailboxFields.has(key)) delivered.push(...found)
      else claimed.push(...found)
    }
  }
  return { delivered, claimed }
}

/**
 * Returns the strings in a text that look like addresses. Searches from one `@` to the next,
 * because most text has none.
 */
function addressesInText(text: string): string[] {
  const found: string[] = []
  let done = 0
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', Math.max(at + 1, done))) {
    let start = at
    const first = Math.max(done, at - localCharsMax)
    while (start > first && !localEnd.test(text.charAt(start - 1))) start--
    domainThere.lastIndex = at + 1
    if (start === at || !domainThere.test(text)) continue
    done = domainThere.lastIndex
    found.push(text.slice(start, done))
  }
  return found
}

/**
 * Redacts the fields of a header: drops those that only identify the mailbox, replaces recipients
 * by their codes, and replaces names and tokens in all other fields. Also drops fields with
 * personal names once the budget is used up.
 */
export function redactFields(
  fields: readonly HeaderField[],
  { people, tokens, budget, clean }: Redactors,
  level: Level,
): HeaderField[] {
  const kept = fields.filter(({ key }) => level === 'inner' || !mailboxFields.has(key))
  const isList = ({ key }: HeaderField) =>
    level === 'top' && (recipientFields.has(key) || forwarderFields.has(key))
  const naming = identifyingFields(
    kept.filter((field) => !isList(field)),
    people,
    clean,
  )
  return kept.flatMap((original) => {
    let field = original
    if (isList(field)) return redactRecipients(field, people)
    if (field.key === 'received' || field.key === 'x-received')
      field = withoutLocalUser(field, people)
    if (naming.has(original)) {
      budget.fieldChars -= field.raw.length
      if (budget.fieldChars < 0) return []
      return redactTokens(redactField(field, people), tokens)
    }
    const opaque = redactTokens(field, tokens)
    // Only codes were inserted, unless encoded words were decoded and folded again.
    if (opaque !== original && !original.raw.includes('=?')) clean.add(opaque)
    return opaque
  })
}

/**
 * Redacts `for jane` in a Received field. Without a domain, `jane` is a user of the machine that
 * wrote the field, so the name identifies a mailbox like an address.
 */
function withoutLocalUser(field: HeaderField, people: AddressRedactor): HeaderField {
  const raw = field.raw.replace(localFor, (_, before: string, user: string) => {
    return before + people.codeOf(user)
  })
  return raw === field.raw ? field : withRaw(field, raw)
}

const localFor = /(\sfor\s+<?)([^\s<>;@()"]{1,64})(?=>?\s*(?:;|$|\())/gi

function redactField(field: HeaderField, redactor: AddressRedactor): HeaderField {
  const value = unfolded(field)
  const readable = value.includes('=?') ? decodeHeaderText(value) : value
  const raw = redactor.redact(withoutCutParameters(field.raw, redactor))
  const changed = raw === field.raw ? field : withRaw(field, raw)
  // Encoded words are decoded first, because replacing a part of one would leave an invalid word.
  const isInWords = readable !== value && redactor.finds(readable)
  if (!isInWords && !tells(changed, redactor)) return changed
  const ascii = composeEncodedWords(Buffer.from(redactor.redact(readable)).toString('latin1'))
  return withValue(field, ascii)
}

const parameterPiece = /;\s*([\w-]{1,64})\*(\d{1,3})\*?\s*=\s*("(?:[^"\\\r]|\\.)*"|[^\s;"]+)/g

/** Returns the parameters that are split into sections (RFC 2231 §3), joined, by name. */
function joinedParameters(text: string): Map<string, string> {
  const joined = new Map<string, string>()
  if (!text.includes('*1')) return joined
  for (const [, name = '', , piece = ''] of text.matchAll(parameterPiece)) {
    const key = name.toLowerCase()
    joined.set(key, (joined.get(key) ?? '') + piece.replace(/^"|"$/g, ''))
  }
  return joined
}

/** Removes split parameters that contain a name once they are joined. */
function withoutCutParameters(raw: string, redactor: AddressRedactor): string {
  const telling = [...joinedParameters(raw)].filter(([, whole]) => redactor.finds(whole))
  if (telling.length === 0) return raw
  const names = new Set(telling.map(([name]) => name))
  const rest = raw.replace(parameterPiece, (piece, name: string) =>
    names.has(name.toLowerCase()) ? '' : piece,
  )
  return telling.reduce((text, [name, whole]) => {
    const value = redactor.redact(whole.replace(/^[\w-]*'[\w-]*'/, ''))
    return `${text};\r\n ${name}="${value.replace(/[^\x20-\x7e]|["\\]/g, '_')}"`
  }, rest)
}

function redactTokens(field: HeaderField, tokens: TokenRedactor | undefined): HeaderField {
  if (tokens === undefined || tokens.leaves(field)) return field
  // A link or address in angle brackets is one value, wherever its line was folded.
  const raw =
    field.raw.includes('<') && field.raw.includes('\r\n')
      ? field.raw.replace(/<[^<>]*>/g, (one) => one.replace(/\r\n[ \t]+/g, ''))
      : field.raw
  const value = raw.slice(raw.indexOf(':') + 1)
  if (value.includes('=?')) {
    const readable = decodeHeaderText(unfolded(field))
    const redacted = tokens.redactField({ ...field, raw: `${field.name}: ${readable}` })
    if (redacted.trim() === readable.trim()) return field
    const ascii = composeEncodedWords(Buffer.from(redacted.trim()).toString('latin1'))
    return withValue(field, ascii)
  }
  const redacted = tokens.redactField({ ...field, raw })
  return redacted === value ? field : withRaw(field, `${raw.slice(0, -value.length)}${redacted}`)
}

/** Replaces recipients by codes and drops their display names, which also identify the reporter. */
function redactRecipients(field: HeaderField, redactor: AddressRedactor): HeaderField {
  const found = addressesInText(decodeHeaderText(field.value.slice(0, 64 * 1024)))
  const codes = [...new Set(found)].map((one) => `${redactor.codeOf(one)}@${redactedDomain}`)
  const list = codes.length === 0 ? 'undisclosed-recipients:;' : codes.join(', ')
  return withValue(field, list)
}

/** Returns a field with a changed text, also if the name was changed, which is redacted too. */
function withRaw({ key }: Pick<HeaderField, 'key'>, raw: string): HeaderField {
  const changed = writtenField(raw)
  return changed.key === key ? changed : { name: changed.name, key, raw, value: changed.value }
}

/** Returns a field with another value, folded. */
function withValue({ key, name }: HeaderField, value: string): HeaderField {
  return withRaw({ key }, `${name}: ${foldText(value, name.length + 2)}`)
}

/**
 * Whether a field still identifies the reporter, as written, or after its folds and encoded words
 * are decoded.
 */
function tells(field: HeaderField, redactor: AddressRedactor): boolean {
  return redactor.finds(field.raw) || identifyingFields([field], redactor).has(field)
}

/**
 * Returns the fields that identify the reporter, as written, or after folds and encoded words are
 * decoded. Runs two searches for all fields together. Skips the fields in `clean`, and adds those
 * in which nothing is found.
 */
export function identifyingFields(
  fields: readonly HeaderField[],
  redactor: AddressRedactor,
  clean = new Set<HeaderField | Body>(),
): Set<HeaderField> {
  const open = fields.filter((field) => !clean.has(field))
  const inWords = open.filter(({ raw }) => raw.includes('=?'))
  const asWritten = redactor.findsIn(open.map(wordsOf))
  const inPieces = open.filter(({ raw }) => raw.includes('*1'))
  const whole = redactor.findsIn(
    inPieces.map(({ raw }) => [...joinedParameters(raw).values()].join('\r\n\r\n')),
  )
  const decoded = redactor.findsIn(inWords.map(({ raw }) => decodeHeaderText(raw)))
  const telling = new Set([
    ...open.filter(
      ({ raw }, index) =>
        // Unfolding joins the two words of a name if the fold is between them.
        asWritten[index] === true || (raw.includes('\r\n') && redactor.findsNameIn(raw)),
    ),
    ...inWords.filter((_, index) => decoded[index]),
    ...inPieces.filter((_, index) => whole[index]),
  ])
  for (const field of open) if (!telling.has(field)) clean.add(field)
  return telling
}

function wordsOf(field: HeaderField): string {
  const { raw } = field
  return raw.includes('\r\n') ? raw.slice(0, raw.indexOf(':') + 1) + unfolded(field) : raw
}

function unfolded({ raw }: HeaderField): string {
  const value = raw.slice(raw.indexOf(':') + 1)
  if (!value.includes('\r\n')) return value
  return value.replace(/\r\n[ \t]+/g, raw.includes('=?') ? ' ' : '')
}
