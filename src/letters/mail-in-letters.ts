import { type Code, codesBelow, type Language, type Texts, textsIn } from '../texts/messages.ts'
import { composeBody, type LetterBody } from './letter-body.ts'

/** How to forward a message as an attachment, by mail program. */
export function howToForward(texts: Texts): [program: string, steps: string][] {
  return codesBelow('mailIn.howTo.')
    .filter(({ rest: [, field] }) => field === 'program')
    .map(({ code, rest: [program] }) => [
      texts(code as Code),
      texts(`mailIn.howTo.${program}.steps` as Code),
    ])
}

export type MailInResult = {
  /** Messages that became reports. */
  taken: number
  /** Attached messages that were refused because of their content. */
  refused: number
  /** Messages beyond the maximum for one mail. */
  beyond: number
  messagesMax: number
  /** Archives, and files in a format of Outlook. */
  unreadable: number
}

/**
 * Composes the answer to a mail with messages to report: that the first one arrived, what was not
 * accepted, or how to forward messages correctly. It contains no untrusted text.
 */
export function composeMailInAnswer(
  result: MailInResult,
  language: Language,
  publicUrl: string,
): LetterBody & { subject: string } {
  const texts = textsIn(language)
  const { taken, refused, beyond, unreadable } = result
  const isWhole = refused === 0 && beyond === 0 && unreadable === 0
  const needsHelp = taken === 0 || unreadable > 0
  const kind = taken === 0 ? 'nothing' : isWhole ? 'confirmed' : 'mixed'
  const items = howToForward(texts).map(([name, steps]) => {
    return `${name}${texts('marks.colon')} ${steps}`
  })
  const parts = [
    texts('mailIn.greeting'),
    taken === 0
      ? texts('mailIn.nothing')
      : texts(isWhole ? 'mailIn.confirmed' : 'mailIn.taken', { taken }),
    ...(refused > 0 ? [texts('mailIn.refused', { refused })] : []),
    ...(beyond > 0 ? [texts('mailIn.beyond', { beyond, messagesMax: result.messagesMax })] : []),
    ...(unreadable > 0 ? [texts('mailIn.unreadable')] : []),
    ...(needsHelp ? [{ title: texts('mailIn.howTo') }, { items }] : []),
    ...(taken > 0 ? [{ action: texts('mailIn.page'), url: `${publicUrl}/reports` }] : []),
    { small: texts('mailIn.why'), url: `${publicUrl}/settings` },
  ]
  return { subject: texts(`mailIn.subjects.${kind}`), ...composeBody(parts, language) }
}
