import type { StoredReputation } from '../reputation/reputation.ts'
import type { SubjectKind } from '../reputation/subject.ts'
import type { Db } from './pool.ts'
import { values } from './values.ts'

/** The base part of a subject; the key is the hash of its kind and name, signed. */
export type ReputationRow = StoredReputation & { key: bigint }

/** Both parts of a subject; the detailed one packed. */
export type WholeReputation = { base: ReputationRow; detail: Buffer }

const columns = `key::text as key, kind, name, good, bad, recent_good as "recentGood",
  recent_bad as "recentBad", first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt",
  woke_at as "wokeAt", jumped_at as "jumpedAt", folded_at as "foldedAt"`

type TextRow = Omit<ReputationRow, 'key'> & { key: string }

const withKey = ({ key, ...row }: TextRow): ReputationRow => ({ ...row, key: BigInt(key) })

/** The base parts of keys, in no order; those without one are absent. */
export async function findReputations(db: Db, keys: readonly bigint[]): Promise<ReputationRow[]> {
  const { rows } = await db.query<TextRow>({
    name: 'find-reputations',
    text: `select ${columns} from reputations where key = any($1::bigint[])`,
    values: [keys.map(String)],
  })
  return rows.map(withKey)
}

/** Both parts of keys, the detailed one packed, in no order. */
export async function findWholeReputations(
  db: Db,
  keys: readonly bigint[],
): Promise<WholeReputation[]> {
  const { rows } = await db.query<TextRow & { detail: Buffer }>({
    name: 'find-whole-reputations',
    text: `select ${columns}, detail from reputations where key = any($1::bigint[])`,
    values: [keys.map(String)],
  })
  return rows.map(({ detail, ...row }) => ({ base: withKey(row), detail }))
}

/**
 * Writes both parts, given in the order of their keys. Full groups of rows share a statement that
 * the server knows already: to read so long a text each time was a fifth of its work.
 */
export async function upsertReputations(tx: Db, rows: readonly WholeReputation[]): Promise<void> {
  const done: Promise<unknown>[] = []
  for (let at = 0; at < rows.length; at += GROUP_ROWS) {
    const group = rows.slice(at, at + GROUP_ROWS).map(valuesOf)
    const isFull = group.length === GROUP_ROWS
    const text = isFull ? (fullText ??= upsertText(group)) : upsertText(group)
    const name = isFull ? { name: 'upsert-reputations' } : {}
    done.push(tx.query({ ...name, text, values: group.flat() }))
  }
  await Promise.all(done)
}

const GROUP_ROWS = 100
let fullText: string | undefined

function upsertText(rows: readonly (readonly unknown[])[]): string {
  return `insert into reputations (key, kind, name, good, bad, recent_good, recent_bad,
      first_seen_at, last_seen_at, woke_at, jumped_at, folded_at, detail)
    values ${values(rows).text}
    on conflict (key) do update set good = excluded.good, bad = excluded.bad,
      recent_good = excluded.recent_good, recent_bad = excluded.recent_bad,
      first_seen_at = excluded.first_seen_at, last_seen_at = excluded.last_seen_at,
      woke_at = excluded.woke_at, jumped_at = excluded.jumped_at,
      folded_at = excluded.folded_at, detail = excluded.detail`
}

/** Instants as text: the driver would write them in local time, at ten times the cost. */
function valuesOf({ base, detail }: WholeReputation): unknown[] {
  const iso = (at: Date | null) => at?.toISOString() ?? null
  return [
    ...[String(base.key), base.kind, base.name],
    ...[base.good, base.bad, base.recentGood, base.recentBad],
    ...[base.firstSeenAt, base.lastSeenAt, base.wokeAt, base.jumpedAt, base.foldedAt].map(iso),
    detail,
  ]
}

/** What people look for: names that begin so, of one kind or of all. */
export type ReputationSearch = { prefix: string; kind: SubjectKind | undefined; limit: number }

/** Subjects by the beginning of their names, in the order of the names. */
export async function searchReputations(
  db: Db,
  { prefix, kind, limit }: ReputationSearch,
): Promise<ReputationRow[]> {
  const { rows } = await db.query<TextRow>(
    `select ${columns} from reputations
     where name like $1 and ($2::text is null or kind = $2)
     order by name collate "C", kind limit $3`,
    [`${prefix.replace(/[\\%_]/g, '\\$&')}%`, kind ?? null, limit],
  )
  return rows.map(withKey)
}

/**
 * A stretch of all subjects in the order of their keys, for exports: those of some kinds that have
 * at least so much bad evidence. `after` is the last key of the stretch before.
 */
export async function listReputations(
  db: Db,
  stretch: {
    kinds: readonly SubjectKind[]
    badMin: number
    after: bigint | undefined
    limit: number
  },
): Promise<ReputationRow[]> {
  const { rows } = await db.query<TextRow>(
    `select ${columns} from reputations
     where kind = any($1) and bad >= $2 and ($3::bigint is null or key > $3)
     order by reputations.key limit $4`,
    [stretch.kinds, stretch.badMin, stretch.after?.toString() ?? null, stretch.limit],
  )
  return rows.map(withKey)
}

/** Forgets subjects by their keys. */
export async function removeReputations(tx: Db, keys: readonly bigint[]): Promise<void> {
  if (keys.length === 0) return
  await tx.query(`delete from reputations where key = any($1::bigint[])`, [keys.map(String)])
}

/** Which subjects of a stretch of keys (both ends in it) are to be forgotten. */
export type Forgetting = {
  from: bigint
  to: bigint
  /** Those that were last seen before. */
  before: Date
  /** Those of less evidence than `littleMax` already when they were last seen before this. */
  littleBefore: Date
  littleMax: number
  limit: number
}

/** Forgets subjects, at most `limit` so that each step is short, and gives how many. */
export async function removeOldReputations(tx: Db, which: Forgetting): Promise<number> {
  const { from, to, before, littleBefore, littleMax, limit } = which
  const old = await tx.query<{ key: string }>(
    `select key::text as key from reputations
     where key between $1 and $2
       and (last_seen_at < $3 or (last_seen_at < $4 and good + bad < $5))
     order by reputations.key limit $6`,
    [String(from), String(to), before, littleBefore, littleMax, limit],
  )
  await removeReputations(
    tx,
    old.rows.map(({ key }) => BigInt(key)),
  )
  return old.rows.length
}
