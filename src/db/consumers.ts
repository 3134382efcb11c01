import type { ConsumerSource, FeedbackTopic } from '../verdict/choose-contact.ts'
import type { Health, HealthRecord } from '../verdict/contact-health.ts'
import { uuidFloor, uuidv7 } from '../world.ts'
import type { Db } from './pool.ts'
import { first, values } from './rows.ts'

/** Who gets our feedback: an abuse desk found by its network, or one that enrolled. */
export type Consumer = HealthRecord & {
  id: string
  address: string
  /** `found` never asked for our reports; `stopped` said stop. */
  state: ConsumerState
  /** When a pause ends; null: when it is ended by hand. */
  pausedUntil: Date | null
  format: 'arf' | 'xarf'
  /** How much of a message it gets. */
  form: 'whole' | 'headers'
  /** Each report at once, one of each campaign and hour, or all in one mail a day. */
  pace: 'at-once' | 'campaign' | 'digest'
  /** Feedback reports an hour, and sent at once; null: what the program thinks right. */
  hourlyMax: number | null
  connectionsMax: number | null
  /** Which kinds of messages it takes reports of; null: all. */
  takes: FeedbackTopic[] | null
  source: ConsumerSource
  /** When it proved that it reads mail there, and was enrolled; this outlasts a pause. */
  enrolledAt: Date | null
}

/** An address that is to be told: what it is when nothing is known of it. */
export type NewConsumer = Pick<Consumer, 'address' | 'source'> & { format?: Consumer['format'] }

/** Where a consumer stands. */
export type ConsumerState = 'found' | 'enrolled' | 'paused' | 'stopped'

const columns = `id, address, state, health, health_until as "healthUntil",
  soft_bounces as "softBounces", bounces_since as "bouncesSince",
  last_bounced_at as "lastBouncedAt", paused_until as "pausedUntil", format, form, pace,
  hourly_max as "hourlyMax", connections_max as "connectionsMax", takes, source,
  enrolled_at as "enrolledAt"`

/** The consumers at these addresses, by address; unknown ones are added as `found`. */
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
  const { text, params } = values(
    missing.map(({ address, source, format }) => [
      ...[uuidv7(now), address, 'found', now],
      ...[source, format ?? 'arf'],
    ]),
  )
  await tx.query(
    `insert into consumers (id, address, state, created_at, source, format) values ${text}
     on conflict (address) do nothing`,
    params,
  )
  return listConsumers(tx, addresses)
}

/** The consumers at these addresses, by address. */
export async function listConsumers(
  db: Db,
  addresses: readonly string[],
): Promise<Map<string, Consumer>> {
  const { rows } = await db.query<Consumer>(
    `select ${columns} from consumers where address = any($1::text[])`,
    [addresses],
  )
  return new Map(rows.map((consumer) => [consumer.address, consumer]))
}

/** The consumers of these ids, by id. */
export async function listConsumersByIds(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Consumer>> {
  const { rows } = await db.query<Consumer>(
    `select ${columns} from consumers where id = any($1::uuid[])`,
    [ids],
  )
  return new Map(rows.map((consumer) => [consumer.id, consumer]))
}

/** One consumer by its id. */
export async function findConsumer(db: Db, id: string): Promise<Consumer | undefined> {
  return first(await db.query<Consumer>(`select ${columns} from consumers where id = $1`, [id]))
}

/** Says that a consumer is not told any more; false when it had said so before. */
export async function markStopped(tx: Db, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update consumers set state = 'stopped', paused_until = null
     where id = $1 and state <> 'stopped'`,
    [id],
  )
  return rowCount === 1
}

/** Keeps how a consumer wants to be told. */
export async function keepTelling(
  tx: Db,
  id: string,
  { format, form, pace, takes }: Pick<Consumer, 'format' | 'form' | 'pace' | 'takes'>,
): Promise<void> {
  await tx.query(
    `update consumers set format = $2, form = $3, pace = $4, takes = $5 where id = $1`,
    [id, format, form, pace, takes],
  )
}

/** Enrolls a consumer, whatever it was; when it enrolled first, stays. */
export async function markEnrolled(tx: Db, id: string, now: Date): Promise<void> {
  await tx.query(
    `update consumers set state = 'enrolled', paused_until = null,
       enrolled_at = coalesce(enrolled_at, $2)
     where id = $1`,
    [id, now],
  )
}

/** Pauses a consumer that is told; null: until it is ended by hand. False when it is not told. */
export async function markPaused(tx: Db, id: string, until: Date | null): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update consumers set state = 'paused', paused_until = $2 where id = $1 and state <> 'stopped'`,
    [id, until],
  )
  return rowCount === 1
}

/** Ends a pause, or a stop: who enrolled is enrolled again. False when there was neither. */
export async function markResumed(tx: Db, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update consumers set paused_until = null,
       state = case when enrolled_at is null then 'found' else 'enrolled' end
     where id = $1 and state in ('paused', 'stopped')`,
    [id],
  )
  return rowCount === 1
}

/** What is counted of the answers of consumers. */
export type CountedAnswer = 'resolved' | 'not-ours' | 'wrong'

/** Counts one more answer of a consumer. */
export async function countAnswer(tx: Db, id: string, answer: CountedAnswer): Promise<void> {
  await tx.query(
    `update consumers set
       resolved_answers = resolved_answers + case when $2 = 'resolved' then 1 else 0 end,
       not_ours_answers = not_ours_answers + case when $2 = 'not-ours' then 1 else 0 end,
       wrong_answers = wrong_answers + case when $2 = 'wrong' then 1 else 0 end
     where id = $1`,
    [id, answer],
  )
}

/** Keeps what the bounces of a consumer's address say about it. */
export async function keepHealth(tx: Db, id: string, record: HealthRecord): Promise<void> {
  await tx.query(
    `update consumers set health = $2, health_until = $3, soft_bounces = $4, bounces_since = $5,
       last_bounced_at = $6
     where id = $1`,
    [
      id,
      record.health,
      record.healthUntil,
      record.softBounces,
      record.bouncesSince,
      record.lastBouncedAt,
    ],
  )
}

/** The longest that a feedback report of before may have waited to be sent. */
const WAITING_MS = 7 * 86_400_000

/**
 * Whether a feedback report that was sent to a consumer between two instants, both excluded, has
 * not come back. It reads what was sent in that time: for bounces, not for every mail.
 */
export async function hasDelivered(
  db: Db,
  consumerId: string,
  after: Date,
  before: Date,
): Promise<boolean> {
  const { rows } = await db.query(
    `select report_id from feedback_reports
     where state = 'sent' and report_id >= $4 and consumer_id = $1
       and finished_at > $2 and finished_at < $3
     limit 1`,
    [consumerId, after, before, uuidFloor(new Date(after.getTime() - WAITING_MS))],
  )
  return rows.length > 0
}

/** How many consumers are in which health at an instant. */
export async function countConsumersByHealth(
  db: Db,
  now: Date,
): Promise<{ health: Health; consumers: number }[]> {
  const { rows } = await db.query<{ health: Health; consumers: number }>(
    `select case when health_until > $1 then health else 'healthy' end as health,
       count(*) as consumers
     from consumers group by 1`,
    [now],
  )
  return rows
}

/** A consumer as administrators see it. */
export type ConsumerDetails = Consumer & {
  note: string | null
  createdAt: Date
  /** How often it answered what. */
  resolved: number
  notOurs: number
  wrong: number
}

const LIST_COLUMNS = `id, address, state, health, health_until as "healthUntil",
  soft_bounces as "softBounces", bounces_since as "bouncesSince",
  last_bounced_at as "lastBouncedAt", paused_until as "pausedUntil", format, form, pace,
  hourly_max as "hourlyMax", connections_max as "connectionsMax", takes, source,
  enrolled_at as "enrolledAt", note, created_at as "createdAt", resolved_answers as resolved,
  not_ours_answers as "notOurs", wrong_answers as wrong`

/** A page of consumers by address; `after` is the last address of the page before. */
export async function listConsumerPage(
  db: Db,
  page: {
    state?: ConsumerState | undefined
    /** Letters that stand in the address, in lower case. */
    search?: string | undefined
    after?: string | undefined
    limit: number
  },
): Promise<ConsumerDetails[]> {
  const { rows } = await db.query<ConsumerDetails>(
    `select ${LIST_COLUMNS} from consumers
     where ($1::text is null or state = $1) and ($2::text is null or address > $2)
       and ($3::text is null or position($3 in lower(address)) > 0)
     order by address limit $4`,
    [page.state ?? null, page.after ?? null, page.search ?? null, page.limit],
  )
  return rows
}

/** One consumer, by its id or its address. */
export async function findConsumerDetails(
  db: Db,
  by: { id: string } | { address: string },
): Promise<ConsumerDetails | undefined> {
  const answer =
    'id' in by
      ? await db.query<ConsumerDetails>(`select ${LIST_COLUMNS} from consumers where id = $1`, [
          by.id,
        ])
      : await db.query<ConsumerDetails>(
          `select ${LIST_COLUMNS} from consumers where address = $1`,
          [by.address],
        )
  return first(answer)
}

/** Keeps what administrators say of a consumer besides how it is told. */
export async function keepLimits(
  tx: Db,
  id: string,
  limits: Pick<ConsumerDetails, 'hourlyMax' | 'connectionsMax' | 'note'>,
): Promise<void> {
  await tx.query(
    `update consumers set hourly_max = $2, connections_max = $3, note = $4 where id = $1`,
    [id, limits.hourlyMax, limits.connectionsMax, limits.note],
  )
}

/**
 * Forgets addresses that only a message named (RFC 9477), that were found before an instant and of
 * which nothing is kept: anybody may name as many as they like. Returns how many, at most `limit`.
 */
export async function removeUntold(db: Db, before: Date, limit: number): Promise<number> {
  const { rows } = await db.query<{ id: string }>(
    `select id from consumers
     where source = 'cfbl' and state = 'found' and enrolled_at is null and created_at < $1
       and health = 'healthy'
       and not exists (select from feedback_reports where consumer_id = consumers.id)
       and not exists (select from consumer_scopes where consumer_id = consumers.id)
       and not exists (select from enrollment_requests where consumer_id = consumers.id)
     order by id limit $2`,
    [before, limit],
  )
  if (rows.length === 0) return 0
  const ids = rows.map(({ id }) => id)
  await db.query('delete from consumer_hours where consumer_id = any($1::uuid[])', [ids])
  await db.query(
    `delete from consumers where id = any($1::uuid[]) and source = 'cfbl' and state = 'found'`,
    [ids],
  )
  return rows.length
}
