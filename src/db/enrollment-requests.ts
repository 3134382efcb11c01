import sql from 'sql-template-tag'
import type { Language } from '../texts/messages.ts'
import type { ConsumerScope, FeedbackSettings } from '../verdict/consumers.ts'
import { uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import { rowOf, rowsOf } from './rows.ts'

/** The state of an enrollment request: `proven` waits until an operator decides on its scopes. */
export type EnrollmentState = 'sent' | 'proven' | 'accepted' | 'refused'

/** The settings and scopes that a consumer requests when it enrolls. */
export type EnrollmentTerms = FeedbackSettings & {
  scopes: ConsumerScope[]
  language: Language
}

/** An enrollment request. Its id contains its time. */
export type EnrollmentRequest = {
  id: string
  address: string
  state: EnrollmentState
  /** From `proven` on, contains only the scopes that an operator must decide on. */
  wish: EnrollmentTerms
  consumerId: string | null
  decidedAt: Date | null
}

const columns = sql`id, address, state, wish, consumer_id as "consumerId",
  decided_at as "decidedAt"`

/** Stores an enrollment request. Of the token and the client, it stores only hashes. */
export async function insertEnrollment(
  tx: Db,
  request: Pick<EnrollmentRequest, 'id' | 'address' | 'wish'> & {
    tokenHash: Buffer
    askerHash: Buffer
  },
): Promise<void> {
  const { id, address, wish, tokenHash, askerHash } = request
  await tx.query(sql`
    insert into enrollment_requests (id, token_hash, address, state, wish, asker_hash)
    values (${id}, ${tokenHash}, ${address}, 'sent', ${JSON.stringify(wish)}, ${askerHash})`)
}

export function findEnrollment(db: Db, tokenHash: Buffer): Promise<EnrollmentRequest | undefined> {
  return rowOf(db)`
      select ${columns} from enrollment_requests where token_hash = ${tokenHash}`
}

/** Moves an enrollment request to another state; undefined when it is not in the state `from`. */
export function moveEnrollment(
  tx: Db,
  id: string,
  from: EnrollmentState,
  to: {
    state: EnrollmentState
    wish: EnrollmentTerms
    consumerId: string | null
    at: Date | null
    reporterId: string | null
  },
): Promise<EnrollmentRequest | undefined> {
  return rowOf(tx)`update enrollment_requests
      set state = ${to.state}, wish = ${JSON.stringify(to.wish)}, consumer_id = ${to.consumerId},
        decided_at = ${to.at}, decided_by = ${to.reporterId}
      where id = ${id} and state = ${from} returning ${columns}`
}

/** Blocks other enrollment requests for an address until the transaction ends. */
export async function holdEnrollments(tx: Db, address: string): Promise<void> {
  await tx.query(sql`
    select pg_advisory_xact_lock(hashtextextended(${`enroll ${address}`}, 0))`)
}

/**
 * Whether at least `limit` enrollment requests arrived since an instant, from all clients together.
 */
export async function hasEnrollments(
  db: Db,
  { since, limit }: { since: Date; limit: number },
): Promise<boolean> {
  const { rows } = await db.query(sql`
    select id from enrollment_requests where id >= ${uuidFloor(since)}
      order by id offset ${limit - 1} limit 1`)
  return rows.length > 0
}

/**
 * Counts the enrollment requests for an address and from a client since an instant, each up to
 * `limit`.
 */
export async function countEnrollments(
  db: Db,
  of: { address: string; addressSince: Date; askerHash: Buffer; since: Date; limit: number },
): Promise<{ ofAddress: number; ofAsker: number }> {
  const floor = uuidFloor(of.since)
  const [byAddress, byAsker] = await Promise.all([
    db.query(sql`
      select id from enrollment_requests where address = ${of.address}
        and id >= ${uuidFloor(of.addressSince)} limit ${of.limit}`),
    db.query(sql`
      select id from enrollment_requests where asker_hash = ${of.askerHash} and id >= ${floor}
        limit ${of.limit}`),
  ])
  return { ofAddress: byAddress.rows.length, ofAsker: byAsker.rows.length }
}

/**
 * Returns a page of enrollment requests in a state, newest first; `before` is the last id of the
 * previous page.
 */
export function listEnrollments(
  db: Db,
  page: { state: EnrollmentState; before: string | undefined; limit: number },
): Promise<EnrollmentRequest[]> {
  return rowsOf(db)`
    select ${columns} from enrollment_requests
    where state = ${page.state} and (${page.before}::uuid is null or id < ${page.before}::uuid)
      order by id desc limit ${page.limit}`
}

export function findEnrollmentById(db: Db, id: string): Promise<EnrollmentRequest | undefined> {
  return rowOf(db)`
      select ${columns} from enrollment_requests where id = ${id}`
}
