import { domainToASCII } from 'node:url'
import { domainOf, parseMailboxes } from '../mail/address.ts'
import { type BounceResult, parseBounce } from '../mail/bounces/parse-bounce.ts'
import { parseTagList } from '../mail/dkim-signature.ts'
import { decodeHeaderText } from '../mail/encoded-word.ts'
import { fieldValue, fieldValues, type HeaderField } from '../mail/header.ts'
import type { Unsubscribe } from '../mail/list-unsubscribe.ts'
import { mayBeFeedbackReport, parseFeedbackReport } from '../mail/mail-parts.ts'
import { storableText } from '../mail/text.ts'
import type { Authentication } from '../origin/authenticity/authenticate.ts'
import { chooseSignatures } from '../origin/authenticity/dkim.ts'

export type ListClaims = {
  /**
   * In lower case; null without a List-Id, or with several, because a forwarder or forger may add
   * another.
   */
  listId: string | null
  /** The domain of the message's only author, in lower case and ASCII. */
  authorDomain: string | null
  /**
   * Domains whose verified signatures cover all one-click unsubscribe fields (RFC 8058 §4), also
   * if one of them occurs several times.
   */
  oneClickSigners: string[]
  /** Domains whose verified signatures cover List-Unsubscribe; absent without any. */
  unsubscribeSigners?: string[]
}

const idCharsMax = 255
const CLAIM_CHARS_MAX = 4_000

/** Returns what a message states about its mailing list. The statements alone prove nothing. */
export function listClaims(
  fields: readonly HeaderField[],
  authentication: Pick<Authentication, 'dkim'> | null,
  unsubscribe: Unsubscribe | null,
): ListClaims {
  const findings = unsubscribe && authentication ? authentication.dkim : []
  const unsubscribeSigners = signersOver(fields, findings, ['list-unsubscribe'])
  return {
    listId: readListId(fields),
    authorDomain: readAuthorDomain(fields),
    oneClickSigners:
      unsubscribe?.oneClick === true && authentication
        ? signersOver(fields, authentication.dkim, oneClickFields)
        : [],
    ...(unsubscribeSigners.length > 0 && { unsubscribeSigners }),
  }
}

const oneClickFields = ['list-unsubscribe', 'list-unsubscribe-post']

/**
 * Returns the domains whose valid signatures name some fields, given in lower case, at least as
 * often as they occur: a signature that names a field twice covers two of them (RFC 6376 §5.4.2),
 * and not a third that was added later.
 */
function signersOver(
  fields: readonly HeaderField[],
  findings: Authentication['dkim'],
  keys: readonly string[],
): string[] {
  if (findings.length === 0) return []
  const { chosen } = chooseSignatures(fields)
  const signers = chosen.flatMap(({ field, domain }, index) => {
    const finding = findings[index]
    if (finding?.result !== 'pass' || finding.domain !== domain) return []
    const named = (parseTagList(field.value)?.get('h') ?? '').toLowerCase().split(':')
    const signed = named.map((name) => name.trim())
    const isCovered = (key: string) =>
      signed.filter((name) => name === key).length >= fieldValues(fields, key).length
    return keys.every(isCovered) ? [domain] : []
  })
  return [...new Set(signers)]
}

/**
 * Returns the List-Id: the text in angle brackets (RFC 2919 §2), or the whole value if there are
 * none, because many senders omit them.
 */
function readListId(fields: readonly HeaderField[]): string | null {
  const [value, ...others] = fieldValues(fields, 'list-id')
  if (value === undefined || others.length > 0) return null
  const written = value.slice(0, CLAIM_CHARS_MAX)
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
  // Decodes before lower-casing, because the field consists of bytes until then.
  const domain = domainOf(decodeHeaderText(mailbox.address))
  return (domain && domainToASCII(domain).toLowerCase()) || null
}

/** Results of a delivery status notification, one for each recipient (RFC 3464). */
export type Bounce = {
  /**
   * The token in our return path to which the bounce was sent; null until the receiving process
   * sets it.
   */
  token: string | null
  results: {
    recipient: string | null
    action: BounceResult['action']
    /** Enhanced status code (RFC 3463). */
    status: string | null
    replyCode: number | null
    /** Whether the status was inferred from the reason, because none was stated. */
    isStatusInferred: boolean
    reason: BounceResult['reason']
    hard: boolean
  }[]
}

/** The fields of a feedback report (RFC 5965 §3), with names as written, in order. */
export type ReturnedFeedback = { fields: [name: string, value: string][] }

const resultsMax = 100
const fieldsMax = 200
const addressCharsMax = 320
const STATUS_CHARS_MAX = 1000

/**
 * Parses a bounce; null for other mail. To save time, parses only messages that look like bounces.
 */
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

/** Parses the fields of a feedback report; null for other mail. `fields` is its whole header. */
export function readFeedback(raw: Buffer, fields: readonly HeaderField[]): ReturnedFeedback | null {
  if (!mayBeFeedbackReport(fields)) return null
  if (!raw.includes('feedback-report') && !raw.includes('complaint about message')) return null
  const report = parseFeedbackReport(raw)
  if (!report) return null
  const found = report.fields
    .slice(0, fieldsMax)
    .map(([name, value]): [string, string] => [
      storableText(name, STATUS_CHARS_MAX),
      storableText(value, STATUS_CHARS_MAX),
    ])
  return { fields: found }
}

/** A cheap check, so that the MIME tree is built for few messages. */
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
