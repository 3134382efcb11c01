import type { Db } from './pool.ts'
import { first } from './values.ts'

/** What becomes of the reports: they stay without the person, or go too. */
export type ErasureWay = 'keep' | 'remove'

/** An account that is being erased, or was. */
export type Erasure = {
  id: string
  /** Null: done. */
  reporterId: string | null
  /** Stands in reports that stay, in place of the person. */
  anonymousId: string
  how: ErasureWay
  /** `waiting` for reports that have to be taken back first. */
  state: 'under-way' | 'waiting' | 'done'
  /** Reports done so far. */
  done: number
  /** The last report of the walk under way; null: it begins. */
  afterId: string | null
  askedAt: Date
  endedAt: Date | null
}

const columns = `id, reporter_id as "reporterId", anonymous_id as "anonymousId", how, state, done,
  after_id as "afterId", asked_at as "askedAt", ended_at as "endedAt"`

/** Writes down that an account is to be erased. */
export async function insertErasure(
  tx: Db,
  erasure: Pick<Erasure, 'id' | 'anonymousId' | 'how' | 'askedAt'> & {
    reporterId: string
    tokenHash: Buffer
  },
): Promise<void> {
  await tx.query(
    `insert into erasures (id, token_hash, reporter_id, anonymous_id, how, state, asked_at)
     values ($1, $2, $3, $4, $5, 'under-way', $6)`,
    [
      erasure.id,
      erasure.tokenHash,
      erasure.reporterId,
      erasure.anonymousId,
      erasure.how,
      erasure.askedAt,
    ],
  )
}

/** One erasure. */
export async function findErasure(db: Db, id: string): Promise<Erasure | undefined> {
  return first(await db.query<Erasure>(`select ${columns} from erasures where id = $1`, [id]))
}

/** The erasure whose page has a secret of this hash. */
export async function findErasureByToken(db: Db, tokenHash: Buffer): Promise<Erasure | undefined> {
  const answer = await db.query<Erasure>(`select ${columns} from erasures where token_hash = $1`, [
    tokenHash,
  ])
  return first(answer)
}

/** Writes down how far it has come. */
export async function markErasure(
  tx: Db,
  id: string,
  progress: { state: 'under-way' | 'waiting'; done: number; afterId: string | null },
): Promise<void> {
  await tx.query(
    `update erasures set state = $2, done = done + $3, after_id = $4
     where id = $1 and state <> 'done'`,
    [id, progress.state, progress.done, progress.afterId],
  )
}

/** Ends it, and forgets whose it was. */
export async function endErasure(tx: Db, id: string, at: Date): Promise<void> {
  await tx.query(
    `update erasures set state = 'done', reporter_id = null, after_id = null, ended_at = $2
     where id = $1`,
    [id, at],
  )
}

/** Ids of those that are not done. */
export async function listOpenErasures(db: Db): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from erasures where ended_at is null order by id`,
  )
  return rows.map(({ id }) => id)
}

/** Forgets erasures that ended before an instant: their pages end too. */
export async function removeErasures(db: Db, before: Date): Promise<void> {
  await db.query(`delete from erasures where ended_at < $1`, [before])
}
