import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField } from '../header.ts'
import { isSaid, notices } from './phrases.ts'
import { systemText } from './recipients-in-text.ts'

const textCharsRead = 4000
/** Names that mail systems use as authors. */
export const systemNames = new RegExp(
  [
    'mailer-?daemon|post_?master|mail[ -]?(?:deliver|system|admin|daemon)',
    'mdaemon|\\bmta\\b|\\bndr\\b|amavis|smtp_mail_service|anti_?virus|\\bimss\\b',
  ].join('|'),
  'i',
)
const listManager = /^[^@]{0,200}(?:-admin|-owner|-request|owner-[^@]{0,60}|majordomo|listserv)@/i

/** Names that gateways and their administrators use as authors of mail. */
const role = /\b(?:admin(?:istrator)?|system|gateway|inetgw\d*|smtp\w*|robot|notif\w*|dsn)\b/i
/**
 * An SMTP refusal code. Required in mail from a mail system with a reply subject, because people
 * also write from addresses that look like those of mail systems.
 */
const refusalCode = /(?:^|[\s:])[45][0-5]\d[ -]/m
/** Addresses of sending services that return messages but accept no replies. */
const unanswered = /\b(?:no|do-?not)-?reply@/i

/**
 * Whether a mail without a machine-readable part is a bounce notification. That is the case for
 * mail:
 *
 * - from a mail system or without a return path, with a subject or text that says that something
 *   was not delivered
 * - from an address that accepts no replies, with a text that says so and the returned message
 *   (`isReturning`)
 * - from a gateway, with a subject and a text that say so and the returned message after the text
 * - from a mailing list manager that rejects a post
 *
 * Mail in which a person writes about a bounce is not a notification.
 */
export function looksLikeBounce(
  fields: readonly HeaderField[],
  explanation: string,
  isReturning = false,
): boolean {
  if (fieldValue(fields, 'x-failed-recipients') !== undefined) return true
  const from = (fieldValue(fields, 'from') ?? '').slice(0, 1000)
  const subject = decodeHeaderText((fieldValue(fields, 'subject') ?? '').slice(0, 1000))
  const returnPath = (fieldValue(fields, 'return-path') ?? '').slice(0, 1000).replace(/\s/g, '')
  const isNull = returnPath === '<>' || /^<?mailer-daemon\b/i.test(returnPath)
  if (systemNames.test(from) || isNull || /^\s*<>\s*$/.test(from)) {
    const start = explanation.slice(0, textCharsRead).replace(/^>.*$/gm, '')
    const isAnswer = !isNull && /^\s*(?:re|aw|sv|antw)\s*:/i.test(subject)
    if (isAnswer) return refusalCode.test(start) && isSaid(notices.texts, start)
    const isAway = fieldValue(fields, 'x-autoreply') !== undefined
    if (isSaid(notices.subjects, subject)) return true
    if (isAway) return false
    if (isReturning && /\bmailer-?daemon\b/i.test(from)) return true
    return isSaid(notices.texts, start)
  }
  const isFailure = isSaid(notices.failureSubjects, subject) && role.test(from)
  if ((isReturning && unanswered.test(from)) || isFailure) {
    const start = explanation.slice(0, textCharsRead).replace(/^>.*$/gm, '')
    const isProven = isReturning || systemText(start) !== start
    return isProven && isSaid(notices.texts, start)
  }
  const author = /<([^<>]{1,320})>/.exec(from)?.[1] ?? from.trim()
  return listManager.test(author) && isSaid(notices.refusedPosts, subject)
}
