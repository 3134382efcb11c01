import { bigintArray } from './binary-array.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

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
