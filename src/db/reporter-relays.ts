import sql, { bulk } from 'sql-template-tag'
import type { Db } from './pool.ts'
import { isOneOf, preparedRowsOf } from './prepared.ts'
import { changesAny, numberOf, rowsOf, valuesOf } from './rows.ts'

/**
 * How a relay became known: `set` by the reporter; `learned` from earlier reports; `proposed` by
 * earlier reports, but the reporter must confirm it; `refused` by the reporter.
 */
export type RelayHow = 'set' | 'learned' | 'proposed' | 'refused'

/** A relay of a reporter's mail, or one that the reporter refused. */
export type ReporterRelay = {
  /** A CIDR block. */
  cidr: string
  how: RelayHow
  /** The name in Received fields. */
  name: string | null
  /**
   * The number of reports that show the relay; 0 when the reporter set or refused it. A set one
   * that a test letter showed has 1.
   */
  evidence: number
  since: Date
}

export type FoundRelay = { cidr: string; name: string | null; evidence: number }

const columns = sql`cidr::text, how, name, evidence, since`

/**
 * Returns the relays of one reporter: proposed, set, learned, then refused ones, each by address.
 */
export function listRelays(db: Db, reporterId: string): Promise<ReporterRelay[]> {
  return rowsOf(db)`
    select ${columns} from reporter_relays where reporter_id = ${reporterId}
    order by array_position(array['proposed', 'set', 'learned', 'refused'], how), cidr`
}

/** The block of a relay, or the name of a host that received a test letter (`border`). */
type KnownHost = { reporterId: string; how: RelayHow | 'border'; host: string }

/** Returns what is known of the way to several reporters, unordered. */
export function listRelaysOf(db: Db, reporterIds: readonly string[]): Promise<KnownHost[]> {
  const isTheirs = isOneOf('reporter_id', reporterIds, 'uuid[]')
  return preparedRowsOf(db)<KnownHost>`
    select reporter_id as "reporterId", how, cidr::text as host from reporter_relays
    where ${isTheirs}
    union all
    select distinct reporter_id, 'border', border from mail_probes
    where ${isTheirs} and border is not null
    order by 1, 3`
}

/**
 * Stores a reporter's statements about relays, in place of earlier ones. Returns the blocks that
 * had another statement or none before.
 */
export async function putRelays(
  tx: Db,
  reporterId: string,
  relays: readonly {
    cidr: string
    name: string | null
    how: 'set' | 'refused'
    evidence?: number
  }[],
  now: Date,
): Promise<string[]> {
  if (relays.length === 0) return []
  const values = bulk(
    relays.map(({ cidr, how, name, evidence = 0 }) => [reporterId, cidr, how, name, evidence, now]),
  )
  return valuesOf(tx)`
    insert into reporter_relays (reporter_id, cidr, how, name, evidence, since) values ${values}
    on conflict (reporter_id, cidr) do update set how = excluded.how, evidence = excluded.evidence,
      name = coalesce(excluded.name, reporter_relays.name), since = excluded.since
    where reporter_relays.how <> excluded.how
    returning cidr::text as cidr`
}

/** Counts the other reporters who said that machines in a block are not theirs. */
export function countDeniers(db: Db, reporterId: string, cidr: string): Promise<number> {
  return numberOf(db)`
    select count(distinct reporter_id)::int as deniers from reporter_relays
    where how = 'refused' and cidr && ${cidr}::cidr and reporter_id <> ${reporterId}`
}

/** Deletes a relay, however it became known. False when there is none. */
export function removeRelay(tx: Db, reporterId: string, cidr: string): Promise<boolean> {
  return changesAny(tx)`
    delete from reporter_relays where reporter_id = ${reporterId} and cidr = ${cidr}::cidr`
}

/** Deletes all but the latest `max` relays that became known in one way. */
export async function trimRelays(
  tx: Db,
  reporterId: string,
  how: RelayHow,
  max: number,
): Promise<void> {
  await tx.query(sql`
    delete from reporter_relays where reporter_id = ${reporterId} and how = ${how} and cidr in (
    select cidr from reporter_relays where reporter_id = ${reporterId} and how = ${how}
    order by since desc, cidr offset ${max})`)
}

/**
 * Replaces the relays found in a reporter's reports; those that the reporter set or refused stay.
 * Returns the newly learned blocks.
 */
export async function replaceFoundRelays(
  tx: Db,
  reporterId: string,
  found: { learned: readonly FoundRelay[]; proposed: readonly FoundRelay[] },
  now: Date,
): Promise<string[]> {
  const rows = [
    ...found.learned.map((relay) => ({ ...relay, how: 'learned' })),
    ...found.proposed.map((relay) => ({ ...relay, how: 'proposed' })),
  ]
  await tx.query(sql`delete from reporter_relays
    where reporter_id = ${reporterId} and how in ('learned', 'proposed')
      and cidr <> all(${rows.map(({ cidr }) => cidr)}::cidr[])`)
  if (rows.length === 0) return []
  const values = bulk(
    rows.map(({ cidr, how, name, evidence }) => [reporterId, cidr, how, name, evidence, now]),
  )
  const { rows: written } = await tx.query<{ cidr: string; how: string; since: Date }>(sql`
    insert into reporter_relays (reporter_id, cidr, how, name, evidence, since) values ${values}
    on conflict (reporter_id, cidr) do update set how = excluded.how, name = excluded.name,
      evidence = excluded.evidence,
      since = case when reporter_relays.how = excluded.how then reporter_relays.since
        else excluded.since end
    where reporter_relays.how in ('learned', 'proposed')
    returning cidr::text as cidr, how, since`)
  const isNew = ({ how, since }: { how: string; since: Date }) =>
    how === 'learned' && since.getTime() === now.getTime()
  return written.filter(isNew).map(({ cidr }) => cidr)
}

/**
 * Returns when the reports of the given reporters were last searched for relays; absent when never.
 */
export async function listLastExaminations(
  db: Db,
  reporterIds: readonly string[],
): Promise<Map<string, Date>> {
  const { rows } = await db.query<{ id: string; at: Date }>(sql`
    select reporter_id as id, learned_at as at from relay_lessons
    where reporter_id = any(${reporterIds}::uuid[])`)
  return new Map(rows.map(({ id, at }) => [id, at]))
}

/** Returns the reporter whose reports were searched last; undefined when there is none. */
export async function findLastExaminedReporter(db: Db): Promise<string | undefined> {
  const [id] = await valuesOf(db)`select reporter_id from relay_lessons
    order by learned_at desc, reporter_id desc limit 1`
  return id
}

/** Stores that a reporter's reports were searched for relays. */
export async function markReporterExamined(tx: Db, reporterId: string, now: Date): Promise<void> {
  await tx.query(sql`
    insert into relay_lessons (reporter_id, learned_at) values (${reporterId}, ${now})
    on conflict (reporter_id) do update set learned_at = excluded.learned_at`)
}
