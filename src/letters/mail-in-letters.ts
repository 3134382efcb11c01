import { letterText } from '../mail/letter.ts'
import { type Code, codesBelow, type Language, type Texts, textsIn } from '../texts/messages.ts'

/** How to forward a message as an attachment, by mail program. */
export function howToForward(texts: Texts): [program: string, steps: string][] {
  return codesBelow('mailIn.howTo.')
    .filter(({ rest: [, field] }) => field === 'program')
    .map(({ code, rest: [program] }) => [
      texts(code as Code),
      texts(`mailIn.howTo.${program}.steps` as Code),
    ])
}

/** The result of a mail that a reporter sent in. */
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
): { subject: string; text: string } {
  const texts = textsIn(language)
  const { taken, refused, beyond, unreadable } = result
  const isWhole = refused === 0 && beyond === 0 && unreadable === 0
  const needsHelp = taken === 0 || unreadable > 0
  const kind = taken === 0 ? 'nothing' : isWhole ? 'confirmed' : 'mixed'
  const sections = [
    texts('mailIn.greeting'),
    taken === 0
      ? texts('mailIn.nothing')
      : texts(isWhole ? 'mailIn.confirmed' : 'mailIn.taken', { taken }),
    refused > 0 && texts('mailIn.refused', { refused }),
    beyond > 0 && texts('mailIn.beyond', { beyond, messagesMax: result.messagesMax }),
    unreadable > 0 && texts('mailIn.unreadable'),
    needsHelp && texts('mailIn.howTo'),
    ...(needsHelp ? howToForward(texts).map(([name, steps]) => `- ${name}: ${steps}`) : []),
    taken > 0 && texts('mailIn.page', { reports: `${publicUrl}/reports` }),
    texts('mailIn.why', { settings: `${publicUrl}/settings` }),
  ]
  const paragraphs = sections.filter((one) => typeof one === 'string')
  return { subject: texts(`mailIn.subjects.${kind}`), text: letterText(paragraphs) }
}
