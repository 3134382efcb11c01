import type { App } from '../../app.ts'
import { findWaitingMail, type InboundMail, markInboundMail } from '../../db/inbound-mails.ts'
import { markMailInAnswered, markMailInConfirmed } from '../../db/mail-in-addresses.ts'
import { unpack } from '../../db/packed.ts'
import { inTransaction, type Db } from '../../db/pool.ts'
import { findReporterSettings } from '../../db/reporter-settings.ts'
import { findReporter, type Reporter } from '../../db/reporters.ts'
import type { Intake } from '../../intake/accept-report.ts'
import { refusalOf, structureLimits } from '../../intake/check-message.ts'
import type { Limits } from '../../intake/limits/limits.ts'
import { composeMailInAnswer, type MailInResult } from '../../letters/mail-in/mail-in-words.ts'
import { oweLetter } from '../../letters/owe-letter.ts'
import { mayBeAnswered } from '../../mail/answerable.ts'
import { forwardedMessages } from '../../mail/forwarded-messages.ts'
import { fieldValue, parseHeader } from '../../mail/header.ts'
import { readMessage } from '../../mail/message.ts'
import type { JobOutcome } from '../../queue/work.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'> & { intake: Intake; limits: Limits }

const MESSAGES_MAX = 50
const DAY_MS = 86_400_000

/**
 * Reports the messages that a mail of a reporter carries. The same bytes are the same report, so a
 * second run reports nothing twice; the mail is marked together with the letter that answers it.
 * A mail that comes too often waits until there is room: nobody could tell its writer to.
 */
export async function takeMailed({ mailId }: { mailId: string }, app: Needs): Promise<JobOutcome> {
  const mail = await findWaitingMail(app.pool, mailId)
  if (mail?.purpose !== 'mail-in' || mail.reporterId === null) return 'done'
  const reporter = await findReporter(app.pool, mail.reporterId)
  if (!reporter) {
    await markInboundMail(app.pool, mail.id, 'no-reporter')
    return 'done'
  }
  const admission = await app.limits.admit('mail-in', { reporterId: reporter.id })
  if (admission.is === 'refused') {
    const putOff = new Date(app.clock().getTime() + admission.waitSeconds * 1_000)
    return { putOff, payload: { mailId } }
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

/** All at once: intake puts them into one transaction where it can. */
async function reportEach(
  raw: Buffer,
  { reporter, isShadowed }: { reporter: Reporter; isShadowed: boolean },
  app: Needs,
): Promise<MailInResult> {
  const limits = { ...structureLimits, bytesMax: app.config.messageBytesMax }
  const found = forwardedMessages(raw, { reporter: reporter.email, messagesMax: MESSAGES_MAX })
  const read = found.messages.map(readMessage)
  const fit = read.filter((message) => refusalOf(message, limits) === undefined)
  await Promise.all(
    fit.map((message) =>
      app.intake.accept({
        reporterId: reporter.id,
        channel: 'mail',
        kind: 'spam',
        message,
        comment: null,
        receivedVia: [],
        isShadowed,
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
 * One letter at most: that the first report arrived, or what was wrong, and that once a day. To the
 * address of the account, whatever the mail says of who wrote it.
 */
async function answer(tx: Db, { mail, raw, reporter, result }: Answered, app: Needs) {
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
  await oweLetter(
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
