import type { Listing, ListName } from '../verdict/lists/list.ts'
import type { Db } from './pool.ts'
import { first, values } from './values.ts'

const columns = `list, name, category, listed_since as since, listed_until as until, times,
  reporters_at_least as "reportersAtLeast", last_seen as "lastSeen", pardoned_at as "pardonedAt",
  pardoned_reporters as "pardonedReporters"`

/** Apart from the other advisory locks of the program. */
const LOCK = 0x6c697374

/** Takes the right to write lists until the transaction ends; false when another has it. */
export async function claimLists(tx: Db): Promise<boolean> {
  const answer = await tx.query<{ free: boolean }>(
    `select pg_try_advisory_xact_lock($1, 0) as free`,
    [LOCK],
  )
  return first(answer)?.free ?? false
}

/** The entries of these names, present and remembered, in no order. */
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

/** A page of what is listed at an instant, by name; `after` is the last name of the one before. */
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

/** What of these is listed at an instant, in the order of the lists. */
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

/**
 * Keeps entries in place of what was known of their names, unless they were pardoned since that was
 * read.
 */
export async function keepListings(db: Db, listings: readonly Listing[]): Promise<void> {
  if (listings.length === 0) return
  const sorted = [...listings].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  const { text, params } = values(
    sorted.map((one) => [
      ...[one.list, one.name, one.category, one.since, one.until, one.times],
      ...[one.reportersAtLeast, one.lastSeen, one.pardonedAt, one.pardonedReporters],
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

/** Ends entries that are listed at an instant. */
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
 * Takes a name off its list as wished for; `reporters` is how many there were against it. False
 * when it was not on it any more.
 */
export async function pardonListing(
  tx: Db,
  pardon: { list: ListName; name: string; at: Date; reporters: number },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update listings set listed_until = $3, pardoned_at = $3, pardoned_reporters = $4
     where list = $1 and name = $2 and listed_until > $3`,
    [pardon.list, pardon.name, pardon.at, Math.ceil(pardon.reporters)],
  )
  return rowCount === 1
}

/** Forgets what ended before an instant. */
export async function removeListings(db: Db, before: Date): Promise<void> {
  await db.query(`delete from listings where listed_until < $1`, [before])
}

function keyOf({ list, name }: Listing): string {
  return `${list} ${name}`
}
