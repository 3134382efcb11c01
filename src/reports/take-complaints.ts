import type { WorkApp } from '../app.ts'
import { findWaitingMail, type InboundMail } from '../db/inbox.ts'
import { addToSourceDays } from '../db/mail-sources.ts'
import { inTransaction } from '../db/pool.ts'
import { findReporter } from '../db/reporters.ts'
import { unpack } from '../db/rows.ts'
import { dateOf } from '../durations.ts'
import { handleInboundMail } from '../feedback/handle-inbound.ts'
import { claimsOf, isOurOwn } from '../mail/inbound/own-mail.ts'
import { complaintIn } from '../mail/inbound/complaint.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import type { JobOutcome } from '../queue/work.ts'
import type { Intake } from './accept-report.ts'
import { readReported, structureLimits } from './message-refusal.ts'
import { countSourced } from './mail-sources.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config'> & {
  intake: Intake
  parser: Pick<ParserPool, 'readInbound'>
}

/**
 * Reports the message of a complaint. A complaint about mail that we sent is handled as such; what
 * is no complaint, for example a provider's question to confirm the address, goes to the inbox.
 */
export async function runTakeComplaint(
  { mailId }: { mailId: string },
  app: Needs,
): Promise<JobOutcome> {
  const mail = await findWaitingMail(app.pool, mailId)
  if (mail?.purpose !== 'feedback-loop' || mail.reporterId === null) return 'done'
  const sourceId = mail.reporterId
  const day = dateOf(app.clock())
  const complaint = (await isAboutUs(mail, app)) ? undefined : complaintIn(await unpack(mail))
  const limits = { ...structureLimits, bytesMax: app.config.messageBytesMax }
  const fit =
    complaint && readReported(complaint.message, limits, { reporter: '', isUnasked: true })
  const message = fit && 'message' in fit ? fit.message : undefined
  if (!complaint || !message || !(await findReporter(app.pool, sourceId))) {
    await handleInboundMail({ mailId }, app)
    const counts = { received: 1, reported: 0, repeated: 0, refused: 1, dropped: 0 }
    await addToSourceDays(app.pool, [{ sourceId, day, ...counts }])
    return 'done'
  }
  await app.intake.accept({
    reporterId: sourceId,
    channel: 'feedback-loop',
    kind: complaint.kind,
    message,
    comment: null,
    receivedVia: [],
  })
  await inTransaction(app.pool, (tx) =>
    countSourced(tx, [{ id: mail.id, sourceId, fate: 'reported' }], day),
  )
  return 'done'
}

/** Whether a mail is about mail of ours, or is mail of ours that came back. */
async function isAboutUs(mail: InboundMail, { parser, config }: Needs): Promise<boolean> {
  const { encoding, content, mailFrom } = mail
  const reading = await parser.readInbound({ encoding, content }, mailFrom, {
    isToReturnPath: false,
  })
  const settings = { domain: config.returnPathDomain, secret: config.secret }
  return (
    isOurOwn(reading, mailFrom, settings) ||
    claimsOf(reading, settings).some(({ by }) => by !== 'reference')
  )
}
