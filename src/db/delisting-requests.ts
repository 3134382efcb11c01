import { uuidFloor } from '../world.ts'
import type { ListName } from '../verdict/lists/list.ts'
import type { Db } from './pool.ts'
import { first } from './values.ts'

/** Where a wish to be taken off a list stands. */
export type DelistingState = 'open' | 'automatic' | 'accepted' | 'refused'

/** A wish to be taken off a list. The time is inside the id. */
export type DelistingRequest = {
  id: string
  list: ListName
  name: string
  state: DelistingState
  /** As the asker gave them; for administrators. */
  asker: string
  contact: string
  done: string
  /** For the asker; null until somebody answered. */
  answer: string | null
  decidedAt: Date | null
}

const columns = `id, list, name, state, asker, contact, done, answer, decided_at as "decidedAt"`

/** Keeps a wish. */
export async function insertDelisting(
  tx: Db,
  request: DelistingRequest & { tokenHash: Buffer; askerHash: Buffer },
): Promise<void> {
  const { id, list, name, state, asker, contact, done, answer, decidedAt } = request
  await tx.query(
    `insert into delisting_requests (id, token_hash, list, name, state, asker, contact, done,
       asker_hash, answer, decided_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      ...[id, request.tokenHash, list, name, state, asker, contact, done],
      ...[request.askerHash, answer, decidedAt],
    ],
  )
}

/** The wish that was kept under the hash of its token. */
export async function findDelisting(
  db: Db,
  tokenHash: Buffer,
): Promise<DelistingRequest | undefined> {
  return first(
    await db.query<DelistingRequest>(
      `select ${columns} from delisting_requests where token_hash = $1`,
      [tokenHash],
    ),
  )
}

/**
 * Writes down what became of a wish that was open, and gives it; undefined when there is none, or
 * when it was decided already.
 */
export async function decideDelisting(
  tx: Db,
  id: string,
  decision: { state: DelistingState; answer: string; at: Date; reporterId: string },
): Promise<DelistingRequest | undefined> {
  const { state, answer, at, reporterId } = decision
  return first(
    await tx.query<DelistingRequest>(
      `update delisting_requests set state = $2, answer = $3, decided_at = $4, decided_by = $5
       where id = $1 and state = 'open' returning ${columns}`,
      [id, state, answer, at, reporterId],
    ),
  )
}

/** How many wishes came since an instant: for a name, and from a machine; counted up to `limit`. */
export async function countDelistings(
  db: Db,
  of: { name: string; askerHash: Buffer; since: Date; limit: number },
): Promise<{ ofName: number; ofAsker: number }> {
  const floor = uuidFloor(of.since)
  const [byName, byAsker] = await Promise.all([
    db.query(`select id from delisting_requests where name = $1 and id >= $2 limit $3`, [
      of.name,
      floor,
      of.limit,
    ]),
    db.query(`select id from delisting_requests where asker_hash = $1 and id >= $2 limit $3`, [
      of.askerHash,
      floor,
      of.limit,
    ]),
  ])
  return { ofName: byName.rows.length, ofAsker: byAsker.rows.length }
}

/** A page of wishes, the newest first; `before` is the last id of the page before. */
export async function listDelistings(
  db: Db,
  page: { state: DelistingState; before: string | undefined; limit: number },
): Promise<DelistingRequest[]> {
  const { rows } = await db.query<DelistingRequest>(
    `select ${columns} from delisting_requests
     where state = $1 and ($2::uuid is null or id < $2)
     order by id desc limit $3`,
    [page.state, page.before ?? null, page.limit],
  )
  return rows
}

/** Forgets wishes from before an instant. */
export async function removeDelistings(db: Db, before: Date): Promise<void> {
  await db.query(`delete from delisting_requests where id < $1`, [uuidFloor(before)])
}
