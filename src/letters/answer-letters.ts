import type { App } from '../app.ts'
import { type AnswerReader, listAnswerReaders } from '../db/feedback-answers.ts'
import type { Db } from '../db/pool.ts'
import { domainOf } from '../mail/address.ts'
import { letterText } from '../mail/letter.ts'
import type { AnswerKind } from '../mail/verp.ts'
import { textsIn } from '../texts/messages.ts'
import { queueLetter } from './send-letter.ts'

/** An abuse desk's answer, and the reports that it applies to. */
export type DeskAnswer = { reportIds: readonly string[]; address: string; answer: AnswerKind }

/** Maximum number of answer letters a day to one reporter; the history shows the other answers. */
const LETTERS_MAX = 20
const DAY_MS = 86_400_000

/**
 * Queues letters to the reporters who want answers by mail, one for each reporter. Omits the desk's
 * own words, which are untrusted; the page of the report shows and labels them.
 */
export async function queueAnswerLetters(
  tx: Db,
  { reportIds, address, answer }: DeskAnswer,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const limit = { since: new Date(now.getTime() - DAY_MS), lettersMax: LETTERS_MAX }
  for (const reader of await listAnswerReaders(tx, reportIds, limit)) {
    await queueOne(tx, reader, { address, answer }, app, now)
  }
}

async function queueOne(
  tx: Db,
  { reportId, reporterId, email, language, receivedAt }: AnswerReader,
  { address, answer }: Omit<DeskAnswer, 'reportIds'>,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const { publicUrl } = app.config
  const spoken = language ?? 'en'
  const texts = textsIn(spoken)
  const paragraphs = texts('answerLetters.text', {
    desk: domainOf(address) ?? address,
    says: texts(`answerLetters.answers.${answer}`),
    day: receivedAt,
    page: `${publicUrl}/reports/${reportId}`,
    settings: `${publicUrl}/settings`,
  })
  const subject = texts('answerLetters.subject')
  const letter = { kind: 'answer', to: email, subject, text: letterText(paragraphs) } as const
  const about = { reporterId, reportId, language: spoken, autoSubmitted: 'generated' } as const
  await queueLetter(tx, { ...letter, ...about }, app, now)
}
