import { parseBounce } from '../mail/bounces/parse-bounce.ts'
import type { BounceResult } from '../mail/bounces/parse-bounce.ts'
import { parseFeedbackReport } from '../mail/feedback-report.ts'
import { fieldValue } from '../mail/header.ts'
import type { HeaderField } from '../mail/header.ts'
import { storableText } from '../mail/storable-text.ts'

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
export type Feedback = { fields: [name: string, value: string][] }

const resultsMax = 100
const fieldsMax = 200
const addressCharsMax = 320
const valueCharsMax = 1000

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
export function readFeedback(raw: Buffer): Feedback | null {
  if (!raw.includes('feedback-report') && !raw.includes('complaint about message')) return null
  const report = parseFeedbackReport(raw)
  if (!report) return null
  const fields = report.fields
    .slice(0, fieldsMax)
    .map(([name, value]): [string, string] => [
      storableText(name, valueCharsMax),
      storableText(value, valueCharsMax),
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
