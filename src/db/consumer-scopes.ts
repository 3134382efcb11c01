import type { ScopeMatch } from '../verdict/who-else.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** What a consumer is told of, beside what tables and registries say. */
export type ConsumerScope = Pick<ScopeMatch, 'kind' | 'value'>

/** A scope that holds for one of several addresses, systems or domains. */
export type FoundScope = ScopeMatch & {
  /** Of a range: the address it holds for, in the spelling it was asked for. */
  ip: string | null
}

/**
 * All scopes that hold for any of these, in one question. Those of consumers who paused or stopped
 * are among them: their word is heeded too.
 *
 * @throws SQLSTATE 22P02 when an address is none
 */
export async function findScopes(
  db: Db,
  of: { ips: readonly string[]; asns: readonly number[]; domains: readonly string[] },
): Promise<FoundScope[]> {
  const { rows } = await db.query<ScopeMatch & { at: number | null }>(
    `select kind, value, address, asked.at
     from unnest($1::inet[]) with ordinality as asked (ip, at)
     join consumer_scopes on block >>= asked.ip
     join consumers on id = consumer_id where state <> 'found'
     union all
     select kind, value, address, null
     from consumer_scopes join consumers on id = consumer_id
     where state <> 'found' and (kind = 'as' and value = any($2::text[])
       or kind = 'domain' and value = any($3::text[]))`,
    [of.ips, of.asns.map(String), of.domains],
  )
  return rows.map(({ at, ...row }) => ({ ...row, ip: at === null ? null : (of.ips[at - 1] ?? '') }))
}

/** The scopes of consumers, by consumer. */
export async function listScopes(
  db: Db,
  consumerIds: readonly string[],
): Promise<Map<string, ConsumerScope[]>> {
  const { rows } = await db.query<ConsumerScope & { consumerId: string }>(
    `select consumer_id as "consumerId", kind, value from consumer_scopes
     where consumer_id = any($1::uuid[]) order by consumer_id, kind, block, value`,
    [consumerIds],
  )
  const scopes = new Map<string, ConsumerScope[]>()
  for (const { consumerId, kind, value } of rows) {
    scopes.set(consumerId, [...(scopes.get(consumerId) ?? []), { kind, value }])
  }
  return scopes
}

/** Replaces the scopes of a consumer. */
export async function replaceScopes(
  tx: Db,
  consumerId: string,
  scopes: readonly ConsumerScope[],
  now: Date,
): Promise<void> {
  await tx.query(`delete from consumer_scopes where consumer_id = $1`, [consumerId])
  if (scopes.length === 0) return
  const { text, params } = values(
    scopes.map(({ kind, value }) => [
      ...[consumerId, kind, value],
      ...[kind === 'range' ? value : null, now],
    ]),
  )
  await tx.query(
    `insert into consumer_scopes (consumer_id, kind, value, block, added_at) values ${text}
     on conflict (consumer_id, kind, value) do nothing`,
    params,
  )
}
