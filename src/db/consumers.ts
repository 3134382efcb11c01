import sql, { bulk, raw } from 'sql-template-tag'
import { WEEK_MS } from '../durations.ts'
import type { FeedbackFormat } from '../mail/feedback-format.ts'
import type { ConsumerSource, FeedbackTopic, Health } from '../verdict/choose-contact.ts'
import type { HealthRecord } from '../verdict/contact-health.ts'
import { uuidFloor, uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import { isOneOf, prepared } from './prepared.ts'
import { changesAny, rowOf, rowsOf, valuesOf } from './rows.ts'

/** A recipient of feedback reports: an abuse desk found by its network, or one that enrolled. */
export type Consumer = HealthRecord & {
  id: string
  address: string
  /** `found`: did not ask for our reports; `stopped`: asked us to stop. */
  state: ConsumerState
  /** When a pause ends; null when an operator or the consumer must end it. */
  pausedUntil: Date | null
  format: FeedbackFormat
  /** Whether the consumer receives the whole message or only its header. */
  form: 'whole' | 'headers'
  /** One mail per report, one per campaign and hour, or one digest a day. */
  pace: 'at-once' | 'campaign' | 'digest'
  /**
   * Limits of feedback reports per hour and of concurrent connections; null: the program's
   * defaults.
   */
  hourlyMax: number | null
  connectionsMax: number | null
  /** The kinds of messages that the consumer accepts reports about; null: all. */
  takes: FeedbackTopic[] | null
  source: ConsumerSource
  /** When the consumer confirmed the address and was enrolled; kept during a pause. */
  enrolledAt: Date | null
  /** From when and until when the consumer gets originals by contract; null: without an end. */
  originalsSince: Date | null
  originalsUntil: Date | null
}

/** A consumer to add when its address is unknown. */
export type NewConsumer = Pick<Consumer, 'address' | 'source'> & { format?: Consumer['format'] }

export type ConsumerState = 'found' | 'enrolled' | 'paused' | 'stopped'

const columns = sql`id, address, state, health, health_until as "healthUntil",
  soft_bounces as "softBounces", bounces_since as "bouncesSince",
  last_bounced_at as "lastBouncedAt", paused_until as "pausedUntil", format, form, pace,
  hourly_max as "hourlyMax", connections_max as "connectionsMax", takes, source,
  enrolled_at as "enrolledAt", originals_since as "originalsSince",
  originals_until as "originalsUntil"`

/** Returns the consumers at the given addresses, by address; adds unknown ones as `found`. */
export async function ensureConsumers(
  tx: Db,
  wanted: readonly NewConsumer[],
  now: Date,
): Promise<Map<string, Consumer>> {
  if (wanted.length === 0) return new Map()
  const addresses = wanted.map(({ address }) => address)
  const known = await listConsumers(tx, addresses)
  const byAddress = new Map(wanted.map((one) => [one.address, one]))
  const missing = [...byAddress.values()]
    .filter(({ address }) => !known.has(address))
    .sort((one, other) => (one.address < other.address ? -1 : 1))
  if (missing.length === 0) return known
  const values = bulk(
    missing.map(({ address, source, format }) => [
      ...[uuidv7(now), address, 'found', now],
      ...[source, format ?? 'arf'],
    ]),
  )
  await tx.query(sql`
    insert into consumers (id, address, state, created_at, source, format) values ${values}
    on conflict (address) do nothing`)
  return listConsumers(tx, addresses)
}

export async function listConsumers(
  db: Db,
  addresses: readonly string[],
): Promise<Map<string, Consumer>> {
  const { rows } = await db.query<Consumer>(prepared`
    select ${columns} from consumers where ${isOneOf('address', addresses, 'text[]')}`)
  return new Map(rows.map((consumer) => [consumer.address, consumer]))
}

export async function listConsumersByIds(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Consumer>> {
  const { rows } = await db.query<Consumer>(prepared`
    select ${columns} from consumers where ${isOneOf('id', ids, 'uuid[]')}`)
  return new Map(rows.map((consumer) => [consumer.id, consumer]))
}

export function findConsumer(db: Db, id: string): Promise<Consumer | undefined> {
  return rowOf(db)`select ${columns} from consumers where id = ${id}`
}

/** Stops feedback reports to a consumer; false when they were stopped before. */
export function markStopped(tx: Db, id: string): Promise<boolean> {
  return changesAny(tx)`
    update consumers set state = 'stopped', paused_until = null
    where id = ${id} and state <> 'stopped'`
}

/** Stores the format, the form, the pace and the topics that a consumer chose. */
export async function updateFeedbackSettings(
  tx: Db,
  id: string,
  { format, form, pace, takes }: Pick<Consumer, 'format' | 'form' | 'pace' | 'takes'>,
): Promise<void> {
  await tx.query(sql`
    update consumers set format = ${format}, form = ${form}, pace = ${pace}, takes = ${takes}
      where id = ${id}`)
}

/** Enrolls a consumer in any state; keeps the date of the first enrollment. */
export async function markEnrolled(tx: Db, id: string, now: Date): Promise<void> {
  await tx.query(sql`update consumers set state = 'enrolled', paused_until = null,
      enrolled_at = coalesce(enrolled_at, ${now})
    where id = ${id}`)
}

/**
 * Pauses a consumer; `until` is null when the pause has no end. False when the consumer is stopped.
 */
export function markPaused(tx: Db, id: string, until: Date | null): Promise<boolean> {
  return changesAny(tx)`
    update consumers set state = 'paused', paused_until = ${until} where id = ${id}
      and state <> 'stopped'`
}

/**
 * Ends a pause or a stop: a consumer that had enrolled is enrolled again. False when it was neither
 * paused nor stopped.
 */
export function markResumed(tx: Db, id: string): Promise<boolean> {
  return changesAny(tx)`update consumers set paused_until = null,
      state = case when enrolled_at is null then 'found' else 'enrolled' end
    where id = ${id} and state in ('paused', 'stopped')`
}

export type CountedAnswer = 'resolved' | 'not-ours' | 'wrong'

export async function countAnswer(tx: Db, id: string, answer: CountedAnswer): Promise<void> {
  await tx.query(sql`update consumers set
      resolved_answers = resolved_answers + case when ${answer} = 'resolved' then 1 else 0 end,
      not_ours_answers = not_ours_answers + case when ${answer} = 'not-ours' then 1 else 0 end,
      wrong_answers = wrong_answers + case when ${answer} = 'wrong' then 1 else 0 end
    where id = ${id}`)
}

/** Stores the health of a consumer's address, derived from its bounces. */
export async function keepHealth(tx: Db, id: string, record: HealthRecord): Promise<void> {
  await tx.query(sql`
    update consumers set health = ${record.health}, health_until = ${record.healthUntil},
      soft_bounces = ${record.softBounces}, bounces_since = ${record.bouncesSince},
      last_bounced_at = ${record.lastBouncedAt}
    where id = ${id}`)
}

/** The longest time in milliseconds that a feedback report may wait before it is sent. */
const WAITING_MS = WEEK_MS

/**
 * Whether any feedback report sent to a consumer between two instants (both exclusive) has not
 * bounced. Reads all feedback reports of that time, so call it only for bounces, not for every
 * mail.
 */
export async function hasDelivered(
  db: Db,
  consumerId: string,
  after: Date,
  before: Date,
): Promise<boolean> {
  const { rows } = await db.query(sql`select report_id from feedback_reports
    where state = 'sent' and report_id >= ${uuidFloor(new Date(after.getTime() - WAITING_MS))}
      and consumer_id = ${consumerId}
      and finished_at > ${after} and finished_at < ${before}
    limit 1`)
  return rows.length > 0
}

export function countConsumersByHealth(
  db: Db,
  now: Date,
): Promise<{ health: Health; consumers: number }[]> {
  return rowsOf(db)`
    select case when health_until > ${now} then health else 'healthy' end as health,
      count(*) as consumers
    from consumers group by 1`
}

export type ConsumerDetails = Consumer & {
  note: string | null
  originalsReason: string | null
  createdAt: Date
  /** The number of the consumer's answers of each kind. */
  resolved: number
  notOurs: number
  wrong: number
}

const LIST_COLUMNS = sql`${columns}, note, originals_reason as "originalsReason",
  created_at as "createdAt", resolved_answers as resolved, not_ours_answers as "notOurs",
  wrong_answers as wrong`

/** Returns a page of consumers by address; `after` is the last address of the previous page. */
export function listConsumerPage(
  db: Db,
  page: {
    state?: ConsumerState | undefined
    /** A substring of the address, in lower case. */
    search?: string | undefined
    after?: string | undefined
    limit: number
  },
): Promise<ConsumerDetails[]> {
  return rowsOf(db)`select ${LIST_COLUMNS} from consumers
    where (${page.state}::text is null or state = ${page.state}::text)
      and (${page.after}::text is null or address > ${page.after}::text)
      and (${page.search}::text is null or position(${page.search}::text in lower(address)) > 0)
    order by address limit ${page.limit}`
}

export function findConsumerDetails(
  db: Db,
  by: { id: string } | { address: string },
): Promise<ConsumerDetails | undefined> {
  const which = 'id' in by ? sql`id = ${by.id}` : sql`address = ${by.address}`
  return rowOf(db)`select ${LIST_COLUMNS} from consumers where ${which}`
}

/** Stores from when, until when and why a consumer gets originals; null: it has no contract. */
export async function keepContract(
  tx: Db,
  id: string,
  contract: { since: Date; until: Date | null; reason: string } | null,
): Promise<void> {
  await tx.query(sql`
    update consumers set originals_since = ${contract?.since ?? null},
      originals_until = ${contract?.until ?? null}, originals_reason = ${contract?.reason ?? null}
    where id = ${id}`)
}

/** Stores the limits and the note that an administrator set for a consumer. */
export async function keepLimits(
  tx: Db,
  id: string,
  limits: Pick<ConsumerDetails, 'hourlyMax' | 'connectionsMax' | 'note'>,
): Promise<void> {
  await tx.query(sql`
    update consumers set hourly_max = ${limits.hourlyMax},
      connections_max = ${limits.connectionsMax}, note = ${limits.note} where id = ${id}`)
}

/**
 * Deletes unused consumers that only a CFBL header (RFC 9477) named and that were found before an
 * instant, because a message may name any number of addresses. Checks the first `limit` of them
 * after `page.after`. Returns the last id it checked, or undefined when there are no more.
 */
export async function deleteUnusedConsumers(
  tx: Db,
  before: Date,
  page: { after: string; limit: number },
): Promise<string | undefined> {
  const found = await valuesOf(tx)`select id from consumers
    where source = 'cfbl' and state = 'found' and enrolled_at is null and created_at < ${before}
      and health = 'healthy' and id > ${page.after}
    order by id limit ${page.limit}`
  if (found.length === 0) return undefined
  // Separate statements: these tables may be on different nodes.
  const used = new Set<string>()
  for (const table of ['feedback_reports', 'consumer_scopes', 'enrollment_requests']) {
    const uses = await tx.query<{ id: string }>(sql`
      select distinct consumer_id as id from ${raw(table)}
      where consumer_id = any(${found}::uuid[])`)
    for (const { id } of uses.rows) used.add(id)
  }
  const ids = found.filter((id) => !used.has(id))
  await tx.query(sql`delete from consumer_hours where consumer_id = any(${ids}::uuid[])`)
  await tx.query(sql`
    delete from consumers where id = any(${ids}::uuid[]) and source = 'cfbl' and state = 'found'`)
  return found.length < page.limit ? undefined : found.at(-1)
}
