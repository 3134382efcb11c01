import type { App } from '../app.ts'
import { findConsumer, hasDelivered, keepHealth } from '../db/consumers.ts'
import { type Feedback, findFeedback, markBounced } from '../db/feedback-reports.ts'
import { findWaitingMail, type InboundMail, markInboundMail } from '../db/inbound-mails.ts'
import { unpack } from '../db/packed.ts'
import { inTransaction, type Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { type BounceResult, parseBounce } from '../mail/bounces/parse-bounce.ts'
import { parseHeader } from '../mail/header.ts'
import { messageKind } from '../mail/message-kind.ts'
import { afterBounce, SOFT_BOUNCES_MAX } from '../verdict/contact-health.ts'

type Needs = Pick<App, 'pool' | 'clock'>

/**
 * Reads a mail that came back to a return path of ours. A bounce marks its feedback report and
 * counts against its consumer's address; any other mail is filed, and changes nothing.
 */
export async function handleInboundMail({ mailId }: { mailId: string }, app: Needs): Promise<void> {
  const mail = await findWaitingMail(app.pool, mailId)
  if (!mail) return
  const raw = await unpack(mail)
  const bounce = parseBounce(raw)
  const kind = bounce ? 'bounce' : messageKind(parseHeader(raw).fields)
  await inTransaction(app.pool, async (tx) => {
    if (!(await markInboundMail(tx, mail.id, kind))) return
    if (bounce) await keepBounce(tx, mail, bounce.results, app.clock())
  })
}

async function keepBounce(
  tx: Db,
  mail: InboundMail,
  results: readonly BounceResult[],
  at: Date,
): Promise<void> {
  const { reportId, number } = mail
  const failure = results.find(({ action }) => action === 'failed')
  if (reportId === null || number === null || !failure) return
  const status = failure.status ?? null
  const isNew = await markBounced(tx, { reportId, number, at, status, reason: failure.reason })
  if (!isNew) return
  const detail = `The feedback report came back undelivered (${status ?? 'no status given'}).`
  await insertEvents(tx, [{ reportId, at, event: 'bounced', detail }])
  const feedback = await findFeedback(tx, { reportId, number })
  if (feedback) await keepConsumerHealth(tx, feedback, failure, at)
}

async function keepConsumerHealth(
  tx: Db,
  { consumerId, createdAt, finishedAt }: Feedback,
  { hard }: BounceResult,
  bouncedAt: Date,
): Promise<void> {
  const consumer = await findConsumer(tx, consumerId)
  if (!consumer) return
  const sentAt = finishedAt ?? createdAt
  const { softBounces, bouncesSince } = consumer
  const isRowFull = !hard && bouncesSince !== null && softBounces + 1 >= SOFT_BOUNCES_MAX
  const hasDelivery = isRowFull && (await hasDelivered(tx, consumerId, bouncesSince, sentAt))
  const bounce = { hard, sentAt, bouncedAt, hasDelivered: hasDelivery }
  await keepHealth(tx, consumerId, afterBounce(consumer, bounce))
}
