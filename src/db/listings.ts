import sql, { bulk, raw } from 'sql-template-tag'
import type { Listing, ListName, PublicListing } from '../verdict/lists/list.ts'
import { uuidFloor, uuidTime } from '../world.ts'
import { lockClasses } from './lock-keys.ts'
import type { Db } from './pool.ts'
import { changesAny, excluded, rowOf, rowsOf, valuesOf } from './rows.ts'

const columns = sql`list, name, category, listed_since as since, listed_until as until, times,
  reporters_at_least as "reportersAtLeast", last_seen as "lastSeen", pardoned_at as "delistedAt",
  pardoned_reporters as "delistedReporters"`

/**
 * Locks the writing of lists until the transaction ends; false when another process holds the lock.
 */
export async function claimLists(tx: Db): Promise<boolean> {
  const [isFree = false] = await valuesOf(tx)<boolean>`
    select pg_try_advisory_xact_lock(${lockClasses.listings}, 0)`
  return isFree
}

/** Returns the entries with the given names, current and past, unordered. */
export async function findListings(
  db: Db,
  list: ListName,
  names: readonly string[],
): Promise<Listing[]> {
  if (names.length === 0) return []
  return rowsOf(db)`
    select ${columns} from listings where list = ${list} and name = any(${names}::text[])`
}

/**
 * Returns a page of the names listed at an instant; `after` is the last name of the previous page.
 */
export function pageListings(
  db: Db,
  list: ListName,
  page: { after: string; limit: number; now: Date },
): Promise<Listing[]> {
  return rowsOf(db)`select ${columns} from listings
    where list = ${list} and name > ${page.after} and listed_until > ${page.now}
    order by name limit ${page.limit}`
}

/** Returns the given names that are listed at an instant, ordered by list. */
export function findLiveListings(
  db: Db,
  asks: readonly Pick<PublicListing, 'list' | 'name'>[],
  now: Date,
): Promise<Listing[]> {
  return rowsOf(db)`select ${columns} from listings
    where (list, name) in (select list, name from unnest(${asks.map(({ list }) => list)}::text[],
      ${asks.map(({ name }) => name)}::text[]) a (list, name))
      and listed_until > ${now}
    order by list desc`
}

/** Inserts or replaces entries, except those that were delisted after the caller read them. */
export async function keepListings(db: Db, listings: readonly Listing[]): Promise<void> {
  if (listings.length === 0) return
  const sorted = [...listings].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const values = bulk(
    sorted.map((one) => [
      ...[one.list, one.name, one.category, one.since, one.until, one.times],
      ...[one.reportersAtLeast, one.lastSeen, one.delistedAt, one.delistedReporters],
    ]),
  )
  await db.query(sql`
    insert into listings (list, name, category, listed_since, listed_until, times,
      reporters_at_least, last_seen, pardoned_at, pardoned_reporters) values ${values}
    on conflict (list, name) do update set ${excluded`category, listed_since, listed_until, times,
      reporters_at_least, last_seen, pardoned_at, pardoned_reporters`}
    where listings.pardoned_at is not distinct from excluded.pardoned_at`)
}

/** Ends the entries of the given names that are listed at an instant. */
export async function endListings(
  db: Db,
  list: ListName,
  names: readonly string[],
  at: Date,
): Promise<void> {
  if (names.length === 0) return
  await db.query(sql`update listings set listed_until = ${at}
    where list = ${list} and name = any(${names}::text[]) and listed_until > ${at}`)
}

/**
 * Takes a name off its list on request, and stores the number of reporters that reported it. False
 * when the name is no longer listed.
 */
export function delistName(
  tx: Db,
  delisting: { list: ListName; name: string; at: Date; reporters: number },
): Promise<boolean> {
  return changesAny(tx)`
    update listings set listed_until = ${delisting.at}, pardoned_at = ${delisting.at},
      pardoned_reporters = ${Math.ceil(delisting.reporters)}
    where list = ${delisting.list} and name = ${delisting.name} and listed_until > ${delisting.at}`
}

function keyOf({ list, name }: Listing): string {
  return `${list} ${name}`
}

export type DelistingState = 'open' | 'automatic' | 'accepted' | 'refused'

/** A request to take a name off a list. Its id contains its time. */
export type DelistingRequest = {
  id: string
  list: PublicListing['list']
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

/** For operators; null if it was decided automatically or at the command line. */
export type DecidedBy = { decidedBy: string | null }

const REQUEST_COLUMNS = sql`id, list, name, state, asker, contact, done, answer,
  decided_at as "decidedAt"`

export async function insertDelisting(
  tx: Db,
  request: DelistingRequest & { tokenHash: Buffer; askerHash: Buffer },
): Promise<void> {
  const { id, list, name, state, asker, contact, done, answer, decidedAt } = request
  await tx.query(sql`
    insert into delisting_requests (id, token_hash, list, name, state, asker, contact, done,
      asker_hash, answer, decided_at)
    values (${id}, ${request.tokenHash}, ${list}, ${name}, ${state}, ${asker}, ${contact},
      ${done}, ${request.askerHash}, ${answer}, ${decidedAt})`)
}

export function findDelisting(db: Db, tokenHash: Buffer): Promise<DelistingRequest | undefined> {
  return rowOf(db)`
      select ${REQUEST_COLUMNS} from delisting_requests where token_hash = ${tokenHash}`
}

/**
 * Stores the decision on an open delisting request and returns the request; undefined when it does
 * not exist or was decided before.
 */
export function decideDelisting(
  tx: Db,
  id: string,
  decision: { state: DelistingState; answer: string; at: Date; reporterId: string | null },
): Promise<DelistingRequest | undefined> {
  const { state, answer, at, reporterId } = decision
  return rowOf(tx)`
      update delisting_requests set state = ${state}, answer = ${answer}, decided_at = ${at},
        decided_by = ${reporterId}
      where id = ${id} and state = 'open' returning ${REQUEST_COLUMNS}`
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
    db.query(sql`
      select id from delisting_requests where name = ${of.name} and id >= ${floor}
      limit ${of.limit}`),
    db.query(sql`
      select id from delisting_requests where asker_hash = ${of.askerHash} and id >= ${floor}
        limit ${of.limit}`),
  ])
  return { ofName: byName.rows.length, ofAsker: byAsker.rows.length }
}

/**
 * Returns a page of delisting requests; `after` is the last id of the previous page. Open requests
 * come in the order in which they are due, others newest first.
 */
export function listDelistings(
  db: Db,
  { state, after, limit }: { state: DelistingState; after: string | undefined; limit: number },
): Promise<(DelistingRequest & DecidedBy)[]> {
  const [beyond, order] = state === 'open' ? [raw('>'), raw('asc')] : [raw('<'), raw('desc')]
  return rowsOf(db)`
    select ${REQUEST_COLUMNS}, decided_by as "decidedBy" from delisting_requests
    where state = ${state} and (${after}::uuid is null or id ${beyond} ${after}::uuid)
    order by id ${order} limit ${limit}`
}

/** Returns when the oldest delisting request was sent that a person has to decide about. */
export async function findOldestDelisting(db: Db): Promise<Date | null> {
  const row = await rowOf(db)<{ id: string }>`
    select id from delisting_requests where state = 'open' order by id limit 1`
  return row ? uuidTime(row.id) : null
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

/** Returns the given names that are exempted at an instant. */
export async function findExempted(
  db: Db,
  names: readonly string[],
  now: Date,
): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const found = await valuesOf(db)`select name from list_exemptions
    where name = any(${names}::text[]) and (expires_at is null or expires_at > ${now})`
  return new Set(found)
}

/** Stores an exemption in place of an earlier one for the name. */
export async function keepExemption(tx: Db, exemption: ListExemption): Promise<void> {
  const { name, reason, expiresAt, reporterId, createdAt } = exemption
  await tx.query(sql`
    insert into list_exemptions (name, reason, expires_at, reporter_id, created_at)
    values (${name}, ${reason}, ${expiresAt}, ${reporterId}, ${createdAt})
    on conflict (name) do update set ${excluded`reason, expires_at, reporter_id, created_at`}`)
}

/** Deletes an exemption. False when there was none. */
export function removeExemption(tx: Db, name: string): Promise<boolean> {
  return changesAny(tx)`delete from list_exemptions where name = ${name}`
}

/**
 * Returns a page of the exemptions, by name; `after` is the last name of the previous page. With
 * `name`, only the one with this name.
 */
export function listExemptions(
  db: Db,
  page: { after: string; limit: number; name?: string },
): Promise<ListExemption[]> {
  return rowsOf(db)`
    select name, reason, expires_at as "expiresAt", reporter_id as "reporterId",
      created_at as "createdAt"
    from list_exemptions
    where name > ${page.after} and (${page.name}::text is null or name = ${page.name}::text)
    order by name limit ${page.limit}`
}
