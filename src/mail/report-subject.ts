import { decodeHeaderText } from './encoded-word.ts'
import { feedbackTypes } from './feedback-fields.ts'
import type { FeedbackFacts } from './feedback-fields.ts'
import { fieldValue } from './header.ts'
import type { HeaderField } from './header.ts'
import { composeEncodedWords, foldText, unfoldField } from './seven-bit.ts'

/**
 * The Subject of a report, folded: that of the message it is about (RFC 5965 §2, point h), or what
 * the report is when there is none. A message that a mail system wrote, or that reads so, gets the
 * prefix of a forwarded mail, which the RFC allows: readers of bounces go by the Subject first, and
 * would take the report for a bounce or a vacation answer itself.
 */
export function composeReportSubject(facts: FeedbackFacts, fields: readonly HeaderField[]): string {
  const field = fields.find(({ key }) => key === 'subject')
  const given = field === undefined ? '' : composeEncodedWords(unfoldField(field)).trim()
  const room = 'Subject: '.length
  if (given === '') {
    return foldText(`${feedbackTypes[facts.feedbackType]} from ${facts.sourceIp}`, room)
  }
  return foldText(readsAsAutomatic(fields) ? `[Fwd: ${given} ]` : given, room)
}

const automaticSubject =
  /^(?:auto\w*[ -]*(?:reply|response|answer)|out of (?:the )?office|undeliver|failure notice|returned mail|(?:mail )?delivery )/i

function readsAsAutomatic(fields: readonly HeaderField[]): boolean {
  if (fieldValue(fields, 'return-path')?.replace(/\s/g, '') === '<>') return true
  const submitted = fieldValue(fields, 'auto-submitted')?.toLowerCase()
  if (submitted !== undefined && submitted !== 'no') return true
  return automaticSubject.test(decodeHeaderText(fieldValue(fields, 'subject') ?? '').trim())
}
