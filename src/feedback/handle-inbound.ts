import type { WorkApp } from '../app.ts'
import { findFeedback } from '../db/feedback-reports.ts'
import {
  fileMail,
  type Filing,
  findWaitingMail,
  type InboundMail,
  markInboundMail,
} from '../db/inbox.ts'
import { findLetter, type Letter } from '../db/letters.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { ticketNumber } from '../mail/inbound/acknowledgment.ts'
import { type Claim, claimsOf, isOurOwn } from '../mail/inbound/own-mail.ts'
import type { InboundReading } from '../mail/inbound/read-inbound.ts'
import { concealKeys } from '../mail/conceal-keys.ts'
import { storableText } from '../mail/text.ts'
import type { ReturnPathSettings } from '../mail/verp.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import { phrase } from '../phrase.ts'
import { failureOf, type JobOutcome } from '../queue/work.ts'
import { keepBounce, keepComplaint, keepReply, type Match } from './keep-inbound.ts'

/**
 * Finds our mail that an inbound mail is about: by the signed address it was sent to, then by its
 * ENVID or return path, then by the Message-ID of a mail that we sent. A complaint is matched only
 * by the mail it returns, because the address it was sent to may have been copied.
 */
async function matchMail(
  tx: Db,
  mail: InboundMail,
  reading: InboundReading,
  settings: ReturnPathSettings,
): Promise<Match | undefined> {
  const byRecipient = reading.kind === 'complaint' ? undefined : await matchRecipient(tx, mail)
  if (byRecipient) return byRecipient
  for (const claim of claimsOf(reading, settings)) {
    // A mere reference does not identify the mail that a complaint is about.
    if (claim.by === 'reference' && reading.kind === 'complaint') continue
    const match = await matchClaim(tx, claim, settings)
    if (match) return match
  }
  return undefined
}

async function matchRecipient(
  tx: Db,
  { reportId, number, letterId }: InboundMail,
): Promise<Match | undefined> {
  const names = { by: 'recipient' as const, isSigned: true, reportId, number, letterId }
  if (reportId !== null && number !== null) {
    return { ...names, feedback: await findFeedback(tx, { reportId, number }) }
  }
  if (letterId === null) return undefined
  return { ...names, letter: await findLetter(tx, letterId) }
}

async function matchClaim(
  tx: Db,
  { mail, by, isSigned }: Claim,
  { domain }: ReturnPathSettings,
): Promise<Match | undefined> {
  if ('letterId' in mail) {
    const letter = await findLetter(tx, mail.letterId)
    if (!letter || !(isSigned || leftAsLetter(letter))) return undefined
    return { by, isSigned, reportId: null, number: null, letterId: mail.letterId, letter }
  }
  const feedback = await findFeedback(tx, mail)
  const messageId = `<${mail.reportId}.${mail.number}@${domain}>`
  if (!feedback || !(isSigned || isSameId(feedback.messageId, messageId))) return undefined
  const { reportId, number } = mail
  return { by, isSigned, reportId, number, letterId: null, feedback }
}

/**
 * Whether a letter was really sent. Its Message-ID is derived from its id and does not prove this.
 */
function leftAsLetter({ state }: Letter): boolean {
  return state === 'sent' || state === 'bounced'
}

function isSameId(kept: string | null, claimed: string): boolean {
  return kept?.toLowerCase() === claimed.toLowerCase()
}

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config'> & {
  parser: Pick<ParserPool, 'readInbound'>
}

/** The result of handling a mail, and whether a person should look at it. */
type Done = Pick<Filing, 'phrases' | 'needsLook'>

/** Handles inbound mails independently: a mail that cannot be processed fails only its own job. */
export async function runHandleInbound(
  payloads: readonly { mailId: string }[],
  app: Needs,
): Promise<JobOutcome[]> {
  return Promise.all(
    payloads.map((payload) =>
      handleInboundMail(payload, app).then(() => 'done' as const, failureOf),
    ),
  )
}

/**
 * Handles an inbound mail once, however often the job runs: counts a bounce against the address,
 * stops our mail after a complaint, records an abuse desk's answer. Takes no action on mail that
 * came from this program, and never replies to any mail, so that no mail loop can start.
 */
export async function handleInboundMail({ mailId }: { mailId: string }, app: Needs): Promise<void> {
  const mail = await findWaitingMail(app.pool, mailId)
  if (!mail) return
  const { encoding, content, purpose } = mail
  const isToReturnPath = purpose === 'feedback-bounce' || purpose === 'letter-bounce'
  const reading = await app.parser.readInbound({ encoding, content }, mail.mailFrom, {
    isToReturnPath,
  })
  const settings = { domain: app.config.returnPathDomain, secret: app.config.secret }
  const isLoop = isOurOwn(reading, mail.mailFrom, settings)
  await inTransaction(app.pool, async (tx) => {
    const kind = isLoop ? 'loop' : reading.kind
    if (!(await markInboundMail(tx, mail.id, kind))) return
    const match = isLoop ? undefined : await matchMail(tx, mail, reading, settings)
    const done = isLoop
      ? { phrases: [phrase('inbound-loop')], needsLook: false }
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
    const phrases = await keepComplaint(tx, match, reading.feedback, now)
    return { phrases, needsLook: true }
  }
  if (reading.kind === 'bounce') {
    const phrases = match
      ? await keepBounce(tx, match, reading.results, app, now)
      : [phrase('inbound-unmatched')]
    return { phrases, needsLook: match?.by === 'message-id' && match.feedback !== undefined }
  }
  if (reading.kind === 'reply') return keepReply(tx, mail, match ?? {}, reading, app, now)
  return { phrases: [phrase('inbound-automatic')], needsLook: false }
}

const LINE_CHARS_MAX = 1_000
const TEXT_CHARS_MAX = 8_000

function filingOf(
  kind: string,
  match: Match | undefined,
  { subject, author, messageId, answer, text }: InboundReading,
  done: Done,
): Filing {
  const line = (text: string | null) =>
    text === null ? null : storableText(concealKeys(text), LINE_CHARS_MAX)
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
    said: text === '' ? null : storableText(concealKeys(text), TEXT_CHARS_MAX),
    ...done,
  }
}
