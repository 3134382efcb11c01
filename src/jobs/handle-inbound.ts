import type { WorkApp } from '../app.ts'
import { findWaitingMail, type InboundMail, markInboundMail } from '../db/inbound-mails.ts'
import { fileMail, type Filing } from '../db/inbox.ts'
import { inTransaction, type Db } from '../db/pool.ts'
import { reasonOf } from '../errors.ts'
import { isOurOwn } from '../mail/inbound/claims.ts'
import type { InboundReading } from '../mail/inbound/read-inbound.ts'
import { ticketNumber } from '../mail/inbound/ticket-number.ts'
import { storableText } from '../mail/storable-text.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import type { JobOutcome } from '../queue/work.ts'
import { keepBounce } from './inbound/keep-bounce.ts'
import { keepComplaint } from './inbound/keep-complaint.ts'
import { keepReply } from './inbound/keep-reply.ts'
import { type Match, matchMail } from './inbound/match-mail.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config'> & {
  parser: Pick<ParserPool, 'readInbound'>
}

/** What was done with a mail, and whether a person should see it. */
type Done = { outcome: string; needsLook: boolean }

/** Handles mail that came in, each for itself: what cannot be read costs its own job only. */
export async function handleInboundMails(
  payloads: readonly { mailId: string }[],
  app: Needs,
): Promise<JobOutcome[]> {
  return Promise.all(
    payloads.map((payload) =>
      handleInboundMail(payload, app).then(
        () => 'done' as const,
        (error: unknown) => ({ retry: reasonOf(error) }),
      ),
    ),
  )
}

/**
 * Reads a mail that came in and does what it asks for, once however often it runs: a bounce counts
 * against the address, a complaint stops our mail, an answer of a desk is taken. Nothing that comes
 * in makes us write to who sent it, and what we sent ourselves is only filed: no loop can begin.
 */
export async function handleInboundMail({ mailId }: { mailId: string }, app: Needs): Promise<void> {
  const mail = await findWaitingMail(app.pool, mailId)
  if (!mail) return
  const { encoding, content } = mail
  const reading = await app.parser.readInbound({ encoding, content }, mail.mailFrom)
  const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
  const isLoop = isOurOwn(reading, mail.mailFrom, settings)
  await inTransaction(app.pool, async (tx) => {
    const kind = isLoop ? 'loop' : reading.kind
    if (!(await markInboundMail(tx, mail.id, kind))) return
    const match = isLoop ? undefined : await matchMail(tx, mail, reading, settings)
    const done = isLoop
      ? { outcome: 'Our own mail came home: nothing was done.', needsLook: false }
      : await act(tx, mail, match, reading, app)
    await fileMail(tx, mail.id, filingOf(kind, match, reading, done))
  })
}

async function act(
  tx: Db,
  mail: InboundMail,
  match: Match | undefined,
  reading: InboundReading,
  app: Needs,
): Promise<Done> {
  const now = app.clock()
  if (reading.kind === 'complaint') {
    const outcome = await keepComplaint(tx, match, reading.feedback, now)
    return { outcome, needsLook: true }
  }
  if (reading.kind === 'bounce') {
    const outcome = match
      ? await keepBounce(tx, match, reading.results, app, now)
      : 'It is about no mail of ours that is known.'
    return { outcome, needsLook: match?.by === 'message-id' && match.feedback !== undefined }
  }
  if (reading.kind === 'reply') return keepReply(tx, mail, match ?? {}, reading, app, now)
  return { outcome: 'Filed; machines are not answered.', needsLook: false }
}

const LINE_CHARS_MAX = 1_000
const TEXT_CHARS_MAX = 8_000

function filingOf(
  kind: string,
  match: Match | undefined,
  { subject, author, messageId, answer, text }: InboundReading,
  done: Done,
): Filing {
  const line = (text: string | null) => (text === null ? null : storableText(text, LINE_CHARS_MAX))
  const ticket = kind === 'acknowledgment' ? ticketNumber(subject, text) : undefined
  return {
    kind,
    matchedBy: match?.by ?? null,
    reportId: match?.reportId ?? null,
    number: match?.number ?? null,
    letterId: match?.letterId ?? null,
    subject: line(subject),
    author: line(author),
    messageId: line(messageId),
    answer: answer ?? null,
    ticket: line(ticket ?? null),
    said: text === '' ? null : storableText(text, TEXT_CHARS_MAX),
    ...done,
  }
}
