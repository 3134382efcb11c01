import type { App } from '../app.ts'
import { type Consumer, ensureConsumers, listConsumers } from '../db/consumers.ts'
import { insertFeedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { forwardReport } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import { type Consequence, consequenceOf, type Judged } from '../verdict/consequences.ts'
import { healthAt } from '../verdict/contact-health.ts'

/** All that a consequence is drawn from but what we know of the contacts. */
export type Case = Omit<Judged, 'known'>

/** A consequence, and the consumer it names. */
export type Drawn = { consequence: Consequence; consumer: Consumer | undefined }

/**
 * Draws the consequences of cases, in order, with what is known of their networks' contacts. Who
 * is to be told for the first time becomes a consumer.
 */
export async function drawConsequences(
  tx: Db,
  cases: readonly Case[],
  now: Date,
): Promise<Drawn[]> {
  const contacts = new Set(cases.flatMap(({ network }) => network?.contacts ?? []))
  const consumers = contacts.size > 0 ? await listConsumers(tx, [...contacts]) : new Map()
  const known = new Map(
    [...consumers.values()].map((consumer: Consumer) => [
      consumer.address,
      { state: consumer.state, health: healthAt(consumer, now) },
    ]),
  )
  const consequences = cases.map((one) => consequenceOf({ ...one, known }))
  const told = consequences.flatMap((one) => (one.action === 'forward' ? [one.to] : []))
  const missing = [...new Set(told)].filter((address) => !consumers.has(address))
  const added = await ensureConsumers(tx, missing, now)
  return consequences.map((consequence) => {
    if (consequence.action !== 'forward') return { consequence, consumer: undefined }
    const { to } = consequence
    return { consequence, consumer: consumers.get(to) ?? added.get(to) }
  })
}

/** Puts the first feedback report of each of these reports in line, with its job. */
export async function oweFeedback(
  tx: Db,
  owed: readonly { reportId: string; consumer: Consumer }[],
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  const feedback = owed.map(({ reportId, consumer: { id, address } }) => {
    return { reportId, number: 1, consumerId: id, address, createdAt: now }
  })
  const jobs = feedback.map(({ reportId, number }) => ({ reportId, number }))
  await Promise.all([insertFeedback(tx, feedback), send(app.boss, forwardReport, jobs, tx)])
}
