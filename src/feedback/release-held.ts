import { z } from 'zod'
import { type Action, type ActionContext, defineAction, wholeNumber } from '../actions.ts'
import { listConsumers } from '../db/consumers.ts'
import {
  advanceDueFeedback,
  type HeldChoice,
  listQueuedReports,
  queueShadowed,
  type ReleasedState,
  releaseFeedback,
} from '../db/feedback-waiting.ts'
import { releaseLetters } from '../db/letters.ts'
import { startPostponedJobs } from '../db/jobs.ts'
import { endPause, noteResumed } from '../db/mail-relay.ts'
import type { Db } from '../db/pool.ts'
import { resumedQueueNames, sendingProblems, sendLetter } from '../letters/queues.ts'
import { refusal } from '../phrase.ts'
import { type Boss, send } from '../queue/boss.ts'
import { forwardReport, showForwarded } from './queues.ts'

/** The maximum number of mails queued in one transaction. */
const AT_ONCE = 500
/** The maximum number of shadowed feedback reports that are shown as sent with them. */
const SHADOWED_MAX = 5_000

/** Selects the mails: one or all feedback reports, those to one address, or one or all letters. */
const input = z
  .object({
    to: z.string().optional().meta({ value: 'ADDRESS' }),
    letters: z.boolean().optional(),
    letter: z
      .uuid({ error: refusal('refused.no-letter') })
      .optional()
      .meta({ value: 'ID' }),
    report: z.uuid().optional().meta({ value: 'ID' }),
    number: wholeNumber(1, 999).default(1).meta({ value: 'N' }),
  })
  .refine(({ to, letters, letter }) => to === undefined || !(letters || letter !== undefined), {
    error: 'Give an address or --letters, not both.',
  })

/** Sends mail that is held because SMTP_URL was not set. */
export const releaseHeld = defineRelease('held', {
  name: 'outbox release',
  summary: 'send held feedback reports or letters',
  audit: 'release',
  role: 'operator',
})

/** Sends mail again that our mail server refused, unless its address is suppressed. */
export const resendRefused = defineRelease('refused', {
  name: 'outbox resend',
  summary: 'send refused feedback reports or letters again',
  audit: 'resend',
  role: 'operator',
})

/** The maximum number of queued reports of a desk whose jobs are tried at once. */
const QUEUED_MAX = 5_000

/**
 * Tries our mail server again without waiting for the end of the pause, with all mail that waits
 * for another attempt, whatever it waits for, and with what is held since SMTP_URL was not set.
 * Mail that is being sent is not tried a second time. With an address, only the mail to that desk,
 * which then waits for the end of no hour or day, but for the end of a pause of the desk.
 */
export const retryMail = defineAction({
  name: 'outbox retry',
  summary: 'send waiting mail now: all, or that to one abuse team',
  audit: 'retry mail',
  role: 'operator',
  input: z.object({ to: z.string().optional().meta({ value: 'ADDRESS' }) }),
  async run(tx, { to }, context: ActionContext<'boss' | 'config'>) {
    const { boss, at, config, count: before } = context
    const which = await choiceOf(tx, { to, number: 1 })
    if (!which) return { problems: [noSuchConsumer] }
    const held = { to, number: 1, from: 'held', now: at } as const
    const [feedback = 0, letters = 0] =
      config.smtpUrl === undefined
        ? []
        : [
            await queueFeedback(tx, boss, held),
            to === undefined ? await queueLetters(tx, boss, held) : 0,
          ]
    // Later transactions only release what is still held.
    const postponed = before > 0 ? 0 : await retryPostponed(tx, which, at)
    const count = feedback + letters + postponed
    const audit = `${count} waiting mails${to === undefined ? '' : ` to ${to}`}`
    return { done: 'retried', count, audit, isPartial: Math.max(feedback, letters) === AT_ONCE }
  },
})

async function retryPostponed(tx: Db, which: HeldChoice, at: Date): Promise<number> {
  await endPause(tx, at)
  await noteResumed(tx, at)
  if (which === 'all' || !('consumerId' in which)) {
    return startPostponedJobs(tx, resumedQueueNames)
  }
  const { consumerId } = which
  const waiting = await advanceDueFeedback(tx, consumerId, at)
  const reportIds = await listQueuedReports(tx, consumerId, QUEUED_MAX)
  return waiting + (await startPostponedJobs(tx, [forwardReport.name], { reportIds }))
}

function defineRelease(
  from: ReleasedState,
  about: Pick<Action, 'name' | 'summary' | 'audit' | 'role'>,
) {
  return defineAction({
    ...about,
    input,
    async run(tx, which, { boss, at, config }: ActionContext<'boss' | 'config'>) {
      const problems = from === 'held' ? sendingProblems(config) : []
      if (problems.length > 0) return { problems }
      const isLetter = which.letters || which.letter !== undefined
      const selection = { ...which, from, now: at }
      const count = await (isLetter ? queueLetters : queueFeedback)(tx, boss, selection)
      if (count === undefined) return { problems: [noSuchConsumer] }
      const what = isLetter ? 'letters' : 'feedback reports'
      const audit = count > 0 ? `${count} ${from} ${what}` : []
      return {
        done: isLetter ? `${from}-letters` : from,
        count,
        audit,
        isPartial: count === AT_ONCE,
      }
    },
  })
}

const noSuchConsumer = { field: 'to', message: refusal('refused.no-such-consumer') }

type Selection = z.output<typeof input> & { from: ReleasedState; now: Date }

async function queueLetters(tx: Db, boss: Boss, { letter, from, now }: Selection) {
  const which = letter === undefined ? 'all' : { letterId: letter }
  const letters = await releaseLetters(tx, { which, from, now }, AT_ONCE)
  const jobs = letters.map(({ id: letterId }) => ({ letterId }))
  await send(boss, sendLetter, jobs, tx)
  return letters.length
}

async function queueFeedback(tx: Db, boss: Boss, { from, now, ...given }: Selection) {
  const which = await choiceOf(tx, given)
  if (!which) return undefined
  const keys = await releaseFeedback(tx, { which, from, now }, AT_ONCE)
  const isAlsoShown = from === 'held' && (which === 'all' || !('reportId' in which))
  const shadowed = isAlsoShown ? await queueShadowed(tx, which, SHADOWED_MAX) : []
  await send(boss, forwardReport, keys, tx)
  await send(boss, showForwarded, shadowed, tx)
  return keys.length
}

async function choiceOf(
  tx: Db,
  { to, report, number }: z.output<typeof input>,
): Promise<HeldChoice | undefined> {
  if (report !== undefined) return { reportId: report, number }
  if (to === undefined) return 'all'
  const address = to.toLowerCase()
  const consumer = (await listConsumers(tx, [address])).get(address)
  return consumer && { consumerId: consumer.id }
}
