import type { Consumer, ConsumerState } from './consumers.ts'
import type { Db } from './pool.ts'
import { first } from './values.ts'

/** A consumer as administrators see it. */
export type ConsumerDetails = Consumer & {
  note: string | null
  createdAt: Date
  /** How often it answered what. */
  resolved: number
  notOurs: number
  wrong: number
}

const columns = `id, address, state, health, health_until as "healthUntil",
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
    `select ${columns} from consumers
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
      ? await db.query<ConsumerDetails>(`select ${columns} from consumers where id = $1`, [by.id])
      : await db.query<ConsumerDetails>(`select ${columns} from consumers where address = $1`, [
          by.address,
        ])
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
