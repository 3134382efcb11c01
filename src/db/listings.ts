import type { Listing, ListName } from '../verdict/lists/list.ts'
import { uuidFloor } from '../world.ts'
import type { Db } from './pool.ts'
import { first, values } from './rows.ts'

const columns = `list, name, category, listed_since as since, listed_until as until, times,
  reporters_at_least as "reportersAtLeast", last_seen as "lastSeen", pardoned_at as "delistedAt",
  pardoned_reporters as "delistedReporters"`

/** Differs from all other advisory locks of the program. */
const LOCK = 0x6c697374

/**
 * Locks the writing of lists until the transaction ends; false when another process holds the lock.
 */
export async function claimLists(tx: Db): Promise<boolean> {
  const answer = await tx.query<{ free: boolean }>(
    `select pg_try_advisory_xact_lock($1, 0) as free`,
    [LOCK],
  )
  return first(answer)?.free ?? false
}

/** Returns the entries with these names, current and past, unordered. */
export async function findListings(
  db: Db,
  list: ListName,
  names: readonly string[],
): Promise<Listing[]> {
  if (names.length === 0) return []
  const { rows } = await db.query<Listing>(
    `select ${columns} from listings where list = $1 and name = any($2::text[])`,
    [list, names],
  )
  return rows
}

/**
 * Returns a page of the names listed at an instant; `after` is the last name of the previous page.
 */
export async function pageListings(
  db: Db,
  list: ListName,
  page: { after: string; limit: number; now: Date },
): Promise<Listing[]> {
  const { rows } = await db.query<Listing>(
    `select ${columns} from listings
     where list = $1 and name > $2 and listed_until > $3
     order by name limit $4`,
    [list, page.after, page.now, page.limit],
  )
  return rows
}

/** Returns those of the names that are listed at an instant, ordered by list. */
export async function findLiveListings(
  db: Db,
  asks: readonly { list: ListName; name: string }[],
  now: Date,
): Promise<Listing[]> {
  const { rows } = await db.query<Listing>(
    `select ${columns} from listings
     where (list, name) in (select list, name from unnest($1::text[], $2::text[]) a (list, name))
       and listed_until > $3
     order by list desc`,
    [asks.map(({ list }) => list), asks.map(({ name }) => name), now],
  )
  return rows
}

/** Inserts or replaces entries, except those that were delisted after the caller read them. */
export async function keepListings(db: Db, listings: readonly Listing[]): Promise<void> {
  if (listings.length === 0) return
  const sorted = [...listings].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const { text, params } = values(
    sorted.map((one) => [
      ...[one.list, one.name, one.category, one.since, one.until, one.times],
      ...[one.reportersAtLeast, one.lastSeen, one.delistedAt, one.delistedReporters],
    ]),
  )
  await db.query(
    `insert into listings (list, name, category, listed_since, listed_until, times,
       reporters_at_least, last_seen, pardoned_at, pardoned_reporters) values ${text}
     on conflict (list, name) do update set category = excluded.category,
       listed_since = excluded.listed_since, listed_until = excluded.listed_until,
       times = excluded.times, reporters_at_least = excluded.reporters_at_least,
       last_seen = excluded.last_seen, pardoned_at = excluded.pardoned_at,
       pardoned_reporters = excluded.pardoned_reporters
     where listings.pardoned_at is not distinct from excluded.pardoned_at`,
    params,
  )
}

/** Ends the entries of these names that are listed at an instant. */
export async function endListings(
  db: Db,
  list: ListName,
  names: readonly string[],
  at: Date,
): Promise<void> {
  if (names.length === 0) return
  await db.query(
    `update listings set listed_until = $3
     where list = $1 and name = any($2::text[]) and listed_until > $3`,
    [list, names, at],
  )
}

/**
 * Takes a name off its list on request, and stores the number of reporters that reported it. False
 * when the name is no longer listed.
 */
export async function delistName(
  tx: Db,
  delisting: { list: ListName; name: string; at: Date; reporters: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update listings set listed_until = $3, pardoned_at = $3, pardoned_reporters = $4
     where list = $1 and name = $2 and listed_until > $3`,
    [delisting.list, delisting.name, delisting.at, Math.ceil(delisting.reporters)],
  )
  return rowCount === 1
}

/** Deletes entries that ended before an instant. */
export async function removeListings(db: Db, before: Date): Promise<void> {
  await db.query(`delete from listings where listed_until < $1`, [before])
}

function keyOf({ list, name }: Listing): string {
  return `${list} ${name}`
}

/** The state of a delisting request. */
export type DelistingState = 'open' | 'automatic' | 'accepted' | 'refused'

/** A request to take a name off a list. Its id contains its time. */
export type DelistingRequest = {
  id: string
  list: ListName
  name: string
  state: DelistingState
  /** As entered by the requester; for administrators. */
  asker: string
  contact: string
  done: string
  /** For the requester; null until the request is answered. */
  answer: string | null
  decidedAt: Date | null
}

const REQUEST_COLUMNS = `id, list, name, state, asker, contact, done, answer,
  decided_at as "decidedAt"`

/** Stores a delisting request. */
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

/** Returns the delisting request with this token hash. */
export async function findDelisting(
  db: Db,
  tokenHash: Buffer,
): Promise<DelistingRequest | undefined> {
  return first(
    await db.query<DelistingRequest>(
      `select ${REQUEST_COLUMNS} from delisting_requests where token_hash = $1`,
      [tokenHash],
    ),
  )
}

/**
 * Stores the decision on an open delisting request and returns the request; undefined when it does
 * not exist or was decided before.
 */
export async function decideDelisting(
  tx: Db,
  id: string,
  decision: { state: DelistingState; answer: string; at: Date; reporterId: string | null },
): Promise<DelistingRequest | undefined> {
  const { state, answer, at, reporterId } = decision
  return first(
    await tx.query<DelistingRequest>(
      `update delisting_requests set state = $2, answer = $3, decided_at = $4, decided_by = $5
       where id = $1 and state = 'open' returning ${REQUEST_COLUMNS}`,
      [id, state, answer, at, reporterId],
    ),
  )
}

/**
 * Counts the delisting requests for a name and from a client since an instant, each up to `limit`.
 */
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

/**
 * Returns a page of delisting requests, newest first; `before` is the last id of the previous page.
 */
export async function listDelistings(
  db: Db,
  page: { state: DelistingState; before: string | undefined; limit: number },
): Promise<DelistingRequest[]> {
  const { rows } = await db.query<DelistingRequest>(
    `select ${REQUEST_COLUMNS} from delisting_requests
     where state = $1 and ($2::uuid is null or id < $2)
     order by id desc limit $3`,
    [page.state, page.before ?? null, page.limit],
  )
  return rows
}

/** Deletes delisting requests from before an instant. */
export async function removeDelistings(db: Db, before: Date): Promise<void> {
  await db.query(`delete from delisting_requests where id < $1`, [uuidFloor(before)])
}

/** A name that is never listed while the exemption is valid. */
export type ListExemption = {
  name: string
  /** For administrators only. */
  reason: string
  /** Null: no expiry. */
  expiresAt: Date | null
  /** Null when added at the command line. */
  reporterId: string | null
  createdAt: Date
}

/** Returns those of these names that are exempted at an instant. */
export async function findExempted(
  db: Db,
  names: readonly string[],
  now: Date,
): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const { rows } = await db.query<{ name: string }>(
    `select name from list_exemptions
     where name = any($1::text[]) and (expires_at is null or expires_at > $2)`,
    [names, now],
  )
  return new Set(rows.map(({ name }) => name))
}

/** Stores an exemption in place of an earlier one for the name. */
export async function keepExemption(tx: Db, exemption: ListExemption): Promise<void> {
  const { name, reason, expiresAt, reporterId, createdAt } = exemption
  await tx.query(
    `insert into list_exemptions (name, reason, expires_at, reporter_id, created_at)
     values ($1, $2, $3, $4, $5)
     on conflict (name) do update set reason = excluded.reason, expires_at = excluded.expires_at,
       reporter_id = excluded.reporter_id, created_at = excluded.created_at`,
    [name, reason, expiresAt, reporterId, createdAt],
  )
}

/** Deletes an exemption. False when there was none. */
export async function removeExemption(tx: Db, name: string): Promise<boolean> {
  const { rowCount } = await tx.query(`delete from list_exemptions where name = $1`, [name])
  return (rowCount ?? 0) > 0
}

/** Returns a page of the exemptions, by name; `after` is the last name of the previous page. */
export async function listExemptions(
  db: Db,
  page: { after: string; limit: number },
): Promise<ListExemption[]> {
  const { rows } = await db.query<ListExemption>(
    `select name, reason, expires_at as "expiresAt", reporter_id as "reporterId",
       created_at as "createdAt"
     from list_exemptions where name > $1 order by name limit $2`,
    [page.after, page.limit],
  )
  return rows
}
