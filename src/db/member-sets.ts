import type { Db } from './pool.ts'

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
