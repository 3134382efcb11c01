import sql, { bulk, raw } from 'sql-template-tag'
import { shardOf, uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import {
  isInShards,
  isOneOfIds,
  preparedInsert,
  preparedRowsOf,
  preparedValuesOf,
} from './prepared.ts'
import { bigintArray, named, preparedRows, rowsOf, valuesOf } from './rows.ts'

/** Returns the shard of a key of 8 bytes, big-endian: its four highest bits. */
export function shardOfKey(key: Buffer): number {
  return (key[0] ?? 0) >> 4
}

/** Selects the members of one unique counter in a range of days, at most `chunksMax` chunks. */
export type MemberSpan = {
  /** 8 bytes, big-endian. */
  key: Buffer
  prefix: number
  days: readonly [oldest: number, newest: number]
  chunksMax: number
}

/** Returns the packed chunks of all members of a range of days, unordered. */
export function listMemberChunks(
  db: Db,
  { key, prefix, days: [oldest, newest], chunksMax }: MemberSpan,
): Promise<Buffer[]> {
  return valuesOf(db)`select content from counter_members
    where shingle = ${key} and shard = ${shardOfKey(key)}
      and prefix = ${prefix} and day between ${oldest} and ${newest}
      limit ${chunksMax}`
}

/** Packed increments of the keys of one shard. */
export type DeltaRow = { shard: number; id: string; content: Buffer }

/** The increments of one shard that are not rolled up yet. */
export type ShardBacklog = { shard: number; rows: number; bytes: number; oldestId: string }

/** Stands for the reports that wait to be counted, beside the shards of keys, 0 to 15. */
export const REPORTS = 16

/** Appends increments. They are counted exactly once, if the transaction commits. */
export async function insertDeltas(tx: Db, rows: readonly DeltaRow[]): Promise<void> {
  if (rows.length === 0) return
  const values = bulk(rows.map(({ shard, id, content }) => [shard, id, content]))
  await tx.query(sql`insert into counter_deltas (shard, id, content) values ${values}`)
}

/** Where increments and evidence wait: the table, and its column for what they belong to. */
const waitingRows = { deltas: 'counter_deltas shard', evidence: 'reputation_evidence part' }

/**
 * Returns the ids of the oldest waiting rows of shards or parts: at most `rowsMax`, and at least
 * one, but no more than have `bytesMax` bytes of content together.
 */
export async function listOldest(
  db: Db,
  which: keyof typeof waitingRows,
  parts: readonly number[],
  { rowsMax, bytesMax }: { rowsMax: number; bytesMax: number },
): Promise<string[]> {
  const [table = '', column = ''] = waitingRows[which].split(' ')
  const { rows } = await db.query<{ id: string; bytes: number }>(named(`list-oldest-${table}`)`
    select id, octet_length(content) as bytes from ${raw(table)}
    where ${raw(column)} = any(${parts}::int[]) order by id limit ${rowsMax}`)
  const ids: string[] = []
  let room = bytesMax
  for (const { id, bytes } of rows) {
    if (ids.length > 0 && bytes > room) break
    room -= bytes
    ids.push(id)
  }
  return ids
}

/** Deletes rows of shards and returns their contents. */
export async function takeDeltas(
  tx: Db,
  shards: readonly number[],
  ids: readonly string[],
): Promise<Buffer[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<{ content: Buffer }>(named('take-deltas')`
    delete from counter_deltas where shard = any(${shards}::int[]) and id = any(${ids}::uuid[])
    returning content`)
  return rows.map(({ content }) => content)
}

/** Average size in bytes of the increments of a report. */
const REPORT_BYTES = 1_600

/**
 * Returns the shards with increments to roll up, and `REPORTS` if reports wait, the one that has
 * waited longest first. The size of waiting reports is an estimate.
 */
export async function listShardBacklogs(db: Db): Promise<ShardBacklog[]> {
  const [deltas, [reports]] = await Promise.all([
    preparedRowsOf(db)<ShardBacklog>`
      select shard, count(*)::int as rows, sum(octet_length(content)) as bytes,
        min(id::text) as "oldestId"
      from counter_deltas group by shard`,
    preparedRowsOf(db)<{ rows: number; since: Date | null }>`
      select count(*)::int as rows, min(waiting_since) as since from reports_to_count`,
  ])
  if (reports?.since) {
    const { rows, since } = reports
    const bytes = rows * REPORT_BYTES
    deltas.push({ shard: REPORTS, rows, bytes, oldestId: uuidFloor(since) })
  }
  return deltas.sort((a, b) => (a.oldestId < b.oldestId ? -1 : 1))
}

/**
 * The stored state of a shard's gate, the filter in `counting/gate.ts`, at one version of the
 * shard: complete, or only what was added in that version.
 */
export type GateState = { version: number; isWhole: boolean; content: Buffer }

/** Returns the stored states of a shard's gate, by version. */
export function listGateStates(db: Db, shard: number): Promise<GateState[]> {
  return rowsOf(db)`
    select version, is_whole as "isWhole", content from counter_gates
    where shard = ${shard} order by version`
}

/** Inserts the state of a gate; a complete state replaces all earlier ones. */
export async function insertGateState(
  tx: Db,
  shard: number,
  { version, isWhole, content }: GateState,
): Promise<void> {
  if (isWhole) await tx.query(sql`delete from counter_gates where shard = ${shard}`)
  await tx.query(sql`
    insert into counter_gates (shard, version, is_whole, content) values (${shard}, ${version},
      ${isWhole}, ${content})`)
}

/** Identifies the members of one unique counter on one day; `key` has 8 bytes, big-endian. */
export type MemberSetId = { key: Buffer; day: number; prefix: number }

/** A packed chunk of a set of members. */
export type MemberChunk = MemberChunkId & { content: Buffer }

export type MemberChunkId = MemberSetId & { chunk: number }

/**
 * Returns the given chunks that exist: the index of each among the ids, and its content. Uses one
 * statement, because one statement for each set was most of the server's cost of rolling up popular
 * keys.
 */
export async function findMemberChunks(
  db: Db,
  ids: readonly MemberChunkId[],
): Promise<{ place: number; content: Buffer }[]> {
  if (ids.length === 0) return []
  const days = ids.map(({ day }) => day)
  const shards = ids.map(({ key }) => shardOfKey(key))
  return rowsOf(db)`
    select place - 1 as place, content
    from unnest(${bigintArray(Buffer.concat(ids.map(({ key }) => key)))}::bigint[], ${days}::int[],
      ${ids.map(({ prefix }) => prefix)}::smallint[], ${ids.map(({ chunk }) => chunk)}::int[])
      with ordinality as asked (shingle, day, prefix, chunk, place)
    join counter_members using (shingle, day, prefix, chunk)
    where day between ${Math.min(...days)} and ${Math.max(...days)}
      ${isInShards('counter_members.shard', shards)}`
}

/** Inserts or replaces chunks, given in the order of their keys. */
export async function upsertMemberChunks(tx: Db, chunks: readonly MemberChunk[]): Promise<void> {
  const statements = preparedRows(
    { name: 'upsert-member-chunks', rowsMax: 250 },
    chunks.map(({ key, day, prefix, chunk, content }) => {
      return [key, day, prefix, chunk, shardOfKey(key), content]
    }),
    (values) => sql`
      insert into counter_members (shingle, day, prefix, chunk, shard, content) values ${values}
      on conflict (shingle, day, prefix, chunk, shard) do update set content = excluded.content`,
  )
  await Promise.all(statements.map((statement) => tx.query(statement)))
}

/** How a report was counted; `content` is in the packed format of the counters. */
export type CountedReport = { id: string; campaignId: string | null; content: Buffer }

/**
 * Stores how reports were counted, in the transaction that counts them. Returns the previous
 * entries of reports that were already counted.
 */
export async function replaceCountedReports(
  tx: Db,
  reports: readonly CountedReport[],
): Promise<CountedReport[]> {
  const inserted = await insertCountedReports(tx, reports)
  const known = reports.filter(({ id }) => !inserted.has(id))
  if (known.length === 0) return []
  const before = await takeCountedReports(
    tx,
    known.map(({ id }) => id),
  )
  await insertCountedReports(tx, known)
  return before
}

/**
 * Stores how reports were counted, except those with an entry; returns the ids of the stored ones.
 */
async function insertCountedReports(
  tx: Db,
  reports: readonly CountedReport[],
): Promise<Set<string>> {
  const rows = reports.map((one) => [one.id, shardOf(one.id), one.campaignId, one.content])
  const { rows: inserted } = await tx.query<{ id: string }>(
    preparedInsert(
      rows,
      (values) => sql`
        insert into counted_reports (id, shard, campaign_id, content) values ${values}
        on conflict (id, shard) do nothing returning id`,
    ),
  )
  return new Set(inserted.map(({ id }) => id))
}

/** Returns how reports were counted; reports that were not counted are absent. */
export function listCountedReports(db: Db, ids: readonly string[]): Promise<CountedReport[]> {
  return preparedRowsOf(db)`
    select id, campaign_id as "campaignId", content from counted_reports
    where ${isOneOfIds('id', ids)}`
}

export function listAmongCounts(db: Db, ids: readonly string[]): Promise<string[]> {
  return preparedValuesOf(db)`
    select id from counted_reports where ${isOneOfIds('id', ids)} and not exists (
      select from reports_to_count as waiting
      where waiting.id = counted_reports.id and waiting.shard = counted_reports.shard)`
}

/**
 * Deletes and returns how reports were counted, in the transaction that subtracts them. Reports
 * without an entry are absent.
 */
export function takeCountedReports(tx: Db, ids: readonly string[]): Promise<CountedReport[]> {
  return preparedRowsOf(tx)`
    delete from counted_reports where ${isOneOfIds('id', ids)}
    returning id, campaign_id as "campaignId", content`
}

/**
 * A report that waits to be counted as its row in `counted_reports` says; `slot` is the ten-minute
 * slot in which it counts.
 */
export type ReportToCount = { id: string; slot: number }

/** Queues reports for the next roll-up, in the transaction that stores how they count. */
export async function insertReportsToCount(
  tx: Db,
  reports: readonly ReportToCount[],
  now: Date,
): Promise<void> {
  if (reports.length === 0) return
  const since = now.toISOString()
  const rows = reports.map(({ id, slot }) => [id, slot, shardOf(id), since])
  await tx.query(
    preparedInsert(
      rows,
      (values) => sql`
        insert into reports_to_count (id, slot, shard, waiting_since) values ${values}`,
    ),
  )
}

/**
 * Deletes and returns those of some reports that still wait to be counted: no counter contains
 * them, and none will. Waits for a roll-up that is counting them.
 */
export function takeReportsToCount(tx: Db, ids: readonly string[]): Promise<ReportToCount[]> {
  return preparedRowsOf(tx)`
    delete from reports_to_count where ${isOneOfIds('id', ids)} returning id, slot`
}

/** Deletes the reports that have waited longest, at most `limit`, and returns how they count. */
export async function takeOldestReports(
  tx: Db,
  limit: number,
): Promise<(ReportToCount & { content: Buffer })[]> {
  const oldest = await preparedRowsOf(tx)<{ id: string }>`
    select id from reports_to_count order by id limit ${limit}`
  if (oldest.length === 0) return []
  const ids = oldest.map(({ id }) => id)
  // Sent together, and run in this order. A report that was retracted meanwhile is not returned by
  // the first statement, because its retraction deletes both rows.
  const [taken, counted] = await Promise.all([
    takeReportsToCount(tx, ids),
    preparedRowsOf(tx)<{ id: string; content: Buffer }>`
      select id, content from counted_reports where ${isOneOfIds('id', ids)}`,
  ])
  const contentOf = new Map(counted.map(({ id, content }) => [id, content]))
  return taken.flatMap((one) => {
    const content = contentOf.get(one.id)
    return content ? [{ ...one, content }] : []
  })
}

/** Returns retracted reports that are still counted, with ids below `before`, oldest first. */
export function listUnredeemed(db: Db, before: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select id from reports where state = 'retracted' and id < ${before}
      and exists (select from counted_reports where counted_reports.id = reports.id
        and counted_reports.shard = reports.shard)
    order by id limit ${limit}`
}
