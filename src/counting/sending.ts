import type { Db } from '../db/pool.ts'
import {
  type SendingEvent,
  sendingKeys,
  sendingShingles,
  type SendingUser,
} from '../pieces/shingles/sending-user.ts'
import {
  type SendingDay,
  type SendingRecord,
  sendingRecord,
} from '../verdict/reputation/sending.ts'
import { type CountedMessage, countMessages } from './count-messages.ts'
import { dayOf, slotOf, wholePairKey } from './keys.ts'
import type { CounterReader, Point } from './reader.ts'

type SeriesReader = Pick<CounterReader, 'readSeries' | 'readWindows'>

/**
 * Reads the mail that a user sent in the last two weeks and the reactions of recipients, by day,
 * newest first.
 */
export async function readSendingDays(
  reader: SeriesReader,
  user: SendingUser,
  now: Date,
): Promise<SendingDay[]> {
  const { piece } = sendingKeys(user, 'sent')
  const [sent, recipients, complaints, bounces, reads] = await Promise.all([
    daysOf(reader, piece),
    ...events.map((event) => {
      const { piece: counted, pairType } = sendingKeys(user, event)
      return daysOf(reader, wholePairKey(pairType, counted))
    }),
  ])
  const today = dayOf(slotOf(now))
  const all = [sent, recipients, complaints, bounces, reads]
  const days = [...new Set(all.flatMap((points) => [...(points?.keys() ?? [])]))]
  return days
    .sort((a, b) => b - a)
    .map((day) => {
      const { ham = 0, spam = 0 } = sent?.get(day) ?? {}
      return {
        // A machine whose clock is ahead counts for today.
        daysAgo: Math.max(0, today - day),
        sent: ham + spam,
        unwanted: spam,
        recipients: recipients?.get(day)?.unique ?? 0,
        complaints: complaints?.get(day)?.unique ?? 0,
        bounces: bounces?.get(day)?.unique ?? 0,
        reads: reads?.get(day)?.unique ?? 0,
      }
    })
}

const events: readonly SendingEvent[] = ['sent', 'complaint', 'bounce', 'read']

async function daysOf(reader: SeriesReader, key: bigint): Promise<Map<number, Point>> {
  const { days } = await reader.readSeries(key, 'outgoing')
  return new Map(days.map((point) => [dayOf(slotOf(point.startsAt)), point]))
}

/** An event about mail that a user sent to a recipient. */
export type SentMailEvent = SendingUser & {
  event: Exclude<SendingEvent, 'sent'>
  recipient: string
  at: Date
}

/**
 * Counts events about outgoing mail. The same event of a user and a recipient counts once a day, so
 * repeating it changes nothing.
 */
export async function countSendingEvents(
  db: Db,
  events: readonly SentMailEvent[],
  now: Date,
): Promise<void> {
  const messages = events.map(({ event, recipient, at, ...user }): CountedMessage => {
    const shingles = sendingShingles(user, event, [recipient])
    return { prefix: 'outgoing', shingles, amounts: { ham: 1 }, at }
  })
  await countMessages(db, messages, now)
}

export async function readSending(
  reader: SeriesReader,
  user: SendingUser,
  now: Date,
): Promise<SendingRecord> {
  const { piece } = sendingKeys(user, 'sent')
  const [days, [windows]] = await Promise.all([
    readSendingDays(reader, user, now),
    reader.readWindows([piece]),
  ])
  const { ham = 0, spam = 0 } = windows?.outgoing?.hour ?? {}
  return sendingRecord(days, { sent: ham + spam, unwanted: spam })
}
