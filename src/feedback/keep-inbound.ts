import { tally } from '../activity/tally.ts'
import type { App } from '../app.ts'
import { endLinkOfLetter } from '../db/accounts.ts'
import { findConsumer, hasDelivered, keepHealth } from '../db/consumers.ts'
import { type Feedback, markBounced } from '../db/feedback-reports.ts'
import { listMergedReports } from '../db/feedback-waiting.ts'
import type { InboundMail, MatchedBy } from '../db/inbox.ts'
import { type Letter, listLetterResults, markLetterBounced } from '../db/letters.ts'
import { countMails } from '../db/mail-relay.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { suppress } from '../db/suppressions.ts'
import { DAY_MS } from '../durations.ts'
import { domainOf, registrableDomain } from '../mail/address.ts'
import type { BounceResult } from '../mail/bounces/parse-bounce.ts'
import type { InboundReading } from '../mail/inbound/read-inbound.ts'
import type { FeedbackFields } from '../mail/mail-parts.ts'
import { storableText } from '../mail/text.ts'
import { type Phrase, phrase, type PhraseCode } from '../phrase.ts'
import { freeMailDomains } from '../pieces/features/material.ts'
import { afterBounce, healthyRecord, SOFT_BOUNCES_MAX } from '../verdict/contact-health.ts'
import { stopFeedback } from './change-consumer.ts'
import { notifyNextContact } from './next-contact.ts'
import { recordAnswer } from './take-answer.ts'

/** Our mail that an inbound mail is about, as far as it is still stored. */
export type Match = {
  by: MatchedBy
  /**
   * Whether we signed the identifier that led to the match: then only a recipient of that mail
   * knows it.
   */
  isSigned: boolean
  /** The report named by the identifier, whether it is still stored or not. */
  reportId: string | null
  number: number | null
  letterId: string | null
  feedback?: Feedback | undefined
  letter?: Letter | undefined
}

type Needs = Pick<App, 'boss' | 'config'>

/** The failure that a bounce reports for the address we wrote to. */
type Failure = Pick<BounceResult, 'hard' | 'status' | 'reason'>

const ROW_MS = 7 * DAY_MS

/**
 * Stores a bounce of our mail and returns phrases that describe the action taken. A hard bounce
 * suppresses the address for the time that it counts as dead, and the next contact is notified.
 * Three consecutive soft bounces over at least a day suppress it for a week. Delays and delivery
 * receipts change nothing. A bounce matched only by Message-ID does not count against the address:
 * a reporter can derive the Message-ID from the report's number and forge a bounce.
 */
export async function keepBounce(
  tx: Db,
  { feedback, letter, by }: Match,
  results: readonly BounceResult[],
  app: Needs,
  at: Date,
): Promise<Phrase[]> {
  const address = feedback?.address ?? letter?.address
  if (address === undefined) return [phrase('inbound-mail-deleted')]
  const failure = failureOf(results, address)
  if ('code' in failure) return [failure]
  const isProof = by !== 'message-id' && by !== 'reference'
  if (feedback) return bounceFeedback(tx, feedback, { ...failure, isProof }, app, at)
  return letter ? bounceLetter(tx, letter, failure, at) : []
}

/**
 * Returns the failure of our recipient, or a phrase if there is none. A failure in another domain,
 * to which a mailing list or a forwarding passed the mail on, does not count as a hard bounce.
 */
function failureOf(results: readonly BounceResult[], address: string): Failure | Phrase {
  const isOwn = ({ recipient }: BounceResult) => recipient.toLowerCase() === address.toLowerCase()
  const own = results.find(isOwn)
  if (own && own.action !== 'failed') return phrase(codeOf[own.action])
  const failed = own ?? results.find(({ action }) => action === 'failed')
  if (!failed) return phrase(codeOf[results[0]?.action ?? 'delayed'])
  return { ...failed, hard: failed.hard && hasSameDomain(failed.recipient, address) }
}

const codeOf = {
  failed: 'inbound-soft-bounce',
  delayed: 'inbound-delayed',
  delivered: 'inbound-delivered',
  relayed: 'inbound-relayed',
  expanded: 'inbound-expanded',
} as const satisfies Record<BounceResult['action'], PhraseCode>

function hasSameDomain(recipient: string, address: string): boolean {
  if (recipient === '') return true
  const registrable = (of: string) => {
    const domain = domainOf(of)
    return domain === undefined ? undefined : (registrableDomain(domain) ?? domain)
  }
  return registrable(recipient) === registrable(address)
}

async function bounceFeedback(
  tx: Db,
  feedback: Feedback,
  failure: Failure & { isProof: boolean },
  app: Needs,
  at: Date,
): Promise<Phrase[]> {
  const { reportId, number } = feedback
  const status = storable(failure.status)
  const { reason } = failure
  const isNew = await markBounced(tx, { reportId, number, at, status, reason })
  if (!isNew) return [phrase('inbound-bounce-known')]
  await countMails(tx, 'feedback', ['bounced'])
  tally.count(`desks/bounced/${feedback.consumerId}`)
  const phrases = [phrase('feedback-bounced', { status: status ?? 'none' })]
  const cameBack = [{ reportId, number }, ...(await listMergedReports(tx, feedback))]
  await insertEvents(
    tx,
    cameBack.map((one) => ({ reportId: one.reportId, at, event: 'bounced', phrases })),
  )
  if (!failure.isProof) return [phrase('inbound-unproven'), phrase('inbound-review')]
  const until = await keepConsumerHealth(tx, feedback, failure, at)
  if (until === undefined) return [phrase('inbound-soft-bounce')]
  await suppressFor(tx, feedback.address, failure, { at, until })
  for (const key of cameBack) await notifyNextContact(tx, key, app, at)
  return [phrase('inbound-address-suppressed'), phrase('next-contact-notified')]
}

/**
 * Stores the consumer's bounce record. Returns until when to suppress its address; undefined if the
 * address is not to be suppressed.
 */
async function keepConsumerHealth(
  tx: Db,
  { consumerId, address, createdAt, finishedAt }: Feedback,
  { hard }: Failure,
  bouncedAt: Date,
): Promise<Date | undefined> {
  const consumer = await findConsumer(tx, consumerId)
  if (consumer?.address !== address) return undefined
  const sentAt = finishedAt ?? createdAt
  const { softBounces, bouncesSince } = consumer
  const hasEnoughBounces = !hard && bouncesSince !== null && softBounces + 1 >= SOFT_BOUNCES_MAX
  const hasDelivery = hasEnoughBounces && (await hasDelivered(tx, consumerId, bouncesSince, sentAt))
  const bounce = { hard, sentAt, bouncedAt, hasDelivered: hasDelivery }
  const record = afterBounce(consumer, bounce)
  await keepHealth(tx, consumerId, record)
  return record.healthUntil && record.healthUntil > bouncedAt ? record.healthUntil : undefined
}

async function bounceLetter(tx: Db, letter: Letter, failure: Failure, at: Date): Promise<Phrase[]> {
  const status = storable(failure.status)
  const reply = [status, failure.reason].filter(Boolean).join(' ')
  if (!(await markLetterBounced(tx, letter.id, reply))) return [phrase('inbound-bounce-known')]
  if (letter.kind === 'account') await endLinkOfLetter(tx, letter.id)
  await countMails(tx, 'letter', ['bounced'])
  const until = failure.hard
    ? afterBounce(healthyRecord, letterBounce(letter, true, at)).healthUntil
    : await suppressedUntil(tx, letter, at)
  if (until === null) return [phrase('inbound-soft-bounce')]
  await suppressFor(tx, letter.address, failure, { at, until })
  return [phrase('inbound-address-suppressed')]
}

/** Returns until when an address is suppressed after consecutive soft bounces; null if too few. */
async function suppressedUntil(tx: Db, { address }: Letter, at: Date): Promise<Date | null> {
  const results = await listLetterResults(tx, address, new Date(at.getTime() - ROW_MS))
  let record = healthyRecord
  const arrived = results.findLastIndex(({ state }) => state === 'sent')
  for (const { sentAt } of results.slice(arrived + 1)) {
    record = afterBounce(record, { hard: false, sentAt, bouncedAt: at, hasDelivered: false })
  }
  return record.healthUntil
}

function letterBounce({ createdAt, finishedAt }: Letter, hard: boolean, bouncedAt: Date) {
  return { hard, sentAt: finishedAt ?? createdAt, bouncedAt, hasDelivered: false }
}

async function suppressFor(
  tx: Db,
  address: string,
  { hard, status, reason }: Failure,
  { at, until }: { at: Date; until: Date },
): Promise<void> {
  await suppress(tx, {
    address,
    reason: hard ? 'hard-bounce' : 'soft-bounces',
    status: storable(status),
    detail: reason,
    since: at,
    until,
  })
}

function storable(status: string | undefined): string | null {
  return status === undefined ? null : storableText(status, 20)
}

/** Feedback types that are not complaints (RFC 5965 §7.3, RFC 6430). */
const harmless = new Set(['not-spam', 'auth-failure', 'dmarc'])

/**
 * Handles a complaint about our mail (RFC 5965) and returns phrases that describe the action taken.
 * The complaining address is suppressed immediately and permanently. A person reviews each
 * complaint. A complaint that names a feedback report only by Message-ID waits for that review,
 * because the reporter also knows the Message-ID and could silence an abuse desk.
 */
export async function keepComplaint(
  tx: Db,
  match: Match | undefined,
  complaint: FeedbackFields | undefined,
  at: Date,
): Promise<Phrase[]> {
  const type = complaint?.fields.find(([name]) => name.toLowerCase() === 'feedback-type')?.[1]
  if (harmless.has((type ?? '').trim().toLowerCase())) return [phrase('inbound-no-complaint')]
  if (!match) return [phrase('inbound-unmatched'), phrase('inbound-review')]
  const { feedback, letter } = match
  if (feedback && !match.isSigned) {
    return [phrase('inbound-unproven'), phrase('inbound-review')]
  }
  if (feedback) {
    await stopFeedback(tx, feedback.consumerId, 'complaint', at)
    return [phrase('inbound-consumer-stopped')]
  }
  if (!letter) return [phrase('inbound-mail-deleted')]
  const { address } = letter
  const suppression = { address, status: null, detail: '', since: at, until: null }
  await suppress(tx, { ...suppression, reason: 'complaint' })
  return [phrase('inbound-address-suppressed')]
}

/** The action taken on a reply, and whether a person should look at it. */
export type ReplyKept = { phrases: Phrase[]; needsLook: boolean }

/**
 * Records an answer sent by mail, if it is unambiguous and its author is the abuse desk we notified
 * or shares its registrable domain. Other replies are left for a person.
 */
export async function keepReply(
  tx: Db,
  { id }: Pick<InboundMail, 'id'>,
  { feedback, letter, by }: Partial<Match>,
  { answer, author, isAutomatic, text }: InboundReading,
  app: Pick<App, 'boss' | 'config'>,
  at: Date,
): Promise<ReplyKept> {
  const forPeople = (...phrases: Phrase[]) => ({ phrases, needsLook: true })
  if (!feedback) return forPeople(phrase(letter ? 'inbound-letter-reply' : 'inbound-unmatched'))
  if (answer === undefined) return forPeople(phrase('inbound-free-text'))
  if (isAutomatic) return forPeople(phrase('inbound-answer-automatic'))
  // A Message-ID proves nothing, because a reporter can derive it from the number of the report.
  if (by !== 'recipient') return forPeople(phrase('inbound-answer-unproven'))
  if (author === null || !isOfDesk(author, feedback.address)) {
    return forPeople(phrase('inbound-answer-foreign'))
  }
  const taken = await recordAnswer(tx, feedback, answer, 'mail', app, at, {
    said: text,
    mailId: id,
  })
  if (taken === 'unknown' || taken === 'unavailable')
    return forPeople(phrase('inbound-answer-unsent'))
  const code = taken === 'repeated' ? 'inbound-answer-repeated' : 'inbound-answer-recorded'
  return { phrases: [phrase(code, { answer })], needsLook: false }
}

/**
 * Whether an author is the desk or shares its domain; accounts at a free mail provider do not
 * count.
 */
function isOfDesk(author: string, address: string): boolean {
  if (author.toLowerCase() === address.toLowerCase()) return true
  const registrable = registrableOf(address)
  return (
    registrable !== undefined &&
    !freeMailDomains.has(registrable) &&
    registrableOf(author) === registrable
  )
}

function registrableOf(address: string): string | undefined {
  const domain = domainOf(address)
  return domain === undefined ? undefined : registrableDomain(domain)
}
