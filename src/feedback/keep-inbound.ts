import type { App } from '../app.ts'
import { findConsumer, hasDelivered, keepHealth } from '../db/consumers.ts'
import { type Feedback, markBounced } from '../db/feedback-reports.ts'
import type { InboundMail } from '../db/inbox.ts'
import { type Letter, listLetterFates, markLetterBounced } from '../db/letters.ts'
import { countMails } from '../db/mail-relay.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { suppress } from '../db/suppressions.ts'
import { domainOf, registrableDomain } from '../mail/address.ts'
import type { BounceResult } from '../mail/bounces/parse-bounce.ts'
import type { InboundReading } from '../mail/inbound/read-inbound.ts'
import type { FeedbackFields } from '../mail/mail-parts.ts'
import { storableText } from '../mail/text.ts'
import { freeMailDomains } from '../pieces/features/material.ts'
import { afterBounce, healthyRecord, SOFT_BOUNCES_MAX } from '../verdict/contact-health.ts'
import { stopConsumer } from './change-consumer.ts'
import type { Match } from './handle-inbound.ts'
import { tellNextContact } from './next-contact.ts'
import { listMergedReports } from './owe-feedback.ts'
import { takeAnswer } from './take-answer.ts'

type Needs = Pick<App, 'boss' | 'config'>

/** What a bounce says of the one address that we wrote to. */
type Failure = Pick<BounceResult, 'hard' | 'status' | 'reason'>

const DAY_MS = 86_400_000
const ROW_MS = 7 * DAY_MS

/**
 * Keeps what became of a mail of ours, and returns what was done in a sentence. A hard bounce
 * suppresses the address while it counts as dead, and the next contact of the network is told;
 * three soft ones in a row, over a day or more, do so for a week. What is only delayed, or arrived,
 * changes nothing. A bounce that knows no more than a Message-ID says nothing of the address: a
 * reporter can make that of the report's number, and write any bounce.
 */
export async function keepBounce(
  tx: Db,
  { feedback, letter, by }: Match,
  results: readonly BounceResult[],
  app: Needs,
  at: Date,
): Promise<string> {
  const address = feedback?.address ?? letter?.address
  if (address === undefined) return 'What it is about is no longer kept.'
  const failure = failureOf(results, address)
  if (typeof failure === 'string') return failure
  const isProof = by !== 'message-id' && by !== 'reference'
  if (feedback) return bounceFeedback(tx, feedback, { ...failure, isProof }, app, at)
  return letter ? bounceLetter(tx, letter, failure, at) : ''
}

/**
 * The failure of our own recipient, or why there is none. One of a stranger behind that address
 * (a member of a list, the mailbox it is forwarded to) is not the end of the address itself.
 */
function failureOf(results: readonly BounceResult[], address: string): Failure | string {
  const isOwn = ({ recipient }: BounceResult) => recipient.toLowerCase() === address.toLowerCase()
  const own = results.find(isOwn)
  if (own && own.action !== 'failed') return sentenceOf[own.action]
  const failed = own ?? results.find(({ action }) => action === 'failed')
  if (!failed) return sentenceOf[results[0]?.action ?? 'delayed']
  return { ...failed, hard: failed.hard && isOfHouse(failed.recipient, address) }
}

const sentenceOf: Record<BounceResult['action'], string> = {
  failed: 'It came back.',
  delayed: 'It is merely delayed: nothing changes.',
  delivered: 'It arrived.',
  relayed: 'It was handed on to a server that gives no receipts.',
  expanded: 'It arrived, and went on to several others.',
}

function isOfHouse(recipient: string, address: string): boolean {
  if (recipient === '') return true
  const house = (of: string) => {
    const domain = domainOf(of)
    return domain === undefined ? undefined : (registrableDomain(domain) ?? domain)
  }
  return house(recipient) === house(address)
}

async function bounceFeedback(
  tx: Db,
  feedback: Feedback,
  failure: Failure & { isProof: boolean },
  app: Needs,
  at: Date,
): Promise<string> {
  const { reportId, number } = feedback
  const status = storable(failure.status)
  const { reason } = failure
  const isNew = await markBounced(tx, { reportId, number, at, status, reason })
  if (!isNew) return 'It had come back before: nothing changes.'
  await countMails(tx, 'feedback', ['bounced'])
  const detail = `The feedback report came back undelivered (${status ?? 'no status given'}).`
  const cameBack = [{ reportId, number }, ...(await listMergedReports(tx, feedback))]
  await insertEvents(
    tx,
    cameBack.map((one) => ({ reportId: one.reportId, at, event: 'bounced', detail })),
  )
  if (!failure.isProof) return 'It came back, says who knows its Message-ID: see whether it is so.'
  const until = await keepConsumerHealth(tx, feedback, failure, at)
  if (until === undefined) return 'A soft bounce, counted.'
  await suppressFor(tx, feedback.address, failure, { at, until })
  for (const key of cameBack) await tellNextContact(tx, key, app, at)
  return 'The address is suppressed, and the next contact is looked for.'
}

/** Until when the address is not written to; undefined when it goes on being. */
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
  const isRowFull = !hard && bouncesSince !== null && softBounces + 1 >= SOFT_BOUNCES_MAX
  const hasDelivery = isRowFull && (await hasDelivered(tx, consumerId, bouncesSince, sentAt))
  const bounce = { hard, sentAt, bouncedAt, hasDelivered: hasDelivery }
  const record = afterBounce(consumer, bounce)
  await keepHealth(tx, consumerId, record)
  return record.healthUntil && record.healthUntil > bouncedAt ? record.healthUntil : undefined
}

async function bounceLetter(tx: Db, letter: Letter, failure: Failure, at: Date): Promise<string> {
  const status = storable(failure.status)
  const reply = `Came back: ${failure.reason} (${status ?? 'no status given'}).`
  if (!(await markLetterBounced(tx, letter.id, reply))) {
    return 'The letter had come back before: nothing changes.'
  }
  await countMails(tx, 'letter', ['bounced'])
  const until = failure.hard
    ? afterBounce(healthyRecord, letterBounce(letter, true, at)).healthUntil
    : await endOfRow(tx, letter, at)
  if (until === null) return 'The letter came back; a soft bounce.'
  await suppressFor(tx, letter.address, failure, { at, until })
  return 'The letter came back, and the address is suppressed.'
}

/** Until when an address rests whose letters came back in a row; null when there is no such row. */
async function endOfRow(tx: Db, { address }: Letter, at: Date): Promise<Date | null> {
  const fates = await listLetterFates(tx, address, new Date(at.getTime() - ROW_MS))
  let record = healthyRecord
  const arrived = fates.findLastIndex(({ state }) => state === 'sent')
  for (const { sentAt } of fates.slice(arrived + 1)) {
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
    detail: hard ? `Mail came back: ${reason}.` : `Mail came back time and again: ${reason}.`,
    since: at,
    until,
  })
}

function storable(status: string | undefined): string | null {
  return status === undefined ? null : storableText(status, 20)
}

/** Types of RFC 5965 §7.3 and RFC 6430 that complain of nothing. */
const harmless = new Set(['not-spam', 'auth-failure', 'dmarc'])

/**
 * Obeys a complaint about a mail of ours (RFC 5965), and returns what was done in a sentence: who
 * complained is not written to again, at once and for good. A person looks at each. One that names
 * a feedback report by its Message-ID alone is left to that person: its reporter knows that too,
 * and could silence a desk.
 */
export async function keepComplaint(
  tx: Db,
  match: Match | undefined,
  complaint: FeedbackFields | undefined,
  at: Date,
): Promise<string> {
  const type = complaint?.fields.find(([name]) => name.toLowerCase() === 'feedback-type')?.[1]
  if (harmless.has((type ?? '').trim().toLowerCase())) return 'It complains of nothing.'
  if (!match) return 'It is about no mail of ours that is known: see what it is.'
  const { feedback, letter } = match
  const detail = 'Complained of our mail in a feedback report.'
  if (feedback && !match.isSigned) {
    return 'Only a Message-ID says what it is about, which others know too: see what it is.'
  }
  if (feedback) {
    await stopConsumer(tx, feedback.consumerId, { why: detail, reason: 'complaint' }, at)
    return 'The consumer was stopped, and its address is suppressed.'
  }
  if (!letter) return 'What it is about is no longer kept.'
  const { address } = letter
  const suppression = { address, status: null, detail, since: at, until: null }
  await suppress(tx, { ...suppression, reason: 'complaint' })
  return 'The address is suppressed: no letter goes there any more.'
}

/** What was done with what a person wrote. */
export type ReplyKept = { outcome: string; needsLook: boolean }

/**
 * Takes the answer that a person mailed, where it is unmistakable and who wrote it is the desk that
 * we told, or of its house. All else is left to people.
 */
export async function keepReply(
  tx: Db,
  { id }: Pick<InboundMail, 'id'>,
  { feedback, letter, by }: Partial<Match>,
  { answer, author, isAutomatic, text }: InboundReading,
  app: Pick<App, 'boss' | 'config'>,
  at: Date,
): Promise<ReplyKept> {
  const forPeople = (outcome: string) => ({ outcome, needsLook: true })
  if (!feedback) return forPeople(letter ? 'A letter was answered.' : 'Somebody wrote to us.')
  if (answer === undefined) return forPeople('A feedback report was answered in free words.')
  if (isAutomatic) return forPeople('It reads like an answer, but a machine may have sent it.')
  // A Message-ID can be told from the number of a report, which its reporter knows.
  if (by !== 'recipient')
    return forPeople('It reads like an answer, but came to no signed address.')
  if (author === null || !isOfDesk(author, feedback.address)) {
    return forPeople('It reads like an answer, but not of who was told: nothing was done.')
  }
  const taken = await takeAnswer(tx, feedback, answer, 'mail', app, at, { said: text, mailId: id })
  if (taken === 'unknown') return forPeople('The feedback report had not left: nothing was done.')
  const again = taken === 'repeated' ? ', as it was before' : ''
  return { outcome: `The answer was taken${again}: ${answer}.`, needsLook: false }
}

/** Whether an author is the desk or of its organization; neighbors at a free mail house are not. */
function isOfDesk(author: string, address: string): boolean {
  if (author.toLowerCase() === address.toLowerCase()) return true
  const house = houseOf(address)
  return house !== undefined && !freeMailDomains.has(house) && houseOf(author) === house
}

function houseOf(address: string): string | undefined {
  const domain = domainOf(address)
  return domain === undefined ? undefined : registrableDomain(domain)
}
