import { bounceReason, isHardBounce } from './bounce-reason.ts'
import type { BounceReason } from './bounce-phrases.ts'
import { recipientsInText, systemText } from './bounce-text.ts'
import { decodeCharset } from '../encoded-word.ts'
import { fieldValue, parseHeader } from '../header.ts'
import type { HeaderField } from '../header.ts'
import { entityField, fieldParameter, leafText, ownPart, parseMimeTree } from '../mime-tree.ts'
import type { Entity } from '../mime-tree.ts'

/** What became of a message for one recipient. */
export type BounceResult = {
  /** The address as the reporting system gives it; empty when it gives none. */
  recipient: string
  /** RFC 3464 §2.3.3. */
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded'
  /** Enhanced status code, class.subject.detail (RFC 3463). */
  status: string | undefined
  /** SMTP reply code (RFC 5321 §4.2). */
  replyCode: number | undefined
  reason: BounceReason
  /** Whether writing to the address again is of no use. */
  hard: boolean
}

/**
 * Reads a delivery status notification: by its machine-readable part (RFC 3464), else by what the
 * text of a message that looks like one says. Undefined for any other mail. Any line ends. Never
 * throws.
 */
export function parseBounce(raw: Buffer): { results: BounceResult[] } | undefined {
  const tree = parseMimeTree(raw)
  if (tree === undefined) return undefined
  const part = statusTypes.map((type) => ownPart(tree, type)).find((found) => found !== undefined)
  const explanation = explanationOf(tree)
  const results = part === undefined ? [] : statusResults(part, explanation)
  if (results.length > 0) return { results }
  if (!looksLikeBounce(tree)) return undefined
  const told = textResults(tree.fields, explanation)
  return told.length === 0 ? undefined : { results: told }
}

const statusTypes = ['message/delivery-status', 'message/global-delivery-status']
const explanationCharsMax = 64 * 1024
const paragraphCharsMax = 1500
const lineCharsMin = 20
const resultsMax = 200

/** The first readable text that is not part of the returned message. */
function explanationOf(tree: Entity): string {
  const part = ownPart(tree, 'text/plain') ?? ownPart(tree, 'text/html')
  if (part === undefined)
    return tree.body.kind === 'leaf' ? tree.body.text.slice(0, explanationCharsMax) : ''
  const charset = fieldParameter(entityField(part, 'content-type') ?? '', 'charset')
  const bytes = Buffer.from(leafText(part).slice(0, explanationCharsMax), 'latin1')
  const text = decodeCharset(bytes, charset ?? 'utf-8').replace(/\r\n/g, '\n')
  return part.type === 'text/html' ? text.replace(/<[^>]{0,500}>/g, ' ') : text
}

function statusResults(part: Entity, explanation: string): BounceResult[] {
  const groups = leafText(part)
    .split(/\r\n[ \t]*(?:\r\n)+/)
    .map((group) => parseHeader(Buffer.from(group.trimStart(), 'latin1')).fields)
  const recipients = groups.filter(isRecipientGroup).slice(0, resultsMax)
  const said = (recipient: string, count: number) =>
    count === 1 ? explanation : paragraphAbout(explanation, recipient)
  return recipients.map((fields) =>
    groupResult(fields, (recipient) => said(recipient, recipients.length)),
  )
}

function isRecipientGroup(fields: readonly HeaderField[]): boolean {
  const keys = ['final-recipient', 'original-recipient', 'action', 'x-actual-recipient']
  return fields.some(({ key }) => keys.includes(key))
}

function groupResult(
  fields: readonly HeaderField[],
  saidOf: (recipient: string) => string,
): BounceResult {
  const value = (key: string) => fieldValue(fields, key) ?? ''
  const final = typedAddress(value('final-recipient'))
  const recipient = final === '' ? typedAddress(value('original-recipient')) : final
  const diagnostic = value('diagnostic-code').replace(/^\s*[\w-]+\s*;\s*/, '')
  const action = actionOf(value('action'))
  const text = diagnostic === '' ? saidOf(recipient) : diagnostic
  const stated = statusIn(value('status'))
  const status = repliedStatus(text) ?? (isVague(stated) ? (statusIn(text) ?? stated) : stated)
  return judged({ recipient, action, status, replyCode: replyCodeIn(text), text })
}

type Told = Pick<BounceResult, 'recipient' | 'action' | 'status' | 'replyCode'> & { text: string }

function judged({ text, ...told }: Told): BounceResult {
  if (told.action !== 'failed' && told.action !== 'delayed') {
    return { ...told, reason: 'delivered', hard: false }
  }
  const reason = bounceReason({ text, status: told.status, replyCode: told.replyCode })
  const hard = told.action === 'failed' && isHardBounce(reason, told.status)
  return { ...told, reason, hard }
}

/** A status that says no more than its class. */
function isVague(status: string | undefined): boolean {
  return status === undefined || status.endsWith('.0.0')
}

function typedAddress(value: string): string {
  const address = value.replace(/^\s*[\w-]+\s*;\s*/, '').trim()
  return /<([^<>]*)>/.exec(address.slice(0, 1000))?.[1] ?? address.replace(/\s*\(.*$|[<>]/g, '')
}

function actionOf(value: string): BounceResult['action'] {
  const word = /[a-z]+/.exec(value.toLowerCase())?.[0]
  if (word === 'delayed' || word === 'delivered') return word
  if (word === 'relayed' || word === 'expanded') return word
  return 'failed'
}

function statusIn(text: string): string | undefined {
  return /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/.exec(text)?.[0]
}

/** The status in an SMTP reply: nearer to the cause than what others make of it. */
function repliedStatus(text: string): string | undefined {
  const found = /\b[245][0-5]\d[\s-][\s#('"]*([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1]
  return isVague(found) ? undefined : found
}

// Before its status, after the words that announce it, else at the beginning of a word.
const replyCodes = [
  /(?:^|[\s:(<'"-])([245][0-5]\d)(?=[\s-][\s#(]*[245]\.\d{1,3}\.\d)/,
  /(?:^|(?:said|reply|response|code|error|smtp|host)\D{0,60})\b([45][0-5]\d)\b(?![.\d])/i,
  /(?:^|\s)([45][0-5]\d)[\s-]/,
]

function replyCodeIn(text: string): number | undefined {
  for (const form of replyCodes) {
    const found = form.exec(text)?.[1]
    if (found !== undefined) return Number(found)
  }
  return undefined
}

/** What a text says of a recipient: from its name to the next blank line or the next address. */
function paragraphAbout(text: string, recipient: string): string {
  const at = recipient === '' ? -1 : text.toLowerCase().indexOf(recipient.toLowerCase())
  if (at < 0) return text.slice(0, paragraphCharsMax)
  const rest = text.slice(at + recipient.length, at + paragraphCharsMax)
  const end = /\n\s*\n|\n[^\s@]{1,64}@[^\s@]{1,253}:/g
  for (const stop of rest.matchAll(end)) {
    if (stop.index > lineCharsMin) return rest.slice(0, stop.index)
  }
  return rest
}

const bounceSubjects = [
  /undeliver|deliver(?:y|ed|ing)|returned? (?:mail|to sender)|mailer|bounce/i,
  /failure (?:notice|notification)|mail (?:failed|error|system)|could not be|rejected/i,
  /non[- ]remis|unzustellbar|warning: (?:message|could)/i,
]

/** A notification that does not follow RFC 3464: from a mail system, or about mail it returns. */
function looksLikeBounce({ fields }: Entity): boolean {
  if (fieldValue(fields, 'x-failed-recipients') !== undefined) return true
  const from = fieldValue(fields, 'from') ?? ''
  const isSystem =
    /mailer-?daemon|postmaster|mail[ -]?(?:delivery|system|admin)|mdaemon|\bmta\b/i.test(from)
  const isNull = (fieldValue(fields, 'return-path') ?? '').replace(/\s/g, '') === '<>'
  const subject = fieldValue(fields, 'subject') ?? ''
  return (isSystem || isNull) && bounceSubjects.some((form) => form.test(subject))
}

function textResults(fields: readonly HeaderField[], explanation: string): BounceResult[] {
  const listed = (fieldValue(fields, 'x-failed-recipients') ?? '').split(/[\s,]+/).filter(Boolean)
  const recipients = listed.length > 0 ? listed : recipientsInText(explanation)
  const own = systemText(explanation)
  const isOne = recipients.length < 2
  const results = (isOne ? [recipients[0] ?? ''] : recipients).map((recipient) => {
    const text = isOne ? own : paragraphAbout(own, recipient)
    const status = repliedStatus(text) ?? statusIn(text)
    const replyCode = replyCodeIn(text)
    return judged({ recipient, action: 'failed', status, replyCode, text })
  })
  // Nobody named and nothing recognized: whatever it is, it tells nothing.
  return results.filter(({ recipient, reason }) => recipient !== '' || reason !== 'undefined')
}
