import type { App } from '../../app.ts'
import { type AnswerReader, listAnswerReaders } from '../../db/feedback-answers.ts'
import type { Db } from '../../db/pool.ts'
import type { AnswerKind } from '../../mail/answer-links.ts'
import { domainOf } from '../../mail/address.ts'
import { oweLetter } from '../owe-letter.ts'
import { answerWords } from './answer-words.ts'

/** What an abuse desk said, and to which reports it counts. */
export type DeskAnswer = { reportIds: readonly string[]; address: string; answer: AnswerKind }

/** Of a day, to one reporter: the rest stands in the history. */
const LETTERS_MAX = 20
const DAY_MS = 86_400_000

/**
 * Writes to the reporters who want answers by mail, to each once for an answer. The desk's own
 * words are left out: they are a stranger's, and stand on the page of the report, which says so.
 */
export async function oweAnswerLetters(
  tx: Db,
  { reportIds, address, answer }: DeskAnswer,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const limit = { since: new Date(now.getTime() - DAY_MS), lettersMax: LETTERS_MAX }
  for (const reader of await listAnswerReaders(tx, reportIds, limit)) {
    await oweOne(tx, reader, { address, answer }, app, now)
  }
}

async function oweOne(
  tx: Db,
  { reportId, reporterId, email, language, receivedAt }: AnswerReader,
  { address, answer }: Omit<DeskAnswer, 'reportIds'>,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const { publicUrl } = app.config
  const spoken = language ?? 'en'
  const words = answerWords[spoken]
  const format = new Intl.DateTimeFormat(spoken === 'en' ? 'en-GB' : spoken, {
    dateStyle: 'long',
    timeZone: 'UTC',
  })
  const text = words.text({
    desk: domainOf(address) ?? address,
    says: words.answers[answer],
    day: format.format(receivedAt),
    page: `${publicUrl}/reports/${reportId}`,
    settings: `${publicUrl}/settings`,
  })
  const letter = { kind: 'answer', to: email, subject: words.subject, text } as const
  const about = { reporterId, reportId, language: spoken, autoSubmitted: 'generated' } as const
  await oweLetter(tx, { ...letter, ...about }, app, now)
}
