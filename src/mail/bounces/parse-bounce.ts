import { parseMailboxes } from '../address.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField } from '../header.ts'
import {
  findLeaf,
  leafBytes,
  leafText,
  type MimeLeaf,
  type MimeMessage,
  readMime,
} from '../mime-leaves.ts'
import { mediaType } from '../part-fields.ts'
import { returnedHeaders } from '../returned-message.ts'
import { bounceReason, isHardBounce } from './bounce-reason.ts'
import { inferredStatus, preferredStatus, replyCodeIn, statusIn } from './codes.ts'
import { looksLikeBounce } from './looks-like-bounce.ts'
import { isSaid, notices, reasonOfCategory } from './phrases.ts'
import type { BounceReason } from './reasons.ts'
import { deliveryEvents, type RecipientGroup, recipientGroups } from './recipient-groups.ts'
import {
  forwardedNotice,
  generatedFrom,
  recipientSections,
  recipientsInText,
  sectionAbout,
  systemText,
  transcribedStatus,
  wholeReply,
  withoutTags,
} from './recipients-in-text.ts'

export type BounceResult = {
  /** The address as the reporting system gives it; empty when it gives none. */
  recipient: string
  /** The Action field (RFC 3464 §2.3.3). */
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** Enhanced status code, class.subject.detail (RFC 3463). */
  status: string | undefined
  /** Whether the status was derived from the reason because none was stated. */
  isStatusInferred: boolean
  /** SMTP reply code (RFC 5321 §4.2). */
  replyCode: number | undefined
  reason: BounceReason
  /** Whether mail to the address will always fail. */
  hard: boolean
}

/**
 * Parses a delivery status notification from its machine-readable part (RFC 3464), else from the
 * text if the message looks like a bounce, in the wordings of many mail systems. Undefined for any
 * other mail. Accepts any line ends. Never throws.
 */
export function parseBounce(raw: Buffer): { results: BounceResult[] } | undefined {
  return bounceIn(readMime(raw))
}

/**
 * Like `parseBounce`, for a message that is already parsed. If it is known to be a notification,
 * there is a result even if the text says nothing that can be read.
 */
export function bounceIn(
  mail: MimeMessage,
  { isNotice = false }: { isNotice?: boolean } = {},
): { results: BounceResult[] } | undefined {
  const results = resultsIn(mail, { isNotice })
  if (results.length > 0 || !isNotice) return found(results)
  const text = explanationOf(mail)
  const action = actionStatedIn(mail.fields, text)
  return found([judged({ ...unstated, recipient: '', text, action, context: text })])
}

function resultsIn(
  mail: MimeMessage,
  { isNotice = false, isEnclosed = false }: { isNotice?: boolean; isEnclosed?: boolean } = {},
): BounceResult[] {
  const { fields } = mail
  const explanation = explanationOf(mail)
  const events = deliveryEvents(explanation)
  if (events !== undefined) return events.map((event) => judged(event))
  const part = statusTypes.map((type) => findLeaf(mail, type)).find((one) => one !== undefined)
  if (part !== undefined) {
    const groups = recipientGroups(bytesOf(part))
    const isByRule = mediaType(fieldValue(fields, 'content-type') ?? '') === 'multipart/report'
    const clear = isByRule ? groups : groups.map(withoutVagueStatus)
    const results = groupResults(fields, clear, explanation)
    if (results.length > 0) return results
  }
  const isReport = part !== undefined
  const notice = forwardedNotice(fields, explanation)
  const returned = findLeaf(mail, 'message/rfc822')
  const isStated = isReport || isNotice || notice !== undefined
  if (!isStated && !looksLikeBounce(fields, explanation, returned !== undefined)) return []
  const text = notice ?? explanation
  const written = groupResults(fields, recipientGroups(text, 'in a text'), text)
  const results = written.length > 0 ? written : resultsInText(fields, text)
  if (results.some(({ recipient }) => recipient !== '')) {
    return isReport ? results.map(withoutCause) : results
  }
  // No recipient is named: the enclosed message may be the notification, or name the recipient.
  const enclosed = returned && !isEnclosed ? leafBytes(returned) : undefined
  const others = enclosed ? resultsIn(readMime(enclosed), { isEnclosed: true }) : []
  if (others.length > 0) return others
  const unnamed = unnamedResults(results, mail, text)
  return isReport ? unnamed.map(withoutCause) : unnamed
}

/**
 * Assigns results without a recipient to the recipient of the returned message, if it has only one.
 */
function unnamedResults(
  results: readonly BounceResult[],
  mail: MimeMessage,
  text: string,
): BounceResult[] {
  const [recipient = '', ...more] = returnedTo(mail)
  if (recipient === '' || more.length > 0) return [...results]
  if (results.length > 0) return results.map((result) => ({ ...result, recipient }))
  const action = actionStatedIn(mail.fields, text)
  return [judged({ ...unstated, recipient, text, action, context: text })]
}

/**
 * Removes a stated x.0.0 without a diagnostic from a mail that is not a report (RFC 6522): programs
 * that do not use status codes write it.
 */
function withoutVagueStatus(group: RecipientGroup): RecipientGroup {
  const isVague = group.stated?.endsWith('.0.0') === true && group.diagnostic === ''
  return isVague ? { ...group, stated: undefined } : group
}

/**
 * Replaces the reason `onhold` by `undefined` in a report: even its machine-readable part gives no
 * cause.
 */
function withoutCause(result: BounceResult): BounceResult {
  if (result.reason !== 'onhold' || !result.isStatusInferred) return result
  const reason = 'undefined'
  return { ...result, reason, status: inferredStatus(reason, result.status?.[0] === '4' ? 4 : 5) }
}

function returnedTo({ leaves }: MimeMessage): string[] {
  const [fields = []] = returnedHeaders(leaves)
  return parseMailboxes((fieldValue(fields, 'to') ?? '').slice(0, 8192)).map(
    ({ address }) => address,
  )
}

const statusTypes = ['message/delivery-status', 'message/global-delivery-status']
const explanationCharsMax = 64 * 1024
const resultsMax = 200

function found(results: BounceResult[]): { results: BounceResult[] } | undefined {
  return results.length === 0 ? undefined : { results: results.slice(0, resultsMax) }
}

/** The first readable text that is not part of the returned message. */
function explanationOf(mail: MimeMessage): string {
  const part = findLeaf(mail, 'text/plain') ?? findLeaf(mail, 'text/html')
  if (part === undefined) {
    const first = mail.leaves.find(({ type }) => !isMessage.test(type))
    return first ? bytesOf(first).slice(0, explanationCharsMax) : ''
  }
  const text = leafText(part).slice(0, explanationCharsMax)
  return part.type === 'text/html' ? withoutTags(text) : text
}

const isMessage = /^message\/(?:rfc822|global)$/

/** The decoded bytes of a part as a Latin-1 view with lines that end in LF. */
function bytesOf(part: MimeLeaf): string {
  return (leafBytes(part) ?? part.content).toString('latin1').replace(/\r\n?/g, '\n')
}

function groupResults(
  fields: readonly HeaderField[],
  groups: readonly RecipientGroup[],
  explanation: string,
): BounceResult[] {
  const own = systemText(explanation)
  const isOnly = groups.length === 1
  return groups.slice(0, resultsMax).map((group) => {
    const { diagnostic, comment } = group
    const recipient = recipientOf(group, isOnly ? own : '')
    const stated = isOnly ? own : sectionAbout(own, recipient)
    const reason = reasonOfCategory(group.category)
    return judged({
      ...group,
      recipient,
      action: group.action ?? actionStatedIn(fields, explanation),
      ...(reason && { reason }),
      text: [diagnostic === '' ? stated : wholeReply(diagnostic, own), comment].join('\n').trim(),
      context: group.isOfRecipient ? `${stated}\n(in reply to RCPT TO command)` : stated,
    })
  })
}

/**
 * The recipient's address. The group may name a route or a program instead of an address; then the
 * text may name the address.
 */
function recipientOf({ recipient }: RecipientGroup, text: string): string {
  if (/^[^@\s]+@/.test(recipient) || text === '') return recipient
  const origin = generatedFrom.exec(text)?.[1]
  if (origin !== undefined) return origin
  const [named, ...more] = recipientsInText(text)
  return named === undefined || more.length > 0 ? recipient : named
}

function resultsInText(fields: readonly HeaderField[], text: string): BounceResult[] {
  const own = systemText(text)
  const action = actionStatedIn(fields, text)
  const results = recipientSections(fields, text).map((section) => {
    const parsed = { ...section, ...unstated, action, context: section.text }
    const result = judged(parsed)
    // The text that applies to all recipients may come before the list of recipients.
    const isMute = isIdle(result.reason) && result.isStatusInferred
    return isMute ? judged({ ...parsed, text: own, context: own }) : result
  })
  // A result without a recipient and without a recognized reason carries no information.
  const tells = ({ recipient, reason, status, isStatusInferred }: BounceResult) =>
    recipient !== '' || !isIdle(reason) || (status !== undefined && !isStatusInferred)
  return results.filter(tells)
}

const unstated = { stated: undefined, type: '' }

/** The action that a text or its Subject states. A Subject may be that of the returned message. */
function actionStatedIn(fields: readonly HeaderField[], text: string): BounceResult['action'] {
  const own = systemText(text).slice(0, 8192)
  if (isSaid(notices.delays, own)) return 'delayed'
  const subject = decodeHeaderText((fieldValue(fields, 'subject') ?? '').slice(0, 1000))
  return isSaid(notices.delayedSubjects, subject) ? 'delayed' : 'failed'
}

function isIdle(reason: BounceReason): boolean {
  return reason === 'undefined' || reason === 'onhold'
}

type ParsedResult = {
  recipient: string
  action: BounceResult['action']
  stated: string | undefined
  type: string
  text: string
  context: string
  hosts?: readonly string[]
  reason?: BounceReason
}

// A reply to MAIL FROM that Exim quotes is about the sender, not the recipient.
const ofSender = /SMTP error from remote mail server after (?:pipelined )?MAIL FROM:/

/** Finds the reply code in the transcript line about a recipient. */
function transcribedCode(context: string, recipient: string): number | undefined {
  const at =
    recipient === '' ? -1 : context.toLowerCase().indexOf(`<${recipient.toLowerCase()}>...`)
  if (at < 0) return undefined
  const line = context.slice(context.lastIndexOf('\n', at) + 1, at)
  const code = /^([45][0-5]\d) (?:[45]\.\d\.\d{1,3} )?$/.exec(line)?.[1]
  return code === undefined ? undefined : Number(code)
}

/**
 * The status in the reply. If it only says that the time for the delivery is over, or if none is
 * stated but x.0.0, the explanation may give a more specific one.
 */
function repliedStatus(
  stated: string | undefined,
  text: string,
  context: string,
): string | undefined {
  const replied = statusIn(text)
  if ((replied ?? stated) === '4.4.7') return statusIn(context) ?? replied
  return replied ?? (stated?.endsWith('.0.0') ? transcribedStatus(context) : undefined)
}

function judged({
  recipient,
  action,
  stated,
  type,
  text,
  context,
  ...rest
}: ParsedResult): BounceResult {
  const isFailure = action === 'failed' || action === 'delayed'
  const found = repliedStatus(stated, text, context)
  // A text may contain a number that looks like the status of a success.
  const replied = isFailure && found?.startsWith('2') === true ? undefined : found
  const status = preferredStatus(stated, replied, replyCodeIn(text, replied))
  const replyCode = replyCodeIn(text, status) ?? transcribedCode(context, recipient)
  if (!isFailure) {
    const reason = 'delivered'
    return { recipient, action, status, isStatusInferred: false, replyCode, reason, hard: false }
  }
  const isDelayed = action === 'delayed'
  const failure = { text, context, status, replyCode, type, isDelayed, hosts: rest.hosts ?? [] }
  const reason = rest.reason ?? bounceReason(failure)
  const hard = isHardBounce(reason, status, replyCode)
  const known = { recipient, action, replyCode, reason, hard }
  if (status !== undefined) return { ...known, status, isStatusInferred: false }
  const isTransient =
    replyCode === undefined ? isDelayed || isSaid(notices.temporary, text) : replyCode < 500
  const made = inferredStatus(ofSender.test(text) ? 'onhold' : reason, isTransient ? 4 : 5)
  return { ...known, status: made, isStatusInferred: true }
}
