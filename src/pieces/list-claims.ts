import { domainToASCII } from 'node:url'
import { domainOf, parseMailboxes } from '../mail/address.ts'
import { type BounceResult, parseBounce } from '../mail/bounces/parse-bounce.ts'
import { parseTagList } from '../mail/dkim-signature.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import { fieldValue, fieldValues, type HeaderField } from '../mail/header.ts'
import type { Unsubscribe } from '../mail/list-unsubscribe.ts'
import { parseFeedbackReport } from '../mail/mail-parts.ts'
import { storableText } from '../mail/text.ts'
import type { Authentication } from '../origin/authenticity/authenticate.ts'
import { chooseSignatures } from '../origin/authenticity/dkim.ts'

/** What a message says of its list, where it says it once. */
export type ListClaims = {
  /** In lower case; null without one, or with several: a forwarder or forger may add another. */
  listId: string | null
  /** The domain of its only author, in lower case and ASCII. */
  authorDomain: string | null
  /**
   * Who signed how to unsubscribe with one click: domains of verified signatures that cover both
   * fields, each of which stands in the message once (RFC 8058 §4).
   */
  oneClickSigners: string[]
}

const idCharsMax = 255
const CLAIM_CHARS_MAX = 4_000

/** Reads them. Nothing of it proves anything by itself. */
export function listClaims(
  fields: readonly HeaderField[],
  authentication: Pick<Authentication, 'dkim'> | null,
  unsubscribe: Unsubscribe | null,
): ListClaims {
  const isClickable = unsubscribe?.oneClick === true && isOnce(fields, unsubscribeFields)
  return {
    listId: readListId(fields),
    authorDomain: readAuthorDomain(fields),
    oneClickSigners: isClickable && authentication ? signersOver(fields, authentication.dkim) : [],
  }
}

const unsubscribeFields = ['list-unsubscribe', 'list-unsubscribe-post']

function isOnce(fields: readonly HeaderField[], keys: readonly string[]): boolean {
  return keys.every((key) => fields.filter((field) => field.key === key).length === 1)
}

function signersOver(fields: readonly HeaderField[], findings: Authentication['dkim']): string[] {
  const { chosen } = chooseSignatures(fields)
  const signers = chosen.flatMap(({ field, domain }, index) => {
    const finding = findings[index]
    if (finding?.result !== 'pass' || finding.domain !== domain) return []
    const signed = (parseTagList(field.value)?.get('h') ?? '').toLowerCase().split(':')
    const names = new Set(signed.map((name) => name.trim()))
    return unsubscribeFields.every((key) => names.has(key)) ? [domain] : []
  })
  return [...new Set(signers)]
}

/** RFC 2919 §2: what stands in angle brackets; many write it bare. */
function readListId(fields: readonly HeaderField[]): string | null {
  if (!isOnce(fields, ['list-id'])) return null
  const written = (fieldValue(fields, 'list-id') ?? '').slice(0, CLAIM_CHARS_MAX)
  const open = written.lastIndexOf('<')
  const close = written.indexOf('>', open)
  const id = open >= 0 && close > open ? written.slice(open + 1, close) : written
  return storableText(id.replaceAll(/\s/g, ''), idCharsMax).toLowerCase() || null
}

function readAuthorDomain(fields: readonly HeaderField[]): string | null {
  const [from, ...more] = fieldValues(fields, 'from')
  if (from === undefined || more.length > 0) return null
  const [mailbox, ...others] = parseMailboxes(from.slice(0, CLAIM_CHARS_MAX))
  if (!mailbox || others.length > 0) return null
  // Decoded before its letters are made small: until then it is bytes.
  const domain = domainOf(decodeHeaderText(mailbox.address))
  return (domain && domainToASCII(domain).toLowerCase()) || null
}

/** What a delivery status notification says, recipient by recipient (RFC 3464). */
export type Bounce = {
  /** The token of our return path that it came back to; null until the receiver tells. */
  token: string | null
  results: {
    recipient: string | null
    action: BounceResult['action']
    /** Enhanced status code (RFC 3463). */
    status: string | null
    /** SMTP reply code. */
    replyCode: number | null
    /** Whether the status was made of the reason, because nobody stated one. */
    isStatusInferred: boolean
    reason: BounceResult['reason']
    hard: boolean
  }[]
}

/** The fields of a feedback report (RFC 5965 §3), names as written, in their order. */
export type ReturnedFeedback = { fields: [name: string, value: string][] }

const resultsMax = 100
const fieldsMax = 200
const addressCharsMax = 320
const STATUS_CHARS_MAX = 1000

/** What a bounce says; null for other mail. Only mail that a machine seems to return is read. */
export function readBounce(raw: Buffer, fields: readonly HeaderField[]): Bounce | null {
  const bounce = seemsReturned(raw, fields) ? parseBounce(raw) : undefined
  if (!bounce) return null
  const results = bounce.results.slice(0, resultsMax).map((result) => ({
    recipient: result.recipient === '' ? null : storableText(result.recipient, addressCharsMax),
    action: result.action,
    status: result.status ?? null,
    isStatusInferred: result.isStatusInferred,
    replyCode: result.replyCode ?? null,
    reason: result.reason,
    hard: result.hard,
  }))
  return { token: null, results }
}

/** What a feedback report states; null for other mail. */
export function readFeedback(raw: Buffer): ReturnedFeedback | null {
  if (!raw.includes('feedback-report') && !raw.includes('complaint about message')) return null
  const report = parseFeedbackReport(raw)
  if (!report) return null
  const fields = report.fields
    .slice(0, fieldsMax)
    .map(([name, value]): [string, string] => [
      storableText(name, STATUS_CHARS_MAX),
      storableText(value, STATUS_CHARS_MAX),
    ])
  return { fields }
}

/** Cheap to ask of every message, so that the MIME tree is built for few. */
function seemsReturned(raw: Buffer, fields: readonly HeaderField[]): boolean {
  if (fieldValue(fields, 'return-path')?.startsWith('<>')) return true
  if (/report|delivery-status/i.test(fieldValue(fields, 'content-type') ?? '')) return true
  if (fields.some(({ key }) => key === 'x-failed-recipients')) return true
  const author = (fieldValue(fields, 'from') ?? '').slice(0, 500)
  if (/daemon|post_?master|mail ?deliver|mta-?master|amavis|\bndr\b/i.test(author)) return true
  const subject = (fieldValue(fields, 'subject') ?? '').slice(0, 500)
  if (
    /deliver|return|undeliver|fail|bounce|rejected|notif|NDN|refus|not sen[dt]|error|member/i.test(
      subject,
    )
  )
    return true
  return raw.includes('delivery-status') || raw.includes('"notificationType"')
}
