import { domainOf, parseMailboxes } from '../address.ts'
import { bounceIn, type BounceResult } from '../bounces/parse-bounce.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, fieldValues, type HeaderField, parseHeader } from '../header.ts'
import { type FeedbackFields, feedbackReportIn } from '../mail-parts.ts'
import { authorAddress } from '../message.ts'
import { leafBytes, type MimeLeaf, readMime } from '../mime-leaves.ts'
import { returnedHeaders } from '../returned-message.ts'
import { storableText } from '../text.ts'
import type { AnswerKind } from '../verp.ts'
import { isAcknowledgment } from './acknowledgment.ts'
import { answerIn } from './answer-words.ts'
import { isAutomaticReply, isAwayNote, isFromMachine } from './automatic.ts'
import { isBySystem, isNotice } from './notice.ts'
import { ownTextOf, readableText } from './own-text.ts'

/** Identifiers of the message that a mail returns or is about. */
type Returned = {
  messageIds: string[]
  envelopeIds: string[]
  /** The return paths of that message, and the addresses to which answers to it go. */
  returnPaths: string[]
}

const partsRead = 50
const textCharsRead = 128 * 1024
const valuesMax = 20
const idCharsMax = 998
const receiptTypes = [
  ...['message/disposition-notification', 'message/global-disposition-notification'],
]
const statusTypes = ['message/delivery-status', 'message/global-delivery-status']

/**
 * Finds identifiers of the returned message: in the attached message or header and in the
 * machine-readable parts. If these give no Message-ID, also reads header lines that a text quotes.
 * The identifiers may be forged. At most 20 of each kind.
 */
function returnedIn(
  headers: readonly HeaderField[][],
  parts: readonly MimeLeaf[],
  text: string,
): Returned {
  const found = new Found()
  for (const fields of headers) readHeader(fields, found)
  for (const part of parts) {
    const isRead = statusTypes.includes(part.type) || part.type === 'message/feedback-report'
    if (isRead) readMachinePart(fieldsIn(part), found)
  }
  if (found.messageIds.size === 0) readQuoted(text.slice(0, textCharsRead), found)
  return {
    messageIds: [...found.messageIds],
    envelopeIds: [...found.envelopeIds],
    returnPaths: [...found.returnPaths],
  }
}

/** The values found so far, without duplicates and at most 20 of each kind. */
class Found {
  readonly messageIds = new Set<string>()
  readonly envelopeIds = new Set<string>()
  readonly returnPaths = new Set<string>()

  add(kind: keyof Returned, value: string | undefined): void {
    if (value === undefined || value === '' || value.length > idCharsMax) return
    if (this[kind].size < valuesMax) this[kind].add(value)
  }
}

function fieldsIn(leaf: MimeLeaf): HeaderField[] {
  const text = (leafBytes(leaf) ?? leaf.content).toString('latin1', 0, textCharsRead)
  return parseHeader(Buffer.from(text.trimStart(), 'latin1')).fields
}

function readHeader(fields: readonly HeaderField[], found: Found): void {
  for (const value of fieldValues(fields, 'message-id')) found.add('messageIds', idOf(value))
  for (const key of ['return-path', 'x-envelope-from', 'reply-to']) {
    for (const value of fieldValues(fields, key)) found.add('returnPaths', pathIn(value))
  }
}

function readMachinePart(fields: readonly HeaderField[], found: Found): void {
  for (const value of fieldValues(fields, 'original-envelope-id')) {
    found.add('envelopeIds', fromXtext(value.trim()))
  }
  for (const key of ['original-mail-from', 'x-postfix-sender']) {
    for (const value of fieldValues(fields, key)) found.add('returnPaths', pathIn(value))
  }
  for (const value of fieldValues(fields, 'original-message-id')) {
    found.add('messageIds', idOf(value))
  }
}

const quotedId = /^[>\s|*]{0,9}message-id\s{0,9}:\s{0,9}<([^<>\s]{1,998})>/gim
const quotedPath =
  /^[>\s|*]{0,9}(?:return-path|mail from)\s{0,9}:\s{0,9}<?([^<>\s]{1,320}@[^<>\s]{1,253})>?/gim

function readQuoted(text: string, found: Found): void {
  for (const [, id] of text.matchAll(quotedId)) found.add('messageIds', id)
  for (const [, path] of text.matchAll(quotedPath)) found.add('returnPaths', pathIn(path ?? ''))
}

/** Parses a Message-ID; accepts one without its angle brackets, as some systems write it. */
function idOf(value: string): string | undefined {
  return idsIn(value)[0] ?? /^\s*([^<>\s]{1,900}@[^<>\s@]{1,253})\s*$/.exec(value)?.[1]
}

/** The Message-IDs in a field, without angle brackets. */
function idsIn(value: string): string[] {
  const found = value.slice(0, 16 * 1024).matchAll(/<([^<>\s]{1,998})>/g)
  return [...found].map(([, id = '']) => id)
}

function pathIn(value: string): string | undefined {
  const typed = value.slice(0, 1000).replace(/^\s*rfc822\s*;/i, '')
  const address = parseMailboxes(typed).find((one) => one.address.includes('@'))?.address
  return address === undefined || domainOf(address) === undefined
    ? undefined
    : address.toLowerCase()
}

/** Decodes xtext (RFC 3461 §4), in which `+` and two hexadecimal digits encode a character. */
function fromXtext(text: string): string {
  return text.replace(/\+([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/**
 * The kind of a mail to an address of ours: a bounce, a complaint about our own mail (RFC 5965), an
 * automatic reply for a person who is away, an acknowledgment by a ticket system, or a reply by a
 * person.
 */
type InboundKind = 'bounce' | 'complaint' | 'auto-reply' | 'acknowledgment' | 'reply'

/** A parsed mail to an address of ours. Everything in it is untrusted. */
export type InboundReading = {
  kind: InboundKind
  /** The outcome of our mail for each recipient; empty unless the mail is a bounce. */
  results: BounceResult[]
  /** The fields of a complaint; undefined unless the mail is one. */
  feedback: FeedbackFields | undefined
  /** Identifiers of our mail that it returns or is about. */
  returned: {
    /** The Message-IDs of our mail, without angle brackets. */
    messageIds: string[]
    /** The ENVIDs that our mail was sent with (RFC 3461), decoded. */
    envelopeIds: string[]
    /** The return paths and reply addresses of our mail, in lower case. */
    returnPaths: string[]
  }
  /** The Message-IDs of In-Reply-To, then of References, without angle brackets. */
  references: string[]
  /** The answer in the person's own words; undefined unless it is unambiguous. */
  answer: AnswerKind | undefined
  /** The Message-ID of the mail itself, without angle brackets. */
  messageId: string | null
  /** The author's address, with the domain in lower case. */
  author: string | null
  subject: string | null
  /** The author's own text, without quotations; at most 8,000 characters. */
  text: string
  /** Whether a machine seems to have sent the mail; then no machine may answer it. */
  isAutomatic: boolean
}

const textCharsMax = 8000
const subjectCharsMax = 1000

const referencesMax = 100
const answerCharsMax = 4000

/**
 * Parses a mail to an address of ours; `mailFrom` is the sender of its envelope, empty for the null
 * sender. Pure, linear in the size of the mail, and never throws.
 */
export function readInbound(
  raw: Buffer,
  mailFrom: string,
  { isToReturnPath = false }: { isToReturnPath?: boolean } = {},
): InboundReading {
  const mail = readMime(raw)
  const { fields, leaves } = mail
  const text = readableText(mail)
  const { words, signature } = ownTextOf(text)
  const isAutomatic = isFromMachine(fields, mailFrom)
  const feedback = feedbackReportIn(mail)
  const headers = returnedHeaders(leaves)
  const arrival = { mailFrom, isToReturnPath, text, isReturning: headers.length > 0 }
  const isReceipt = leaves.some(({ type }) => receiptTypes.includes(type))
  const clues = { isNotice: !isReceipt && isNotice(fields, arrival) }
  const bounce = feedback ? undefined : bounceIn(mail, clues)
  const kind = kindOf({ feedback, bounce, fields, text, isAutomatic })
  const subject = fieldValue(fields, 'subject')
  return {
    kind,
    results: bounce?.results ?? [],
    feedback,
    returned: returnedIn(headers, leaves.slice(0, partsRead), text),
    references: referencesOf(fields),
    answer: kind === 'reply' ? answerIn(words.slice(0, answerCharsMax)) : undefined,
    messageId: storable(idsIn(fieldValue(fields, 'message-id') ?? '')[0], idCharsMax),
    author: authorAddress((fieldValue(fields, 'from') ?? '').slice(0, 8 * 1024)),
    subject: storable(subject && decodeHeaderText(subject.slice(0, 8 * 1024)), subjectCharsMax),
    text: storableText(signature === '' ? words : `${words}\n-- \n${signature}`, textCharsMax),
    isAutomatic: isAutomatic || kind !== 'reply',
  }
}

type Clues = {
  feedback: FeedbackFields | undefined
  bounce: object | undefined
  fields: readonly HeaderField[]
  text: string
  isAutomatic: boolean
}

function kindOf({ feedback, bounce, fields, text, isAutomatic }: Clues): InboundKind {
  if (feedback) return 'complaint'
  if (bounce) return 'bounce'
  if (isAutomatic && isBySystem(fields)) return 'auto-reply'
  if (isAcknowledgment(fields, text, { isAutomatic, isAway: isAwayNote(fields) }))
    return 'acknowledgment'
  return isAutomaticReply(fields) ? 'auto-reply' : 'reply'
}

function referencesOf(fields: readonly HeaderField[]): string[] {
  const values = ['in-reply-to', 'references'].map((key) => fieldValue(fields, key) ?? '')
  const ids = values.flatMap(idsIn).map((id) => storableText(id, idCharsMax))
  return [...new Set(ids)].slice(0, referencesMax)
}

function storable(text: string | undefined, charsMax: number): string | null {
  return text === undefined ? null : storableText(text, charsMax)
}
