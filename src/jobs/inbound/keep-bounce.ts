import type { App } from '../../app.ts'
import { findConsumer, hasDelivered, keepHealth } from '../../db/consumers.ts'
import { type Feedback, markBounced } from '../../db/feedback-reports.ts'
import { listLetterFates } from '../../db/letter-bounces.ts'
import { type Letter, markLetterBounced } from '../../db/letters.ts'
import { countMails } from '../../db/mail-totals.ts'
import type { Db } from '../../db/pool.ts'
import { insertEvents } from '../../db/report-events.ts'
import { suppress } from '../../db/suppressions.ts'
import { listMembers } from '../../feedback/merged-members.ts'
import { tellNextContact } from '../../feedback/tell-next-contact.ts'
import { domainOf } from '../../mail/address.ts'
import type { BounceResult } from '../../mail/bounces/parse-bounce.ts'
import { registrableDomain } from '../../mail/domain.ts'
import { storableText } from '../../mail/storable-text.ts'
import { afterBounce, healthyRecord, SOFT_BOUNCES_MAX } from '../../verdict/contact-health.ts'
import type { Match } from './match-mail.ts'

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
  const cameBack = [{ reportId, number }, ...(await listMembers(tx, feedback))]
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
