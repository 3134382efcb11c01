import sql, { bulk, type Sql } from 'sql-template-tag'
import type { KarmaState } from '../verdict/reputation/karma.ts'
import type { Mark } from '../verdict/reputation/reputation.ts'
import type { StoredReputation, SubjectKind } from '../verdict/reputation/subject.ts'
import type { Db } from './pool.ts'
import { isOneOf, prepared } from './prepared.ts'
import { excluded, named, preparedRows, rowOf } from './rows.ts'

export type KarmaRow = KarmaState & {
  reporterId: string
  /** The provider that reports for this mailbox user. */
  providerId?: string | null
}

type FlatRow = Omit<KarmaRow, 'counts'> & {
  agreements: number
  retractions: number
  wantedMail: number
  contradictions: number
  overrulings: number
}

/**
 * Returns the karmas of reporters by id, unordered; reporters without any activity may be absent.
 */
export async function findKarmas(db: Db, reporterIds: readonly string[]): Promise<KarmaRow[]> {
  const { rows } = await db.query<FlatRow>(prepared`
    select reporter_id as "reporterId", is_vouched as "isVouched", provider_id as "providerId",
      agreed, disagreed, agreements, retractions, wanted_mail as "wantedMail", contradictions,
      overrulings, agreed_on::text as "agreedOn"
    from karmas where ${isOneOf('reporter_id', reporterIds, 'uuid[]')}`)
  return rows.map(
    ({ agreements, retractions, wantedMail, contradictions, overrulings, ...row }) => ({
      ...row,
      counts: {
        agreement: agreements,
        retraction: retractions,
        'wanted-mail': wantedMail,
        contradiction: contradictions,
        overruling: overrulings,
      },
    }),
  )
}

/** Inserts or updates karmas, given in the order of the reporters' ids. */
export async function upsertKarmas(tx: Db, rows: readonly KarmaRow[], now: Date): Promise<void> {
  if (rows.length === 0) return
  const values = bulk(
    rows.map(({ reporterId, isVouched, agreed, disagreed, counts, agreedOn }) => [
      ...[reporterId, isVouched, agreed, disagreed],
      ...[counts.agreement, counts.retraction, counts['wanted-mail']],
      ...[counts.contradiction, counts.overruling, agreedOn, now],
    ]),
  )
  await tx.query(sql`
    insert into karmas (reporter_id, is_vouched, agreed, disagreed, agreements, retractions,
      wanted_mail, contradictions, overrulings, agreed_on, updated_at)
    values ${values}
    on conflict (reporter_id) do update set ${excluded`agreed, disagreed, agreements, retractions,
      wanted_mail, contradictions, overrulings, agreed_on, updated_at`}`)
}

/** Stores whether an operator vouches for a new account. */
export async function insertKarma(
  tx: Db,
  karma: { reporterId: string; isVouched: boolean; providerId?: string; now: Date },
): Promise<void> {
  await tx.query(sql`
    insert into karmas (reporter_id, is_vouched, provider_id, updated_at) values
      (${karma.reporterId}, ${karma.isVouched}, ${karma.providerId ?? null}, ${karma.now})
    on conflict (reporter_id) do nothing`)
}

/**
 * The base part of a subject's reputation; the key is the signed 64-bit hash of its kind and name.
 */
export type ReputationRow = StoredReputation & { key: bigint }

/** Both parts of a subject's reputation; the detailed one is packed. */
export type WholeReputation = { base: ReputationRow; detail: Buffer }

/** Returns the shard of the key of a subject: its four highest bits. */
export function shardOfSubject(key: bigint): number {
  return Number(BigInt.asUintN(64, key) >> 60n)
}

const columns = sql`key::text as key, kind, name, good, bad, recent_good as "recentGood",
  recent_bad as "recentBad", phishing, malware, first_seen_at as "firstSeenAt",
  last_seen_at as "lastSeenAt",
  woke_at as "wokeAt", jumped_at as "jumpedAt", folded_at as "foldedAt"`

type TextRow = Omit<ReputationRow, 'key'> & { key: string }

const withKey = ({ key, ...row }: TextRow): ReputationRow => ({ ...row, key: BigInt(key) })

/**
 * Returns the base parts of the reputations with these keys, unordered; unknown keys are absent.
 */
export async function findReputations(db: Db, keys: readonly bigint[]): Promise<ReputationRow[]> {
  const { rows } = await db.query<TextRow>(named('find-reputations')`
    select ${columns} from reputations where key = any(${keys.map(String)}::bigint[])`)
  return rows.map(withKey)
}

/**
 * Returns both parts of the reputations with these keys, unordered; the detailed part is packed.
 */
export async function findWholeReputations(
  db: Db,
  keys: readonly bigint[],
): Promise<WholeReputation[]> {
  const { rows } = await db.query<TextRow & { detail: Buffer }>(named('find-whole-reputations')`
    select ${columns}, detail from reputations where key = any(${keys.map(String)}::bigint[])`)
  return rows.map(({ detail, ...row }) => ({ base: withKey(row), detail }))
}

/**
 * Inserts or updates both parts of reputations, given in the order of their keys. Uses prepared
 * statements: parsing the long text each time was a fifth of the server's work.
 */
export async function upsertReputations(tx: Db, rows: readonly WholeReputation[]): Promise<void> {
  const which = { name: 'upsert-reputations', rowsMax: 60 }
  const statements = preparedRows(which, rows.map(valuesOf), upsertOf)
  await Promise.all(statements.map((statement) => tx.query(statement)))
}

function upsertOf(values: Sql): Sql {
  return sql`
    insert into reputations (key, shard, kind, name, good, bad, recent_good, recent_bad,
      phishing, malware, first_seen_at, last_seen_at, woke_at, jumped_at, folded_at, detail)
    values ${values}
    on conflict (key, shard) do update set ${excluded`good, bad, recent_good, recent_bad, phishing,
      malware, first_seen_at, last_seen_at, woke_at, jumped_at, folded_at, detail`}`
}

/**
 * Returns the values of a row, with instants as text: the driver would write local time, at ten
 * times the cost.
 */
function valuesOf({ base, detail }: WholeReputation): unknown[] {
  const iso = (at: Date | null) => at?.toISOString() ?? null
  return [
    ...[String(base.key), shardOfSubject(base.key), base.kind, base.name],
    ...[base.good, base.bad, base.recentGood, base.recentBad],
    ...[base.phishing || null, base.malware || null],
    ...[base.firstSeenAt, base.lastSeenAt, base.wokeAt, base.jumpedAt, base.foldedAt].map(iso),
    detail,
  ]
}

export type ReputationSearch = { prefix: string; kind: SubjectKind | undefined; limit: number }

/** Returns the subjects with names that begin with `prefix`, sorted by name. */
export async function searchReputations(
  db: Db,
  { prefix, kind, limit }: ReputationSearch,
): Promise<ReputationRow[]> {
  const pattern = `${prefix.replace(/[\\%_]/g, '\\$&')}%`
  const { rows } = await db.query<TextRow>(sql`
    select ${columns} from reputations
    where name like ${pattern} and (${kind}::text is null or kind = ${kind}::text)
    order by name collate "C", kind limit ${limit}`)
  return rows.map(withKey)
}

/**
 * Returns a page of the subjects of some kinds with at least `badMin` bad evidence, by key, for
 * exports. `after` is the last key of the previous page.
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
  const { rows } = await db.query<TextRow>(sql`select ${columns} from reputations
    where kind = any(${stretch.kinds}) and bad >= ${stretch.badMin}
      and (${stretch.after?.toString()}::bigint is null
      or key > ${stretch.after?.toString()}::bigint)
    order by reputations.key limit ${stretch.limit}`)
  return rows.map(withKey)
}

export async function removeReputations(tx: Db, keys: readonly bigint[]): Promise<void> {
  if (keys.length === 0) return
  await tx.query(sql`delete from reputations where key = any(${keys.map(String)}::bigint[])`)
}

/** Selects the subjects to delete in a range of keys of one shard (both ends inclusive). */
export type Forgetting = {
  from: bigint
  to: bigint
  /** Deletes subjects last seen before this. */
  before: Date
  /** Deletes subjects with less evidence than `littleMax` that were last seen before this. */
  littleBefore: Date
  littleMax: number
  limit: number
}

/** Deletes subjects, at most `limit` so that each step is short; returns the number deleted. */
export async function removeOldReputations(tx: Db, which: Forgetting): Promise<number> {
  const { from, to, before, littleBefore, littleMax, limit } = which
  const old = await tx.query<{ key: string }>(sql`select key::text as key from reputations
    where shard = ${shardOfSubject(from)} and key between ${String(from)} and ${String(to)}
      and (last_seen_at < ${before} or (last_seen_at < ${littleBefore}
        and good + bad < ${littleMax}))
    order by reputations.key limit ${limit}`)
  await removeReputations(
    tx,
    old.rows.map(({ key }) => BigInt(key)),
  )
  return old.rows.length
}

/** An administrator's manual mark on a subject. */
export type ReputationMark = {
  key: bigint
  kind: SubjectKind
  name: string
  mark: Mark
  reason: string
  /** Null when set at the command line. */
  reporterId: string | null
  setAt: Date
  /** Null: until it is lifted. */
  untilAt: Date | null
}

type MarkRow = Omit<ReputationMark, 'key'> & { key: string }

const MARK_COLUMNS = sql`key::text as key, kind, name, mark, reason, reporter_id as "reporterId",
  set_at as "setAt", until_at as "untilAt"`

/** Returns the marks of the subjects with these keys, including expired marks, unordered. */
export async function findMarks(db: Db, keys: readonly bigint[]): Promise<ReputationMark[]> {
  const { rows } = await db.query<MarkRow>(named('find-marks')`
    select ${MARK_COLUMNS} from reputation_marks where key = any(${keys.map(String)}::bigint[])`)
  return rows.map(({ key, ...row }) => ({ ...row, key: BigInt(key) }))
}

/** Returns the marks that are valid at an instant, newest first, at most `limit`. */
export async function listMarks(db: Db, now: Date, limit: number): Promise<ReputationMark[]> {
  const { rows } = await db.query<MarkRow>(sql`
    select ${MARK_COLUMNS} from reputation_marks where until_at is null or until_at > ${now}
    order by set_at desc, reputation_marks.key limit ${limit}`)
  return rows.map(({ key, ...row }) => ({ ...row, key: BigInt(key) }))
}

/** Sets the mark of a subject, in place of an earlier one. */
export async function setMark(tx: Db, mark: ReputationMark): Promise<void> {
  const row = [
    ...[String(mark.key), mark.kind, mark.name, mark.mark, mark.reason],
    ...[mark.reporterId, mark.setAt, mark.untilAt],
  ]
  const values = bulk([row])
  await tx.query(sql`
    insert into reputation_marks (key, kind, name, mark, reason, reporter_id, set_at, until_at)
    values ${values}
    on conflict (key) do update set ${excluded`mark, reason, reporter_id, set_at, until_at`}`)
}

/** Deletes the mark of a subject and returns it; undefined when it has none. */
export function removeMark(
  tx: Db,
  key: bigint,
): Promise<Pick<ReputationMark, 'kind' | 'name' | 'mark'> | undefined> {
  return rowOf(tx)`
    delete from reputation_marks where key = ${String(key)} returning kind, name, mark`
}
