import sql, { bulk } from 'sql-template-tag'
import type { ConsumerScope } from '../verdict/consumers.ts'
import type { ScopeMatch } from '../verdict/choose-contact.ts'
import type { Db } from './pool.ts'
import { isOneOf, numbered, prepared, preparedInsert } from './prepared.ts'

/** A scope that covers one of several addresses, autonomous systems or domains. */
export type FoundScope = ScopeMatch & {
  /** For a range: the address it covers, spelled as in the query. */
  ip: string | null
}

/**
 * Returns all scopes that cover any of the given scopes, in one query. Includes the scopes of
 * paused and stopped consumers, because their choice not to receive reports must be respected.
 *
 * @throws SQLSTATE 22P02 when an address is invalid
 */
export async function findScopes(
  db: Db,
  of: { ips: readonly string[]; asns: readonly number[]; domains: readonly string[] },
): Promise<FoundScope[]> {
  const { rows } = await db.query<ScopeMatch & { at: number | null }>(prepared`
    select kind, value, address, asked.at
    from ${numbered(of.ips, 'inet')} as asked (ip, at)
    join consumer_scopes on block >>= asked.ip
    join consumers on id = consumer_id where state <> 'found'
    union all
    select kind, value, address, null
    from consumer_scopes join consumers on id = consumer_id
    where state <> 'found' and (kind = 'as' and ${isOneOf('value', of.asns.map(String), 'text[]')}
      or kind = 'domain' and ${isOneOf('value', of.domains, 'text[]')})`)
  return rows.map(({ at, ...row }) => ({ ...row, ip: at === null ? null : (of.ips[at - 1] ?? '') }))
}

export async function listScopes(
  db: Db,
  consumerIds: readonly string[],
): Promise<Map<string, ConsumerScope[]>> {
  const { rows } = await db.query<ConsumerScope & { consumerId: string }>(sql`
    select consumer_id as "consumerId", kind, value from consumer_scopes
    where consumer_id = any(${consumerIds}::uuid[]) order by consumer_id, kind, block, value`)
  const scopes = new Map<string, ConsumerScope[]>()
  for (const { consumerId, kind, value } of rows) {
    scopes.set(consumerId, [...(scopes.get(consumerId) ?? []), { kind, value }])
  }
  return scopes
}

export async function replaceScopes(
  tx: Db,
  consumerId: string,
  scopes: readonly ConsumerScope[],
  now: Date,
): Promise<void> {
  await tx.query(sql`delete from consumer_scopes where consumer_id = ${consumerId}`)
  if (scopes.length === 0) return
  const values = bulk(
    scopes.map(({ kind, value }) => [
      ...[consumerId, kind, value],
      ...[kind === 'range' ? value : null, now],
    ]),
  )
  await tx.query(sql`
    insert into consumer_scopes (consumer_id, kind, value, block, added_at) values ${values}
    on conflict (consumer_id, kind, value) do nothing`)
}

/** The number of feedback reports that a consumer with an hourly limit should receive now. */
export type WantedPlaces = { consumerId: string; wanted: number; hourlyMax: number }

/**
 * Reserves places in the hour that begins at `hourAt`; returns the number reserved for each
 * consumer. The limit applies to all processes together. Consumers with the same limit, which are
 * nearly all, share one statement, because a statement for each would need a commit for each. The
 * statement is ordered to prevent deadlocks.
 */
export async function takePlaces(
  db: Db,
  asked: readonly WantedPlaces[],
  hourAt: Date,
): Promise<Map<string, number>> {
  const granted = new Map<string, number>()
  const inOrder = [...asked].sort((one, other) => (one.consumerId < other.consumerId ? -1 : 1))
  for (const [hourlyMax, its] of Map.groupBy(inOrder, (one) => one.hourlyMax)) {
    // A request above the hourly limit cannot get more than the limit.
    const rows = its.map(({ consumerId, wanted }) => [consumerId, Math.min(wanted, hourlyMax)])
    const all = rows.map(([consumerId, places]) => [consumerId, hourAt, places, places])
    const max = sql`${hourlyMax}::integer`
    const answer = await db.query<{ consumerId: string; granted: number }>(
      preparedInsert(
        all,
        (values) => sql`
      insert into consumer_hours (consumer_id, hour_at, told, granted)
      values ${values}
      on conflict (consumer_id) do update
      set hour_at = greatest(consumer_hours.hour_at, excluded.hour_at),
        told = case when consumer_hours.hour_at >= excluded.hour_at
          then greatest(consumer_hours.told, least(consumer_hours.told + excluded.told, ${max}))
          else excluded.told end,
        granted = case when consumer_hours.hour_at >= excluded.hour_at
          then greatest(0, least(excluded.told, ${max} - consumer_hours.told))
          else excluded.granted end
      returning consumer_id as "consumerId", granted`,
      ),
    )
    for (const row of answer.rows) granted.set(row.consumerId, row.granted)
  }
  return granted
}

/** Releases reserved places that were not used. */
export async function giveBackPlaces(
  db: Db,
  consumerId: string,
  places: number,
  hourAt: Date,
): Promise<void> {
  await db.query(sql`update consumer_hours set told = greatest(0, told - ${places})
    where consumer_id = ${consumerId} and hour_at = ${hourAt}`)
}
