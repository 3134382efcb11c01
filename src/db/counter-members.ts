import type { Db } from './pool.ts'
import { values } from './values.ts'

const ROWS_PER_STATEMENT = 1_000

/** The members of one unique counter on one day; `key` is 8 bytes, big end first. */
export type MemberSetId = { key: Buffer; day: number; prefix: number }

/** A part of such a set, packed. */
export type MemberChunk = MemberSetId & { chunk: number; content: Buffer }

/** Those of the chunks of a set that exist. */
export async function findMemberChunks(
  db: Db,
  { key, day, prefix }: MemberSetId,
  chunks: readonly number[],
): Promise<{ chunk: number; content: Buffer }[]> {
  const { rows } = await db.query<{ chunk: number; content: Buffer }>(
    `select chunk, content from counter_members
     where shingle = $1 and day = $2 and prefix = $3 and chunk = any($4::int[])`,
    [key, day, prefix, chunks],
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
