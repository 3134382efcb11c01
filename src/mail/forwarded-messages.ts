import { parseMailboxes } from './address.ts'
import { fieldValue, type HeaderField, parseHeader } from './header.ts'
import { messageAtStart } from './message.ts'
import { leafBytes, type MimeLeaf, mimeLeaves } from './mime-leaves.ts'

/** The messages in a mail that a reporter sent in. */
export type ForwardedMessages = {
  /** The attached messages in their order, with the exact bytes that were attached. */
  messages: Buffer[]
  /** The number of further messages, beyond the maximum for one mail. */
  beyond: number
  /**
   * The number of attachments that may contain messages but cannot be read: archives, Outlook's
   * files, and forwards in the reporter's name that may come from an untrusted sender.
   */
  unreadable: number
}

/** The reporter who forwards, and the maximum number of messages. */
export type ForwardLimits = {
  /** The address of the reporter's account. */
  reporter: string
  messagesMax: number
}

const wrappersMax = 5
const wrapperTextBytes = 2_000
const wrapperHtmlBytes = 30_000
const messageTypes = ['message/rfc822', 'message/global', 'message/rfc2822', 'message/x-emlx']
const archiveType = /^application\/(?:x-)?(?:zip|gzip|7z|rar|tar|zip-compressed|rar-compressed)/
const unreadableType =
  /^application\/(?:vnd\.ms-outlook|ms-tnef|vnd\.ms-tnef|x-7z-compressed|vnd\.rar|mbox)$/
const unreadableName = /\.(?:zip|gz|tgz|7z|rar|tar|msg|mbox|pst)$|^winmail\.dat$/i

/**
 * Extracts the attached messages of a mail: `message/rfc822` parts and files named `.eml`, with any
 * type and transfer encoding. A message attached to one of these messages is part of its content
 * and is not extracted. Exception: if an attached message is proven to be the reporter's own
 * forward and contains nothing but attached messages, those are extracted. Pure, linear in the
 * mail's size, and never throws.
 */
export function forwardedMessages(raw: Buffer, limits: ForwardLimits): ForwardedMessages {
  const found: ForwardedMessages = { messages: [], beyond: 0, unreadable: 0 }
  collect(mimeLeaves(raw), 0, limits, found)
  return found
}

function collect(
  leaves: readonly MimeLeaf[],
  depth: number,
  limits: ForwardLimits,
  found: ForwardedMessages,
): void {
  for (const leaf of leaves) {
    if (!isMessage(leaf)) {
      if (isUnreadable(leaf)) found.unreadable += 1
      continue
    }
    if (found.messages.length >= limits.messagesMax) {
      found.beyond += 1
      continue
    }
    const bytes = leafBytes(leaf)
    if (!bytes) found.unreadable += 1
    else {
      const message = messageAtStart(bytes) ?? bytes
      const inside = depth < wrappersMax ? wrapped(message, limits.reporter) : undefined
      if (inside === 'doubtful') found.unreadable += 1
      else if (inside) collect(inside, depth + 1, limits, found)
      else found.messages.push(message)
    }
  }
}

function isMessage({ type, name }: MimeLeaf): boolean {
  return messageTypes.includes(type) || /\.eml$/i.test(name?.trim() ?? '')
}

function isUnreadable({ type, name }: MimeLeaf): boolean {
  return (
    archiveType.test(type) || unreadableType.test(type) || unreadableName.test(name?.trim() ?? '')
  )
}

/**
 * The parts of a message if it is a forward that the reporter wrote; undefined if it is not. A
 * spammer can write the reporter's address into a message and attach an invented mail to accuse
 * others, so a forward must be proven to be the reporter's. An unproven one is `doubtful`, and the
 * reporter must forward it in another way. A message that failed the authentication of its author
 * is not a forward.
 */
function wrapped(message: Buffer, reporter: string): MimeLeaf[] | 'doubtful' | undefined {
  const { fields } = parseHeader(message)
  const [author, second] = parseMailboxes(fieldValue(fields, 'from') ?? '')
  if (second || author?.address.toLowerCase() !== reporter.toLowerCase()) return undefined
  const results = (fieldValue(fields, 'authentication-results') ?? '').slice(0, 10_000)
  if (/\b(?:dmarc|dkim|spf)=(?:fail|softfail|permerror)\b/i.test(results)) return undefined
  const leaves = mimeLeaves(message)
  const isWrapper = leaves.some(isMessage) && leaves.every(isWrapping)
  if (!isWrapper) return undefined
  return isProvenForward(fields) ? leaves : 'doubtful'
}

/**
 * Whether a mail in the reporter's name is proven to be the reporter's: it was never transported,
 * like a stored copy of sent mail, or the machine that received it last vouches for its author.
 * Untrusted senders can write only below the Received line of the machine that received their mail.
 */
function isProvenForward(fields: readonly HeaderField[]): boolean {
  const last = fields.findIndex(({ key }) => key === 'received')
  if (last < 0) return !fields.some(({ key }) => key === 'return-path' || key === 'delivered-to')
  const above = fieldValue(fields.slice(0, last), 'authentication-results') ?? ''
  return /\bdmarc=pass\b/i.test(above.slice(0, 10_000))
}

/** Whether a part is the text of a forward, such as a greeting or a signature. */
function isWrapping(leaf: MimeLeaf): boolean {
  if (isMessage(leaf)) return true
  if (/^application\/(?:pgp-signature|(?:x-)?pkcs7-signature)$/.test(leaf.type)) return true
  if (leaf.isAttachment) return false
  if (leaf.type === 'text/plain') return leaf.content.length <= wrapperTextBytes
  return leaf.type === 'text/html' && leaf.content.length <= wrapperHtmlBytes
}
