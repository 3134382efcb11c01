import { domainOf } from '../address.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField, parseHeader } from '../header.ts'
import { jsonOf } from '../text.ts'
import { statusIn } from './codes.ts'
import type { BounceReason } from './reasons.ts'

/** The fields of a notification's machine-readable part about one recipient (RFC 3464 §2.3). */
export type RecipientGroup = {
  recipient: string
  /** Undefined when the fields state none. */
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded' | undefined
  stated: string | undefined
  /** The type of the diagnostic code in lower case; empty when none is given. */
  type: string
  /** The diagnostic code without its type. */
  diagnostic: string
  /** Whether the diagnostic code answers the command that named the recipient. */
  isOfRecipient: boolean
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
  const stated = statusForm.exec(value('status'))?.[0]
  const supplement = supplementOf(value)
  const given = value('diagnostic-code').slice(0, diagnosticCharsMax)
  const diagnostic = supplement ?? typedText.exec(given)
  // The final recipient may be a program, a source route (RFC 5321 §C) or a local name.
  const isWhole = /^[^@\s]+@[^@\s]+\.[^@\s]+$/
  const recipient = isWhole.test(final) || !isWhole.test(original) ? final || original : original
  const names = [value('remote-mta'), domainOf(recipient) ?? '', reporting]
  return {
    recipient,
    action: actionOf(value('action'), stated, value('will-retry-until') !== ''),
    stated,
    type: (diagnostic?.[1] ?? '').toLowerCase(),
    diagnostic: decodeHeaderText(diagnostic?.[2] ?? given),
    isOfRecipient: supplement !== undefined && refusedMailbox.test(supplement[2] ?? ''),
    comment: /^\s*[245][\d.]{4,8}\s*\(([^()]{4,200})\)/.exec(value('status'))?.[1] ?? '',
    hosts: names.map(hostName),
    category: value('x-powermta-bouncecategory'),
  }
}

const diagnosticCharsMax = 8192
const statusForm = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/
const typedText = /^\s*([\w-]{1,40})\s*;\s*(.*)$/s
const supplementForm =
  /^\s*<?([^<>#;]{0,255})#?([245]\.\d{1,3}\.\d{1,3})?\s+([\w-]{1,40})\s*;(.*)$/s
/** A reply that refuses the mailbox itself (RFC 5321 §4.2.2), and not the content or the client. */
const refusedMailbox = /^\s*55[013](?:[ -](?!5\.[2-7]\.)|$)/

/**
 * The reply in X-Supplementary-Info, which Exchange writes in place of a diagnostic code:
 * `<mx.example.org #5.1.1 smtp; 550 No such user>`. Undefined when the diagnostic code says more
 * than a status.
 */
function supplementOf(value: (key: string) => string): [string, string, string] | undefined {
  if (/\p{L}{3}/u.test(value('diagnostic-code').replace(/^\s*[\w-]{1,40}\s*;/, '')))
    return undefined
  const info = value('x-supplementary-info').slice(0, diagnosticCharsMax)
  const [all, , , type = '', text = ''] = supplementForm.exec(info) ?? []
  return all === undefined ? undefined : [all, type, text.replace(/>\s*$/, '').trim()]
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

function actionOf(
  value: string,
  status: string | undefined,
  isRetried: boolean,
): RecipientGroup['action'] {
  const word = /[a-z]+/.exec(value.toLowerCase())?.[0]
  if (word === 'delivered' || word === 'relayed' || word === 'expanded') return word
  if (word !== undefined)
    return /^(?:delay|defer|retr|warn|transient)/.test(word) ? 'delayed' : 'failed'
  if (isRetried) return 'delayed'
  return status?.startsWith('2') === true ? 'delivered' : undefined
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
  if (kind === 'Bounce') return recipientEvents(about, 'bouncedRecipients')
  if (kind === 'DeliveryDelay') {
    const delay = recipientEvents(member(event, 'deliveryDelay'), 'delayedRecipients')
    return delay.map((one) => ({ ...one, action: 'delayed' }))
  }
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

function recipientEvents(about: Json, key: string): DeliveryEvent[] {
  const own = ownTypes[textOf(about['bounceSubType'])]
  return list(about[key]).map((one) => ({
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
    const read = jsonOf(text.slice(0, end).replace(/=?\r?\n/g, ''))
    if (typeof read === 'object' && read !== null && !Array.isArray(read)) return read as Json
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
