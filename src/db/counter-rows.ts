import type { Db } from './pool.ts'
import { bigintArray, values } from './rows.ts'

/** Which members: of one unique counter, from one day to another, at most so many chunks. */
export type MemberSpan = {
  /** 8 bytes, big end first. */
  key: Buffer
  prefix: number
  days: readonly [oldest: number, newest: number]
  chunksMax: number
}

/** The packed chunks of all members of some days, in no order. */
export async function listMemberChunks(
  db: Db,
  { key, prefix, days: [oldest, newest], chunksMax }: MemberSpan,
): Promise<Buffer[]> {
  const { rows } = await db.query<{ content: Buffer }>(
    `select content from counter_members
     where shingle = $1 and prefix = $2 and day between $3 and $4 limit $5`,
    [key, prefix, oldest, newest, chunksMax],
  )
  return rows.map(({ content }) => content)
}

/** Packed increments of one shard. */
export type DeltaRow = { shard: number; id: string; content: Buffer }

/** What waits to be rolled up in one shard. */
export type ShardBacklog = { shard: number; rows: number; bytes: number; oldestId: string }

/** Appends increments: counted when the transaction commits, and then exactly once. */
export async function insertDeltas(tx: Db, rows: readonly DeltaRow[]): Promise<void> {
  if (rows.length === 0) return
  const { text, params } = values(rows.map(({ shard, id, content }) => [shard, id, content]))
  await tx.query(`insert into counter_deltas (shard, id, content) values ${text}`, params)
}

/** The oldest rows of a shard with their sizes, without reading them. */
export async function listDeltas(
  db: Db,
  shard: number,
  rowsMax: number,
): Promise<{ id: string; bytes: number }[]> {
  const { rows } = await db.query<{ id: string; bytes: number }>(
    `select id, octet_length(content) as bytes from counter_deltas
     where shard = $1 order by id limit $2`,
    [shard, rowsMax],
  )
  return rows
}

/** Takes rows of a shard away, and gives what was in them. */
export async function takeDeltas(tx: Db, shard: number, ids: readonly string[]): Promise<Buffer[]> {
  const { rows } = await tx.query<{ content: Buffer }>(
    `delete from counter_deltas where shard = $1 and id = any($2::uuid[]) returning content`,
    [shard, ids],
  )
  return rows.map(({ content }) => content)
}

/** The shards that have something to roll up, the one that waits longest first. */
export async function listShardBacklogs(db: Db): Promise<ShardBacklog[]> {
  const { rows } = await db.query<ShardBacklog>(
    `select shard, count(*)::int as rows, sum(octet_length(content)) as bytes,
       min(id::text) as "oldestId"
     from counter_deltas group by shard order by min(id::text)`,
  )
  return rows
}

/** What a gate wrote at one version of its shard: all it knows, or what came to it then. */
export type GateState = { version: number; isWhole: boolean; content: Buffer }

/** What is written of a shard's gate, in the order in which it was. */
export async function listGateStates(db: Db, shard: number): Promise<GateState[]> {
  const { rows } = await db.query<GateState>(
    `select version, is_whole as "isWhole", content from counter_gates
     where shard = $1 order by version`,
    [shard],
  )
  return rows
}

/** Writes what a gate has to say; the whole of it takes the place of all before. */
export async function insertGateState(
  tx: Db,
  shard: number,
  { version, isWhole, content }: GateState,
): Promise<void> {
  if (isWhole) await tx.query('delete from counter_gates where shard = $1', [shard])
  await tx.query(
    'insert into counter_gates (shard, version, is_whole, content) values ($1, $2, $3, $4)',
    [shard, version, isWhole, content],
  )
}

const ROWS_PER_STATEMENT = 1_000

/** The members of one unique counter on one day; `key` is 8 bytes, big end first. */
export type MemberSetId = { key: Buffer; day: number; prefix: number }

/** A part of such a set, packed. */
export type MemberChunk = MemberChunkId & { content: Buffer }

/** Names a part of a set. */
export type MemberChunkId = MemberSetId & { chunk: number }

/**
 * Those of some chunks that exist: the place of each among the ids, and its content. One statement
 * for all of them: one a set was most of what a roll-up of popular keys cost the server.
 */
export async function findMemberChunks(
  db: Db,
  ids: readonly MemberChunkId[],
): Promise<{ place: number; content: Buffer }[]> {
  if (ids.length === 0) return []
  const days = ids.map(({ day }) => day)
  const { rows } = await db.query<{ place: number; content: Buffer }>(
    `select place - 1 as place, content
     from unnest($1::bigint[], $2::int[], $3::smallint[], $4::int[]) with ordinality
       as asked (shingle, day, prefix, chunk, place)
     join counter_members using (shingle, day, prefix, chunk)
     where day between $5 and $6`,
    [
      bigintArray(Buffer.concat(ids.map(({ key }) => key))),
      days,
      ids.map(({ prefix }) => prefix),
      ids.map(({ chunk }) => chunk),
      Math.min(...days),
      Math.max(...days),
    ],
  )
  return rows
}

/** Writes chunks, in the order of their keys. */
export async function upsertMemberChunks(tx: Db, chunks: readonly MemberChunk[]): Promise<void> {
  for (let at = 0; at < chunks.length; at += ROWS_PER_STATEMENT) {
    const { text, params } = values(
      chunks
        .slice(at, at + ROWS_PER_STATEMENT)
        .map(({ key, day, prefix, chunk, content }) => [key, day, prefix, chunk, content]),
    )
    await tx.query(
      `insert into counter_members (shingle, day, prefix, chunk, content) values ${text}
       on conflict (shingle, day, prefix, chunk) do update set content = excluded.content`,
      params,
    )
  }
}

/** What a report was counted as; `content` is packed by the counters. */
export type CountedReport = { id: string; campaignId: string | null; content: Buffer }

/** Keeps what reports were counted as, in the transaction that counts them. */
export async function insertCountedReports(
  tx: Db,
  reports: readonly CountedReport[],
): Promise<void> {
  if (reports.length === 0) return
  const { text, params } = values(reports.map((one) => [one.id, one.campaignId, one.content]))
  await tx.query(`insert into counted_reports (id, campaign_id, content) values ${text}`, params)
}

/**
 * Takes away what reports were counted as and gives it, in the transaction that counts the
 * opposite. Those that are not counted, or not any more, are absent.
 */
export async function takeCountedReports(tx: Db, ids: readonly string[]): Promise<CountedReport[]> {
  const { rows } = await tx.query<CountedReport>(
    `delete from counted_reports where id = any($1::uuid[])
     returning id, campaign_id as "campaignId", content`,
    [ids],
  )
  return rows
}

/** Reports older than the id `before` that are retracted and still counted, oldest first. */
export async function listUnredeemed(db: Db, before: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from reports where state = 'retracted' and id < $1
       and exists (select from counted_reports where counted_reports.id = reports.id)
     order by id limit $2`,
    [before, limit],
  )
  return rows.map(({ id }) => id)
}
