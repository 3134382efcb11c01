import type { App } from '../app.ts'
import { type AnswerWay, insertAnswer } from '../db/feedback-answers.ts'
import { type Feedback, type FeedbackKey, findFeedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import type { AnswerKind } from '../mail/answer-links.ts'
import { storableText } from '../mail/storable-text.ts'

/** What became of an answer: a repeated one changes nothing, nor does one to what we never sent. */
export type AnswerTaken = 'taken' | 'repeated' | 'unknown'

/** What comes with an answer: the desk's own words, and the mail they came in. */
export type AnswerContext = { said?: string | undefined; mailId?: string | undefined }

/** Of a desk's own words so many characters are kept. */
export const SAID_CHARACTERS_MAX = 2_000

const details: Record<AnswerKind, string> = {
  resolved: 'The abuse desk says that it has dealt with it.',
  'not-ours': 'The abuse desk says that the address is not in its network.',
  wrong: 'The abuse desk says that the report is wrong.',
  stop: 'The abuse desk asked for no more feedback reports.',
}

/** Whether a feedback report left, so that its consumer can have something to say to it. */
export function hasLeft({ state }: Pick<Feedback, 'state'>): boolean {
  return state === 'sent' || state === 'bounced'
}

/**
 * Takes what an abuse desk says to one feedback report, in the transaction of the caller: keeps it
 * once, tells it in the report's story, and does what it asks for. Who calls has made sure that it
 * is the desk that speaks.
 */
export async function takeAnswer(
  tx: Db,
  { reportId, number }: FeedbackKey,
  answer: AnswerKind,
  how: AnswerWay,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
  { said, mailId }: AnswerContext = {},
): Promise<AnswerTaken> {
  void app
  const feedback = await findFeedback(tx, { reportId, number })
  if (!feedback || !hasLeft(feedback)) return 'unknown'
  const isNew = await insertAnswer(tx, {
    ...{ reportId, number, answer, how, at: now },
    said: storableText(said?.trim() ?? '', SAID_CHARACTERS_MAX) || null,
    mailId: mailId ?? null,
  })
  if (!isNew) return 'repeated'
  await insertEvents(tx, [{ reportId, at: now, event: `desk-${answer}`, detail: details[answer] }])
  return 'taken'
}
