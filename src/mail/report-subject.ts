import { decodeHeaderText } from './encoded-word.ts'
import { feedbackTypes } from './feedback-fields.ts'
import type { FeedbackFacts } from './feedback-fields.ts'
import { fieldValue } from './header.ts'
import type { HeaderField } from './header.ts'
import { cleanLine } from './plain-text.ts'
import { composeEncodedWords, foldText, unfoldField } from './seven-bit.ts'

/**
 * The Subject of a report, folded: that of the message it is about (RFC 5965 §2, point h), or what
 * the report is when there is none. A message that a mail system wrote, or that reads so, gets the
 * prefix of a forwarded mail, which the RFC allows: readers of bounces go by the Subject first, and
 * would take the report for a bounce or a vacation answer itself.
 */
export function composeReportSubject(facts: FeedbackFacts, fields: readonly HeaderField[]): string {
  const field = fields.find(({ key }) => key === 'subject')
  const given = field === undefined ? '' : givenSubject(field)
  const room = 'Subject: '.length
  if (given === '') {
    return foldText(`${feedbackTypes[facts.feedbackType]} from ${facts.sourceIp}`, room)
  }
  return foldText(readsAsAutomatic(fields) ? `[Fwd: ${given} ]` : given, room)
}

const subjectCharsMax = 1_000

/**
 * The Subject as it stands, if a reader sees one line of it; else as it reads in one line: encoded
 * words may hold line ends. Mail servers refuse mail with an endless header, so it is cut.
 */
function givenSubject(field: HeaderField): string {
  const written = composeEncodedWords(unfoldField(field)).trim()
  const read = decodeHeaderText(written)
  const isOneLine = cleanLine(read) === read.trim().toWellFormed()
  if (isOneLine && written.length <= subjectCharsMax) return written
  const line = [...cleanLine(read)].slice(0, subjectCharsMax).join('')
  return composeEncodedWords(Buffer.from(line).toString('latin1'))
}

const automaticSubject = new RegExp(
  '^(?:auto\\w{0,9}[ -]{0,3}(?:reply|response|answer)|out of (?:the )?office|undeliver|' +
    'failure notice|returned mail|(?:mail )?delivery )',
  'i',
)
const mailSystem = /(?:^|[<\s])(?:mailer-daemon|postmaster)@/i

function readsAsAutomatic(fields: readonly HeaderField[]): boolean {
  if (fieldValue(fields, 'return-path')?.replace(/\s/g, '') === '<>') return true
  const authors = ['from', 'return-path'].map((key) => fieldValue(fields, key) ?? '')
  if (authors.some((author) => mailSystem.test(author))) return true
  const submitted = fieldValue(fields, 'auto-submitted')?.toLowerCase()
  if (submitted !== undefined && submitted !== 'no') return true
  return automaticSubject.test(decodeHeaderText(fieldValue(fields, 'subject') ?? '').trim())
}
