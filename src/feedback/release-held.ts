import { z } from 'zod'
import { type Action, type ActionContext, defineAction, wholeNumber } from '../actions.ts'
import { listConsumers } from '../db/consumers.ts'
import {
  type HeldChoice,
  queueShadowed,
  type ReleasedState,
  releaseFeedback,
} from '../db/feedback-waiting.ts'
import { releaseLetters } from '../db/letters.ts'
import { startPostponedJobs } from '../db/jobs.ts'
import { endPause, noteResumed } from '../db/mail-relay.ts'
import type { Db } from '../db/pool.ts'
import { sendLetter } from '../letters/queues.ts'
import { resumedQueueNames } from '../letters/queues.ts'
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
    letter: z.uuid({ error: 'Letter not found.' }).optional().meta({ value: 'ID' }),
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

/**
 * Tries our mail server again without waiting for the end of the pause, with all mail that waits
 * for another attempt, whatever it waits for. Mail that is being sent is not tried a second time.
 */
export const retryMail = defineAction({
  name: 'outbox retry',
  summary: 'try to send postponed mail now',
  audit: 'retry mail',
  role: 'operator',
  input: z.object({}),
  messages: {
    retried: (count: number) =>
      count === 1 ? '1 postponed mail is tried now.' : `${count} postponed mails are tried now.`,
  },
  async run(tx, _, { at }) {
    await endPause(tx, at)
    await noteResumed(tx, at)
    const count = await startPostponedJobs(tx, resumedQueueNames)
    return { done: 'retried', count, audit: `${count} postponed mails` }
  },
})

function defineRelease(
  from: ReleasedState,
  about: Pick<Action, 'name' | 'summary' | 'audit' | 'role'>,
) {
  const wordsOf = (name: string) => (count: number) => {
    const done = from === 'held' ? 'released' : 'queued to be sent again'
    return count === 1
      ? `1 ${from} ${name} was ${done}.`
      : `${count} ${from} ${name}s were ${done}.`
  }
  const messages: Record<string, (count: number) => string> = {
    [from]: wordsOf('feedback report'),
    [`${from}-letters`]: wordsOf('letter'),
  }
  return defineAction({
    ...about,
    input,
    messages,
    async run(tx, which, { boss, at }: ActionContext<'boss'>) {
      const done = which.letters || which.letter !== undefined ? `${from}-letters` : from
      const selection = { ...which, from, now: at }
      const count =
        done === from
          ? await queueFeedback(tx, boss, selection)
          : await queueLetters(tx, boss, selection)
      if (count === undefined) {
        return { problems: [{ field: 'to', message: 'No consumer has this address.' }] }
      }
      const audit = count > 0 ? [messages[done]?.(count) ?? ''] : []
      return { done, count, audit, isPartial: count === AT_ONCE }
    },
  })
}

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
