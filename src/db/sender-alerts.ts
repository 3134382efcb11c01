import sql from 'sql-template-tag'
import { dateOf } from '../durations.ts'
import type { alertCause, SendingDay } from '../verdict/reputation/sending.ts'
import type { Db } from './pool.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

/** An unwanted message of a user, without its content. */
export type SuspectMessage = {
  /** When it was checked (RFC 3339). */
  at: string
  /** The id in the mail server's log, if the mail server gave one. */
  queueId: string | null
  recipients: number
  class: string
  score: number
  /** The symbols with the largest weights. */
  symbols: readonly string[]
}

/** An alert that a user of the mail server seems to send spam. Its id contains its time. */
export type SenderAlert = {
  id: string
  system: string
  user: string
  cause: NonNullable<ReturnType<typeof alertCause>>
  /** What the user did on the day and in the hour of the alert, until it was raised. */
  counts: Omit<SendingDay, 'daysAgo'> & { sentLastHour: number; unwantedLastHour: number }
  /** The last unwanted messages, newest first. */
  messages: readonly SuspectMessage[]
  closedAt: Date | null
}

const COLUMNS = sql`id, system, user_name as "user", cause, counts, messages,
  closed_at as "closedAt"`

/** Stores an alert; false if there was one about this user on that day. `key` is the user's. */
export function insertSenderAlert(
  tx: Db,
  alert: Omit<SenderAlert, 'closedAt'>,
  { key, now }: { key: bigint; now: Date },
): Promise<boolean> {
  return changesAny(tx)`
    insert into sender_alerts (id, key, day, system, user_name, cause, counts, messages)
    values (${alert.id}, ${String(BigInt.asIntN(64, key))}, ${dateOf(now)},
      ${alert.system}, ${alert.user}, ${alert.cause}, ${JSON.stringify(alert.counts)},
      ${JSON.stringify(alert.messages)})
    on conflict (key, day) do nothing returning id`
}

/** Returns the newest alerts, open ones first. */
export function listSenderAlerts(db: Db, limit: number): Promise<SenderAlert[]> {
  return rowsOf(db)`
    select ${COLUMNS} from sender_alerts order by closed_at is not null, id desc limit ${limit}`
}

/** Returns alerts by id, unordered. */
export function listSenderAlertsByIds(db: Db, ids: readonly string[]): Promise<SenderAlert[]> {
  return rowsOf(db)`select ${COLUMNS} from sender_alerts where id = any(${ids}::uuid[])`
}

/** Closes an alert and returns its user; undefined if there is no such open alert. */
export function closeSenderAlert(
  tx: Db,
  id: string,
  now: Date,
): Promise<Pick<SenderAlert, 'system' | 'user'> | undefined> {
  return rowOf(tx)`update sender_alerts set closed_at = ${now}
    where id = ${id} and closed_at is null returning system, user_name as "user"`
}
