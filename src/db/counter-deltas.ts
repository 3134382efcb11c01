import type { Db } from './pool.ts'
import { values } from './values.ts'

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
