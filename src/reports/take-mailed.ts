import type { App } from '../app.ts'
import {
  findWaitingMail,
  type InboundMail,
  type InboundPurpose,
  markInboundMail,
} from '../db/inbox.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import {
  findMailInAddress,
  findReporter,
  findReporterSettings,
  markMailInAnswered,
  markMailInConfirmed,
  putMailInAddress,
  type Reporter,
} from '../db/reporters.ts'
import { unpack } from '../db/rows.ts'
import { DAY_MS } from '../durations.ts'
import { handleInbound } from '../feedback/queues.ts'
import { queueLetter } from '../letters/send-letter.ts'
import { composeMailInAnswer, type MailInResult } from '../letters/mail-in-letters.ts'
import { forwardedMessages } from '../mail/forwarded-messages.ts'
import { fieldValue, parseHeader } from '../mail/header.ts'
import { mayBeAnswered } from '../mail/inbound/automatic.ts'
import { composeMailInAddress, mailInHash, mailInSecret } from '../mail/verp.ts'
import type { Limits } from '../people/limits.ts'
import type { Queue } from '../queue/define-queue.ts'
import type { JobOutcome } from '../queue/work.ts'
import type { Intake } from './accept-report.ts'
import { readReported, structureLimits } from './message-refusal.ts'
import { takeComplaint, takeMailed, takeTrapped } from './queues.ts'

export function mailQueueOf(purpose: InboundPurpose): Queue<{ mailId: string }> {
  if (purpose === 'mail-in') return takeMailed
  if (purpose === 'feedback-loop') return takeComplaint
  return purpose === 'trap' ? takeTrapped : handleInbound
}

type AddressNeeds = Pick<App, 'pool' | 'config'>

/**
 * Returns the address to which a reporter mails reports; undefined if there is none, or if the
 * secret from which it was derived is no longer accepted.
 */
export async function mailInAddressOf(
  { pool, config }: AddressNeeds,
  reporterId: string,
): Promise<{ address: string; since: Date } | undefined> {
  const row = await findMailInAddress(pool, reporterId)
  if (!row) return undefined
  const derive = (key: Buffer) => {
    const secret = mailInSecret(row, key)
    return mailInHash(secret).equals(row.secretHash) ? secret : undefined
  }
  const secret = config.secret.find('mail-in address', derive, row.since)
  return secret === undefined ? undefined : { address: addressOf(secret, config), since: row.since }
}

/** Creates a new mail-in address for a reporter; the previous one stops working immediately. */
export async function makeMailInAddress(
  app: AddressNeeds & Pick<App, 'clock'>,
  reporterId: string,
): Promise<string> {
  const { pool, config } = app
  const generation = ((await findMailInAddress(pool, reporterId))?.generation ?? 0) + 1
  const key = config.secret.key('mail-in address')
  const secret = mailInSecret({ reporterId, generation }, key)
  const secretHash = mailInHash(secret)
  // Concurrent requests get the same address.
  await putMailInAddress(pool, { reporterId, generation, secretHash, since: app.clock() })
  return addressOf(secret, config)
}

function addressOf(secret: string, { returnPathDomain: domain }: App['config']): string {
  return composeMailInAddress(secret, { domain })
}

type MailInNeeds = Pick<App, 'pool' | 'boss' | 'clock' | 'config'> & {
  intake: Intake
  limits: Limits
}

const MESSAGES_MAX = 50

/**
 * Reports the messages contained in a reporter's mail. Messages with equal bytes become one report,
 * so a second run reports nothing twice. The mail is marked in the transaction that queues the
 * answer. Mail above the rate limit is postponed, because there is no client to tell to retry.
 */
export async function runTakeMailed(
  { mailId }: { mailId: string },
  app: MailInNeeds,
): Promise<JobOutcome> {
  const mail = await findWaitingMail(app.pool, mailId)
  if (mail?.purpose !== 'mail-in' || mail.reporterId === null) return 'done'
  const reporter = await findReporter(app.pool, mail.reporterId)
  if (!reporter) {
    await markInboundMail(app.pool, mail.id, 'no-reporter')
    return 'done'
  }
  const admission = await app.limits.admit('mail-in', { reporterId: reporter.id })
  if (admission.is === 'refused') {
    const postponedTo = new Date(app.clock().getTime() + admission.waitSeconds * 1_000)
    return { postponedTo, payload: { mailId } }
  }
  const raw = await unpack(mail)
  const isShadowed = admission.is === 'shadowed'
  const result = await reportEach(raw, { reporter, isShadowed }, app)
  await inTransaction(app.pool, async (tx) => {
    const kind = result.taken > 0 ? 'reports' : 'no-reports'
    if (!(await markInboundMail(tx, mail.id, kind))) return
    await answer(tx, { mail, raw, reporter, result }, app)
  })
  return 'done'
}

/** Submits all messages concurrently, so that the intake can combine them into one transaction. */
async function reportEach(
  raw: Buffer,
  { reporter, isShadowed }: { reporter: Reporter; isShadowed: boolean },
  app: MailInNeeds,
): Promise<MailInResult> {
  const limits = { ...structureLimits, bytesMax: app.config.messageBytesMax }
  // Loaded only here: the library for the bodies of these files has many modules.
  const outlook = await import('../mail/containers/outlook-message.ts')
  const limitsOfMail = { reporter: reporter.email, messagesMax: MESSAGES_MAX, outlook }
  const found = forwardedMessages(raw, limitsOfMail)
  const read = found.messages.map((raw) => {
    const isRebuilt = found.rebuilt?.has(raw) ?? false
    return { ...readReported(raw, limits), ...(isRebuilt && { rebuiltFrom: 'msg' as const }) }
  })
  const fit = read.flatMap((one) => ('message' in one ? [one] : []))
  await Promise.all(
    fit.map(({ message, rebuiltFrom }) =>
      app.intake.accept({
        reporterId: reporter.id,
        channel: 'mail',
        kind: 'spam',
        message,
        comment: null,
        receivedVia: [],
        isShadowed,
        ...(rebuiltFrom && { rebuiltFrom }),
      }),
    ),
  )
  return {
    taken: fit.length,
    refused: read.length - fit.length,
    beyond: found.beyond,
    messagesMax: MESSAGES_MAX,
    unreadable: found.unreadable,
  }
}

type Answered = { mail: InboundMail; raw: Buffer; reporter: Reporter; result: MailInResult }

/**
 * Queues at most one letter: a confirmation of the first report, or a list of the problems, which
 * is sent at most once a day. It goes to the account's address, regardless of the author of the
 * mail.
 */
async function answer(tx: Db, { mail, raw, reporter, result }: Answered, app: MailInNeeds) {
  const { config } = app
  const at = app.clock()
  const { fields } = parseHeader(raw)
  const ours = [`@${config.returnPathDomain}`, config.mailFrom.toLowerCase()]
  if (!mayBeAnswered(fields, mail.mailFrom, ours)) return
  const reporterId = reporter.id
  const isFirst = result.taken > 0 && (await markMailInConfirmed(tx, { reporterId, at }))
  const after = new Date(at.getTime() - DAY_MS)
  const isOwed = isWhole(result)
    ? isFirst
    : (await markMailInAnswered(tx, { reporterId, after, at })) || isFirst
  if (!isOwed) return
  const language = (await findReporterSettings(tx, reporterId))?.language ?? 'en'
  await queueLetter(
    tx,
    {
      kind: 'mail-in',
      to: reporter.email,
      ...composeMailInAnswer(result, language, config.publicUrl),
      language,
      reporterId,
      inReplyTo: fieldValue(fields, 'message-id'),
      autoSubmitted: 'replied',
    },
    app,
    at,
  )
}

function isWhole({ taken, refused, beyond, unreadable }: MailInResult): boolean {
  return taken > 0 && refused === 0 && beyond === 0 && unreadable === 0
}
