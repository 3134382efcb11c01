import type { App } from '../app.ts'
import { type AnswerWay, insertAnswer, listAnswers } from '../db/feedback-answers.ts'
import type { Feedback, FeedbackKey } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { oweAnswerLetters } from '../letters/answer/owe-answer-letters.ts'
import type { AnswerKind } from '../mail/answer-links.ts'
import { oweWebhooks } from '../queue/owe-webhooks.ts'
import { storableText } from '../mail/storable-text.ts'
import { speakerOf } from './feedback-words.ts'
import { markResolved, markWrong } from './mark-answer.ts'
import { markNotOurs } from './mark-not-ours.ts'
import { findLeft, listMeant } from './merged-members.ts'
import { stopConsumer } from './stop-consumer.ts'

/** What became of an answer: a repeated one changes nothing, nor does one to what we never sent. */
export type AnswerTaken = 'taken' | 'repeated' | 'unknown'

/** What comes with an answer: the desk's own words, and the mail they came in. */
export type AnswerContext = { said?: string | undefined; mailId?: string | undefined }

/** Of a desk's own words so many characters are kept. */
export const SAID_CHARACTERS_MAX = 2_000

const details: Record<AnswerKind, string> = {
  resolved: 'says that it has dealt with it.',
  'not-ours': 'says that the address is not in its network.',
  wrong: 'says that the report is wrong.',
  stop: 'asked for no more feedback reports.',
}

/**
 * Takes what an abuse desk says to one feedback report, in the transaction of the caller: keeps it
 * once, tells it in the stories of the reports it is about, and does what it asks for. Who calls
 * has made sure that it is the desk that speaks.
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
  const feedback = await findLeft(tx, { reportId, number })
  if (!feedback) return 'unknown'
  const words = storableText(said?.trim() ?? '', SAID_CHARACTERS_MAX)
  const isNew = await insertAnswer(tx, {
    ...{ reportId, number, answer, how, at: now, mailId: mailId ?? null },
    said: words === '' ? null : words,
  })
  if (!isNew) return 'repeated'
  await tellReporters(tx, feedback, answer, app, now)
  await obey(tx, feedback, answer, app, now)
  return 'taken'
}

/** The reporters of all it stands for. */
async function tellReporters(
  tx: Db,
  feedback: Feedback,
  answer: AnswerKind,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const { reportId, number, address } = feedback
  const meant = await listMeant(tx, feedback, answer === 'not-ours' ? 'of its block' : 'all')
  const reportIds = [...new Set([reportId, ...meant.map((one) => one.reportId)])]
  const event = {
    at: now,
    event: `desk-${answer}`,
    detail: `${speakerOf(feedback)} ${details[answer]}`,
  } as const
  await insertEvents(
    tx,
    reportIds.map((id) => ({ reportId: id, ...event })),
  )
  await oweWebhooks(tx, app.boss, { 'report.answered': reportIds }, now)
  const others = (await listAnswers(tx, [reportId])).filter((one) => one.number !== number)
  if (others.some((one) => one.answer === answer)) return
  await oweAnswerLetters(tx, { reportIds, address, answer }, app, now)
}

async function obey(
  tx: Db,
  { reportId, number, consumerId }: Feedback,
  answer: AnswerKind,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<void> {
  const key = { reportId, number }
  if (answer === 'resolved') await markResolved(tx, key)
  if (answer === 'wrong') await markWrong(tx, key)
  if (answer === 'not-ours') await markNotOurs(tx, key, app, now)
  if (answer === 'stop') await stopConsumer(tx, consumerId, { why: 'It asked us to stop.' }, now)
}
