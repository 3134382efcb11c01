import { statusIn } from './codes.ts'
import type { BounceReason } from './reasons.ts'

/** What an event of a sending service says of one recipient. */
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
 * Reads the events that Amazon SES sends by mail through its notification service: the text is a
 * JSON object with a `notificationType`, or an `eventType` where events are published. Undefined
 * for any other text. Never throws.
 */
export function deliveryEvents(text: string): DeliveryEvent[] | undefined {
  const start = text.search(/\S/)
  if (text[start] !== '{' || !/\b(?:notification|event)Type\b/.test(text)) return undefined
  const read = jsonIn(text.slice(start))
  // The notification service puts the event into an envelope, as a string, unless told not to.
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

/** The object a text begins with; a signature and advice may follow it. */
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
