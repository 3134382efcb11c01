import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { countAnswer } from '../db/consumers.ts'
import { keepCorrection } from '../db/contact-corrections.ts'
import { type FeedbackKey, findFeedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { listMeant } from './merged-members.ts'
import { type NextContact, tellNextContact } from './tell-next-contact.ts'

/** So long a desk's word holds that a block is not its: networks change hands. */
const CORRECTION_MS = 180 * 86_400_000

/**
 * Keeps that a desk does not answer for the network of a report: for half a year it is not told of
 * what comes from there, and the next contact is told instead. Its word is about itself and this
 * block alone, but for all reports of which it was told by this one. Call it once for an answer.
 */
export async function markNotOurs(
  tx: Db,
  { reportId, number }: FeedbackKey,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<NextContact> {
  const feedback = await findFeedback(tx, { reportId, number })
  if (!feedback) return { nobody: 'There is no such feedback report.' }
  await countAnswer(tx, feedback.consumerId, 'not-ours')
  const [analysis] = await listPackedAnalyses(tx, [reportId])
  const cidr = analysis?.network?.cidr ?? analysis?.originIp
  if (cidr === null || cidr === undefined) return { nobody: 'The report has no origin.' }
  const until = new Date(now.getTime() + CORRECTION_MS)
  const reason = 'The desk itself said so.'
  const { address } = feedback
  await keepCorrection(tx, { cidr, address, reportId, reason, since: now, until })
  for (const member of await listMeant(tx, feedback, 'of its block')) {
    await tellNextContact(tx, member, app, now)
  }
  return tellNextContact(tx, { reportId, number }, app, now)
}
