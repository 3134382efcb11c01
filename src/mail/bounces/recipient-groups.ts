import { domainOf } from '../address.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField, parseHeader } from '../header.ts'
import { statusIn } from './codes.ts'
import type { BounceReason } from './reasons.ts'

/** The fields of a notification's machine-readable part about one recipient (RFC 3464 §2.3). */
export type RecipientGroup = {
  recipient: string
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  stated: string | undefined
  /** The type of the diagnostic code in lower case; empty when none is given. */
  type: string
  /** The diagnostic code without its type. */
  diagnostic: string
  /** The text in parentheses after the status: its meaning, or the reply. */
  comment: string
  /**
   * The remote host, the recipient's domain and the reporting host, in lower case; empty if
   * unknown.
   */
  hosts: string[]
  /** The bounce category that the reporting system assigned; empty when there is none. */
  category: string
}

const groupsMax = 200
const recipientKeys = ['final-recipient', 'original-recipient', 'action', 'x-actual-recipient']
const firstField = /^[> \t]*(?:reporting-mta|final-recipient|original-recipient|action)[ \t]*:/im

/**
 * Parses the groups of a machine-readable part, one for each recipient. With `in a text`, parses
 * the same fields from the text of a notification without a machine-readable part, starting at the
 * first of these fields.
 */
export function recipientGroups(text: string, where?: 'in a text'): RecipientGroup[] {
  const from = where === undefined ? 0 : (firstField.exec(text)?.index ?? text.length)
  const blocks = text
    .slice(from)
    .replace(/\r\n/g, '\n')
    // Continuation lines of a multi-line reply that was not folded.
    .replace(/\n(?=[245]\d\d[- ])/g, '\n ')
    .split(/\n[ \t]*\n+/)
    .slice(0, 3 * groupsMax)
    .map(
      (group) =>
        parseHeader(Buffer.from(group.trimStart(), where === undefined ? 'latin1' : 'utf8')).fields,
    )
  const reporting = blocks.flatMap((fields) => fieldValue(fields, 'reporting-mta') ?? [])[0]
  const groups = blocks.flatMap(byRecipient)
  return groups
    .slice(0, groupsMax)
    .map((fields) => readGroup(fields, reporting ?? ''))
    .filter(({ recipient, stated, diagnostic }) => {
      return recipient !== '' || stated !== undefined || diagnostic !== ''
    })
}

/**
 * Splits fields into one group for each recipient, because the blank line between two groups may be
 * missing.
 */
function byRecipient(fields: readonly HeaderField[]): HeaderField[][] {
  if (!fields.some(({ key }) => recipientKeys.includes(key))) return []
  const groups: HeaderField[][] = [[]]
  for (const field of fields) {
    const last = groups.at(-1) ?? []
    const isNext = field.key === 'final-recipient' && last.some(({ key }) => key === field.key)
    if (isNext) groups.push([field])
    else last.push(field)
  }
  return groups
}

function readGroup(fields: readonly HeaderField[], reporting: string): RecipientGroup {
  const value = (key: string) => fieldValue(fields, key) ?? ''
  const [final, original] = ['final-recipient', 'original-recipient'].map((key) =>
    typedAddress(value(key)),
  ) as [string, string]
  const diagnostic = /^\s*([\w-]{1,40})\s*;\s*(.*)$/s.exec(value('diagnostic-code').slice(0, 8192))
  // The final recipient may be a program, a source route (RFC 5321 §C) or a local name.
  const isWhole = /^[^@\s]+@[^@\s]+\.[^@\s]+$/
  const recipient = isWhole.test(final) || !isWhole.test(original) ? final || original : original
  const names = [value('remote-mta'), domainOf(recipient) ?? '', reporting]
  return {
    recipient,
    action: actionOf(value('action')),
    stated: /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(value('status'))?.[0],
    type: (diagnostic?.[1] ?? '').toLowerCase(),
    diagnostic: decodeHeaderText(diagnostic?.[2] ?? value('diagnostic-code').slice(0, 8192)),
    comment: /^\s*[245][\d.]{4,8}\s*\(([^()]{4,200})\)/.exec(value('status'))?.[1] ?? '',
    hosts: names.map(hostName),
    category: value('x-powermta-bouncecategory'),
  }
}

/** Parses the host name in a value such as `dns; mx.example.org`. */
function hostName(value: string): string {
  return (/^\s*(?:\w+\s*;\s*)?([\w.-]+)/.exec(value.slice(0, 1000))?.[1] ?? '').toLowerCase()
}

function typedAddress(value: string): string {
  const address = value
    .slice(0, 1000)
    .replace(/^\s*[\w-]+\s*;\s*/, '')
    .trim()
  return /<([^<>]*)>/.exec(address)?.[1] ?? address.replace(/\s*\(.*$|[<>]/g, '')
}

function actionOf(value: string): RecipientGroup['action'] {
  const word = /[a-z]+/.exec(value.toLowerCase())?.[0]
  if (word === 'delayed' || word === 'delivered') return word
  if (word === 'relayed' || word === 'expanded') return word
  return 'failed'
}

/** What an event of a sending service says about one recipient. */
export type DeliveryEvent = {
  recipient: string
  action: 'failed' | 'delayed' | 'delivered'
  stated: string | undefined
  type: string
  text: string
  context: string
  reason?: BounceReason
}

type Json = Readonly<Record<string, unknown>>

const recipientsMax = 200
const textCharsMax = 64 * 1024
const ownTypes: Readonly<Record<string, BounceReason>> = {
  Suppressed: 'suppressed',
  OnAccountSuppressionList: 'suppressed',
  MailboxFull: 'mailboxfull',
  MessageTooLarge: 'mesgtoobig',
  ContentRejected: 'contenterror',
  AttachmentRejected: 'securityerror',
}

/**
 * Parses the events that Amazon SES sends by mail through its notification service. The text is a
 * JSON object with a `notificationType`, or with an `eventType` if event publishing is used.
 * Undefined for any other text. Never throws.
 */
export function deliveryEvents(text: string): DeliveryEvent[] | undefined {
  const start = text.search(/\S/)
  if (text[start] !== '{' || !/\b(?:notification|event)Type\b/.test(text)) return undefined
  const read = jsonIn(text.slice(start))
  // By default the notification service wraps the event, as a string, in an envelope.
  const enclosed = textOf(read?.['Message'], textCharsMax)
  const event = enclosed.startsWith('{') ? jsonIn(enclosed) : read
  const kind = event?.['notificationType'] ?? event?.['eventType']
  if (event === undefined || typeof kind !== 'string') return undefined
  const about = member(event, kind.toLowerCase())
  const known = { stated: undefined, type: 'smtp', context: '' }
  if (kind === 'Bounce') return bouncedRecipients(about)
  if (kind === 'Complaint') {
    const all = list(about['complainedRecipients']).map((one) => textOf(one['emailAddress']))
    return all.map((recipient) => ({
      ...known,
      ...{ recipient, action: 'failed', text: '', reason: 'feedback' },
    }))
  }
  const recipients = about['recipients']
  if (kind !== 'Delivery' || !Array.isArray(recipients)) return undefined
  const response = textOf(about['smtpResponse'])
  return recipients.slice(0, recipientsMax).map((one: unknown) => ({
    ...known,
    ...{ recipient: textOf(one), action: 'delivered', text: response },
  }))
}

function bouncedRecipients(bounce: Json): DeliveryEvent[] {
  const own = ownTypes[textOf(bounce['bounceSubType'])]
  return list(bounce['bouncedRecipients']).map((one) => ({
    recipient: textOf(one['emailAddress']),
    action: textOf(one['action']) === 'delayed' ? 'delayed' : 'failed',
    stated: statusIn(textOf(one['status'])),
    type: 'smtp',
    text: textOf(one['diagnosticCode']).replace(/^\s*smtp\s*;\s*/i, ''),
    context: '',
    ...(own !== undefined && { reason: own }),
  }))
}

/** Parses the JSON object at the start of a text; a signature and instructions may follow it. */
function jsonIn(text: string): Json | undefined {
  for (const end of [text.length, text.indexOf('\n\n'), text.lastIndexOf('}') + 1]) {
    if (end <= 0) continue
    try {
      const read: unknown = JSON.parse(text.slice(0, end).replace(/=?\r?\n/g, ''))
      if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Json
    } catch {
      continue
    }
  }
  return undefined
}

function member(from: Json, key: string): Json {
  const value = from[key]
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function list(value: unknown): Json[] {
  if (!Array.isArray(value)) return []
  return value
    .slice(0, recipientsMax)
    .filter((one): one is Json => typeof one === 'object' && one !== null)
}

function textOf(value: unknown, charsMax = 8192): string {
  return typeof value === 'string' ? value.slice(0, charsMax) : ''
}
