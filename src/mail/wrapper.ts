import { domainOf, parseMailboxes } from './address.ts'
import { signedEntity } from './containers/signed-content.ts'
import {
  fieldValue,
  fieldValues,
  type HeaderField,
  looksLikeMessage,
  parseHeader,
} from './header.ts'
import { isInternal, type NetworkSet, parseIp } from './ip.ts'
import { leafBytes, type MimeLeaf, readMime } from './mime-leaves.ts'
import { parseReceived } from './received.ts'

/**
 * A mail that somebody or something put around another one. `isProven`: it comes from the
 * reporter's own side, so the messages in it are what the reporter received.
 */
export type Wrapper = { messages: Buffer[]; isProven: boolean }

/** What is known of the reporter's own side. */
export type OwnSide = {
  /** The address of the reporter's account. */
  reporter: string
  /** The relays that the reporter trusts. */
  relays?: NetworkSet
}

const messageTypes = ['message/rfc822', 'message/global', 'message/rfc2822', 'message/x-emlx']
const wrapperTextBytes = 2_000
const wrapperHtmlBytes = 30_000
/** Reports of filters and journals list rules and recipients. */
const reportBytes = 64_000

/**
 * The messages in a mail that only carries them: the report of a content filter, a journal entry of
 * Exchange, a report of a user, or a forward by the reporter. Undefined for any other mail, also if
 * it has messages attached: they are its content.
 *
 * A spammer can write a mail that looks like any of these around the mail of somebody else. It is
 * proven to be the reporter's own only by what a mail server of the reporter's side wrote above
 * what its sender wrote. Linear; never throws.
 */
export function wrapperOf(raw: Buffer, side: OwnSide): Wrapper | undefined {
  const { fields } = parseHeader(raw)
  const type = fieldValue(fields, 'content-type') ?? ''
  if (!/multipart\/|pkcs7-mime|message\//i.test(type.slice(0, 500))) return undefined
  const leaves = openedLeaves(raw)
  const carried = leaves.filter(isCarried)
  const messages = carried.flatMap((leaf) => leafBytes(leaf) ?? [])
  const [first] = messages
  if (!first) return undefined
  const others = leaves.filter((leaf) => !carried.includes(leaf))
  const isOwn = isBy(fields, side.reporter) && others.every(isGreeting)
  if (isOwn) {
    if (failedResults(fields)) return undefined
    return { messages, isProven: isOwnForward(fields) || staysInside(fields, side) }
  }
  const isReport =
    messages.length === 1 &&
    others.every(isReportText) &&
    (isFilterReport(fields, first) ||
      isJournal(fields, others) ||
      isUserReport(fields, others, side))
  if (!isReport) return undefined
  return { messages, isProven: staysInside(fields, side) || sharesRoute(fields, first, side) }
}

/** The leaves of a message; those of an opaque S/MIME signature instead of the signature. */
export function openedLeaves(raw: Buffer, depth = 0): MimeLeaf[] {
  return readMime(raw).leaves.flatMap((leaf) => {
    const content = signedEntity(leaf, depth)
    return content ? openedLeaves(content, depth + 1) : [leaf]
  })
}

/** Whether a part is an attached message, as its type or its name says. */
export function isNamedMessage({ type, name }: MimeLeaf): boolean {
  return messageTypes.includes(type) || /\.eml$/i.test(name?.trim() ?? '')
}

/** Whether a part is an attached message, as its type, its name or its content says. */
export function isMessage(leaf: MimeLeaf): boolean {
  const { type } = leaf
  if (isNamedMessage(leaf)) return true
  if (!/^application\/(?:octet-stream|x-unknown|unknown|eml)$/.test(type)) return false
  const { fields } = parseHeader(leafBytes(leaf)?.subarray(0, HEAD_BYTES) ?? Buffer.alloc(0))
  return fields[0] !== undefined && has(fields, 'received') && looksLikeMessage({ fields })
}

const HEAD_BYTES = 64_000

function has(fields: readonly HeaderField[], key: string): boolean {
  return fields.some((field) => field.key === key)
}

/** Whether a part is a message, also one that a filter attached as text (SpamAssassin). */
function isCarried(leaf: MimeLeaf): boolean {
  return isMessage(leaf) || isMarkedOriginal(leaf)
}

/** Whether a part is a message that SpamAssassin attached, of any type. */
export function isMarkedOriginal({ fields }: MimeLeaf): boolean {
  return /;\s*x-spam-type\s*=\s*"?original\b/i.test(fieldValue(fields, 'content-type') ?? '')
}

function isSignature({ type }: MimeLeaf): boolean {
  return /^application\/(?:pgp-signature|(?:x-)?pkcs7-signature)$/.test(type)
}

/** Whether a part is the text of a forward, such as a greeting or a signature. */
function isGreeting(leaf: MimeLeaf): boolean {
  if (isSignature(leaf)) return true
  if (leaf.isAttachment) return false
  if (leaf.type === 'text/plain') return leaf.content.length <= wrapperTextBytes
  return leaf.type === 'text/html' && leaf.content.length <= wrapperHtmlBytes
}

function isReportText(leaf: MimeLeaf): boolean {
  if (isSignature(leaf)) return true
  return /^text\/(?:plain|html)$/.test(leaf.type) && leaf.content.length <= reportBytes
}

/** The author, if there is only one: what vouches for a mail may mean another of several. */
function authorOf(fields: readonly HeaderField[]): string | undefined {
  const [author, second] = fieldValues(fields, 'from').flatMap((value) => parseMailboxes(value))
  return second ? undefined : author?.address.toLowerCase()
}

function isBy(fields: readonly HeaderField[], reporter: string): boolean {
  return authorOf(fields) === reporter.toLowerCase()
}

/** Whether a filter wrote the mail in the name of the message: it has its author and its title. */
function isFilterReport(fields: readonly HeaderField[], inside: Buffer): boolean {
  const inner = parseHeader(inside).fields
  const author = authorOf(fields)
  if (author === undefined || author !== authorOf(inner)) return false
  const id = fieldValue(fields, 'message-id')
  if (id !== undefined && id === fieldValue(inner, 'message-id')) return true
  const subject = fieldValue(inner, 'subject') ?? ''
  return subject !== '' && (fieldValue(fields, 'subject') ?? '').endsWith(subject)
}

function isJournal(fields: readonly HeaderField[], texts: readonly MimeLeaf[]): boolean {
  if (has(fields, 'x-ms-journal-report')) return true
  if (/^microsoftexchange[0-9a-f]{32}@/.test(authorOf(fields) ?? '')) return true
  const [text] = texts
  const start = (text && leafBytes(text))?.toString('latin1', 0, 4_000) ?? ''
  return /^\s*Sender: [^\n]*\n/.test(start) && /^Message-I[dD]: [^\n]*\n/m.test(start)
}

const microsoftSubject = /^\s*\d\s*\|[^|]{0,200}\|\s*[\da-f.:]{0,45}\s*\|[^|]{0,400}\|/i

/** Whether a button of a mail program wrote the mail, or a colleague of the reporter. */
function isUserReport(
  fields: readonly HeaderField[],
  texts: readonly MimeLeaf[],
  { reporter }: OwnSide,
): boolean {
  if (microsoftSubject.test(fieldValue(fields, 'subject') ?? '')) return true
  const author = authorOf(fields) ?? ''
  const domain = domainOf(reporter)
  const isColleague = domain !== undefined && domainOf(author) === domain
  return isColleague && author !== reporter.toLowerCase() && texts.every(isGreeting)
}

const RESULTS_CHARS = 10_000

/** Whether the authentication of the author failed: then the mail is a forgery. */
function failedResults(fields: readonly HeaderField[]): boolean {
  const results = (fieldValue(fields, 'authentication-results') ?? '').slice(0, RESULTS_CHARS)
  return /\b(?:dmarc|dkim|spf)=(?:fail|softfail|permerror)\b/i.test(results)
}

/**
 * Whether a mail in the reporter's name is proven to be the reporter's: it was never transported,
 * like a stored copy of sent mail, or the machine that received it last vouches for its author.
 * Untrusted senders can write only below the Received line of the machine that received their mail.
 */
function isOwnForward(fields: readonly HeaderField[]): boolean {
  const last = fields.findIndex(({ key }) => key === 'received')
  if (last < 0) return !fields.some(({ key }) => key === 'return-path' || key === 'delivered-to')
  const above = fieldValue(fields.slice(0, last), 'authentication-results') ?? ''
  return vouchesFor(above.slice(0, RESULTS_CHARS))
}

/**
 * Whether results of authentication (RFC 8601) say that DMARC passed. They also name what the
 * client said, as its host name and return path, in which it can write a result.
 */
function vouchesFor(results: string): boolean {
  const plainResults = results.replace(/"[^"]*"?|\([^()]*\)?/g, '')
  const stated = results.match(/dmarc\s*=/gi) ?? []
  return stated.length === 1 && /(?:^|;)\s*dmarc\s*=\s*pass(?![^\s;(])/i.test(plainResults)
}

const RECEIVED_MAX = 50

/** Whether the mail was transported, and only between machines of the reporter's side. */
function staysInside(fields: readonly HeaderField[], side: OwnSide): boolean {
  const received = fieldValues(fields, 'received')
  if (received.length === 0 || received.length > RECEIVED_MAX) return false
  return received.every((value) => isInside(value, side))
}

/**
 * Whether the mail came by the field with which the message in it was received, and from there only
 * between machines of the reporter's side. Both then have the same origin.
 */
function sharesRoute(fields: readonly HeaderField[], inside: Buffer, side: OwnSide): boolean {
  const [first] = fieldValues(parseHeader(inside).fields, 'received')
  if (first === undefined) return false
  for (const value of fieldValues(fields, 'received').slice(0, RECEIVED_MAX)) {
    if (plain(value) === plain(first)) return true
    if (!isInside(value, side)) return false
  }
  return false
}

const plain = (value: string) => value.replace(/\s+/g, ' ').trim()

/** Whether a Received field names a sending machine of the reporter's side, or a local program. */
function isInside(value: string, { relays }: OwnSide): boolean {
  const hop = parseReceived(value)
  if (!hop) return false
  const { from, software = '', by } = hop
  if (!from) return (by.host !== undefined || by.ip !== undefined) && !/network/i.test(software)
  const names = [from.helo, from.rdns, from.unprovenRdns].filter((name) => name !== undefined)
  if (from.ip === undefined) {
    return names.length > 0 && names.every((name) => /^localhost(?:\.|$)/i.test(name))
  }
  const ip = parseIp(from.ip)
  return ip !== undefined && (isInternal(ip) || (relays?.has(ip) ?? false))
}
