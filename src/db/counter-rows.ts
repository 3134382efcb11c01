import sql, { bulk, raw } from 'sql-template-tag'
import { shardOf } from '../world.ts'
import type { Db } from './pool.ts'
import { isOneOfIds, preparedInsert, preparedRowsOf } from './prepared.ts'
import { bigintArray, named, preparedRows, rowsOf } from './rows.ts'

/** Selects the members of one unique counter in a range of days, at most `chunksMax` chunks. */
export type MemberSpan = {
  /** 8 bytes, big-endian. */
  key: Buffer
  prefix: number
  days: readonly [oldest: number, newest: number]
  chunksMax: number
}

/** Returns the packed chunks of all members of a range of days, unordered. */
export async function listMemberChunks(
  db: Db,
  { key, prefix, days: [oldest, newest], chunksMax }: MemberSpan,
): Promise<Buffer[]> {
  const { rows } = await db.query<{ content: Buffer }>(sql`select content from counter_members
    where shingle = ${key} and prefix = ${prefix} and day between ${oldest} and ${newest}
      limit ${chunksMax}`)
  return rows.map(({ content }) => content)
}

/** Packed increments of one shard. */
export type DeltaRow = { shard: number; id: string; content: Buffer }

/** The increments of one shard that are not rolled up yet. */
export type ShardBacklog = { shard: number; rows: number; bytes: number; oldestId: string }

/** Appends increments. They are counted exactly once, if the transaction commits. */
export async function insertDeltas(tx: Db, rows: readonly DeltaRow[]): Promise<void> {
  if (rows.length === 0) return
  const values = bulk(rows.map(({ shard, id, content }) => [shard, id, content]))
  await tx.query(sql`insert into counter_deltas (shard, id, content) values ${values}`)
}

/**
 * Returns the ids of the oldest waiting rows of shards: at most `rowsMax`, and at least one, but no
 * more than have `bytesMax` bytes of content together.
 */
export async function listOldest(
  db: Db,
  table: 'counter_deltas' | 'reputation_evidence',
  shards: readonly number[],
  { rowsMax, bytesMax }: { rowsMax: number; bytesMax: number },
): Promise<string[]> {
  const { rows } = await db.query<{ id: string; bytes: number }>(named(`list-oldest-${table}`)`
    select id, octet_length(content) as bytes from ${raw(table)}
    where shard = any(${shards}::int[]) order by id limit ${rowsMax}`)
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

/** Returns the shards with increments to roll up, the one that has waited longest first. */
export function listShardBacklogs(db: Db): Promise<ShardBacklog[]> {
  return preparedRowsOf(db)`
    select shard, count(*)::int as rows, sum(octet_length(content)) as bytes,
      min(id::text) as "oldestId"
    from counter_deltas group by shard order by min(id::text)`
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
  return rowsOf(db)`
    select place - 1 as place, content
    from unnest(${bigintArray(Buffer.concat(ids.map(({ key }) => key)))}::bigint[], ${days}::int[],
      ${ids.map(({ prefix }) => prefix)}::smallint[], ${ids.map(({ chunk }) => chunk)}::int[])
      with ordinality as asked (shingle, day, prefix, chunk, place)
    join counter_members using (shingle, day, prefix, chunk)
    where day between ${Math.min(...days)} and ${Math.max(...days)}`
}

/** Inserts or replaces chunks, given in the order of their keys. */
export async function upsertMemberChunks(tx: Db, chunks: readonly MemberChunk[]): Promise<void> {
  const statements = preparedRows(
    { name: 'upsert-member-chunks', rowsMax: 250 },
    chunks.map(({ key, day, prefix, chunk, content }) => [key, day, prefix, chunk, content]),
    (values) => sql`
      insert into counter_members (shingle, day, prefix, chunk, content) values ${values}
      on conflict (shingle, day, prefix, chunk) do update set content = excluded.content`,
  )
  await Promise.all(statements.map((statement) => tx.query(statement)))
}

/** What a report was counted as; `content` is in the packed format of the counters. */
export type CountedReport = { id: string; campaignId: string | null; content: Buffer }

/**
 * Stores what reports were counted as, in the transaction that counts them. Returns what it
 * replaced: what those reports were counted as before that had been counted.
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

/** Stores what reports were counted as, unless they are counted; returns the ids of the others. */
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

/**
 * Deletes and returns what reports were counted as, in the transaction that subtracts them. Reports
 * that are not counted, or no longer counted, are absent.
 */
export function takeCountedReports(tx: Db, ids: readonly string[]): Promise<CountedReport[]> {
  return preparedRowsOf(tx)`
    delete from counted_reports where ${isOneOfIds('id', ids)}
    returning id, campaign_id as "campaignId", content`
}

/** Returns retracted reports that are still counted, with ids below `before`, oldest first. */
export async function listUnredeemed(db: Db, before: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(sql`
    select id from reports where state = 'retracted' and id < ${before}
      and exists (select from counted_reports where counted_reports.id = reports.id
        and counted_reports.shard = reports.shard)
    order by id limit ${limit}`)
  return rows.map(({ id }) => id)
}
