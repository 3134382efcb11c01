import { hash } from 'node:crypto'
import type pg from 'pg'
import sql, { bulk, empty, join, raw, type RawValue, type Sql } from 'sql-template-tag'
import { WEEK_MS } from '../durations.ts'
import { type Clock, shardOf, uuidFloor, uuidTime } from '../world.ts'
import { weekOf } from './partitions.ts'
import type { Db } from './pool.ts'
import { firstColumn } from './rows.ts'

/**
 * Statements that run for each report are prepared, and their conditions are written so that
 * PostgreSQL keeps one plan for all executions ("generic plan"). It does so if that plan seems to
 * cost no more than one made for the given values. Hence two rules: the number of values is part of
 * the text, and the partition is known from the text.
 *
 * With `any($1)`, in contrast, PostgreSQL plans every execution again, over all partitions.
 *
 * In a distributed database, conditions on ids also name the shards of the ids, so that only the
 * nodes with these shards are asked.
 */

/** Longer lists are passed as one array, and their statements are planned each time. */
const LISTED_MAX = 64
/** Statements that insert more rows are not prepared, because there would be too many of them. */
const ROWS_MAX = 8

type Values = readonly RawValue[]

/**
 * A template tag like `sql`, for a statement that each connection prepares once. Its name is
 * derived from its text, so the text must have few variants.
 */
export function prepared(strings: readonly string[], ...values: Values): pg.QueryConfig {
  const { text, values: flat } = sql(strings, ...values)
  return { name: hash('sha1', text), text, values: flat }
}

/** Like `rowsOf`, for a statement that is prepared. */
export function preparedRowsOf(db: Db) {
  return async <T extends pg.QueryResultRow>(strings: readonly string[], ...values: Values) =>
    (await db.query<T>(prepared(strings, ...values))).rows
}

/** Like `valuesOf`, for a statement that is prepared. */
export function preparedValuesOf(db: Db) {
  return async (strings: readonly string[], ...values: Values): Promise<string[]> =>
    firstColumn(await db.query<Record<string, string>>(prepared(strings, ...values)))
}

/** Like `rowOf`, for a statement that is prepared. */
export function preparedRowOf(db: Db) {
  return async <T extends pg.QueryResultRow>(
    strings: readonly string[],
    ...values: Values
  ): Promise<T | undefined> => (await db.query<T>(prepared(strings, ...values))).rows[0]
}

/** Like `prepared`, for a statement that inserts these rows; `compose` receives their list. */
export function preparedInsert(
  rows: readonly Values[],
  compose: (values: Sql) => Sql,
): pg.QueryConfig {
  const { text, values } = compose(bulk(rows.map((row) => [...row])))
  return rows.length > ROWS_MAX ? { text, values } : { name: hash('sha1', text), text, values }
}

/** The condition that a column has one of the values, which are of the type of `array`. */
export function isOneOf(
  column: string,
  values: readonly string[],
  array: 'uuid[]' | 'text[]',
): Sql {
  if (values.length === 0 || values.length > LISTED_MAX) {
    return sql`${raw(column)} = any(${values}::${raw(array)})`
  }
  return sql`${raw(column)} in (${join(padded(values, values.at(-1)))})`
}

/**
 * The condition that a column has one of the ids, in a table that is partitioned by the week of
 * these ids and distributed by their shard. If all are of this week or the last one, their week is
 * part of the text, so that the plan reads one partition only.
 */
export function isOneOfIds(column: string, ids: readonly string[]): Sql {
  const week = recentWeek(ids)
  if (week === undefined || ids.length > LISTED_MAX) {
    return sql`${raw(column)} = any(${ids}::uuid[])${inShardsOf(column, ids)}`
  }
  const one = isOneOf(column, ids, 'uuid[]')
  return sql`${one} and ${inWeek(column, week)}${inShardsOf(column, ids)}`
}

/** The condition that a column has this id, in a table that is distributed by its shard. */
export function isId(column: string, id: string): Sql {
  return sql`${raw(column)} = ${id}${inShardsOf(column, [id])}`
}

/**
 * The condition that a column is in the common week of some ids; true if they have none that is
 * recent. For a column that equals one of the ids for another reason, for example in a subquery.
 */
export function isInWeekOf(column: string, ids: readonly string[]): Sql {
  const week = recentWeek(ids)
  return week === undefined ? sql`true` : inWeek(column, week)
}

/** A list of rows of a value and its position, from 1: `(values ($1::inet, 1), …)`. */
export function numbered(values: readonly string[], type: 'inet'): Sql {
  const all = padded<string | null>(values.length > 0 ? values : [null], null)
  const rows = all.map((one, at) => sql`(${one}::${raw(type)}, ${raw(String(at + 1))})`)
  return sql`(values ${join(rows)})`
}

/** Repeats `filler` until the number of values is a power of two. */
function padded<T>(values: readonly T[], filler: T | undefined): T[] {
  const length = 2 ** Math.ceil(Math.log2(values.length))
  return Array.from({ length }, (_, at) => (at < values.length ? values[at] : filler) as T)
}

function inWeek(column: string, week: number): Sql {
  const from = uuidFloor(new Date(week))
  const to = uuidFloor(new Date(week + WEEK_MS))
  return raw(`${column} >= '${from}' and ${column} < '${to}'`)
}

/** The condition on the column `shard` that rows with these ids fulfill; empty by default. */
function inShardsOf(column: string, ids: readonly string[]): Sql {
  return isInShards(column.replace(/\w+$/, 'shard'), ids.map(shardOf))
}

/**
 * The condition, appended to others that imply it, that the column `shard` has one of these values;
 * empty by default.
 */
export function isInShards(column: string, shards: readonly number[]): Sql {
  if (!namesShards || shards.length === 0) return empty
  const named = [...new Set(shards)].sort((one, other) => one - other)
  return sql` and ${raw(column)} in (${join(padded(named, named.at(-1)))})`
}

let namesShards = false

/** Whether the database is distributed over several servers. */
export function isDistributed(): boolean {
  return namesShards
}

/**
 * The value of `synchronous_commit`, as SQL, for transactions that are repeated if they are lost.
 * In a distributed database, one server must not keep a commit that another server then loses.
 */
export function commitOfRounds(): Sql {
  return raw(namesShards ? "current_setting('synchronous_commit')" : "'off'")
}

/** Several of the advised intervals of `citus.recover_2pc_interval`. */
const APPEARS_MS = 45_000

/**
 * Whether rows may still appear that were committed at `since`. In a distributed database, the jobs
 * of a transaction can be visible before its rows: a server that was lost during the commit has
 * them only when Citus has recovered the transaction there (`citus.recover_2pc_interval`).
 */
export function mayAppear(since: Date, now: Date): boolean {
  return namesShards && now.getTime() - since.getTime() < APPEARS_MS
}

/**
 * The condition that rows which were committed with the row of an id must be visible (see
 * `mayAppear`). The id begins with the time.
 */
export function haveAppeared(column: string, now: Date): Sql {
  if (!namesShards) return sql`true`
  return sql`${raw(column)} < ${uuidFloor(new Date(now.getTime() - APPEARS_MS))}`
}

/**
 * Sets whether conditions on ids name the shards, for a distributed database. On a single server
 * this would only make the statements longer.
 */
export function nameShards(isNeeded: boolean): void {
  namesShards = isNeeded
}

/**
 * Divides rows into groups that are stored in a transaction each: one for each shard in a
 * distributed database, where a transaction on one node is cheaper, otherwise all in one.
 */
export function groupedToStore<T>(rows: readonly T[], idOf: (row: T) => string): T[][] {
  if (!namesShards) return rows.length === 0 ? [] : [[...rows]]
  return [...Map.groupBy(rows, (row) => shardOf(idOf(row))).values()]
}

let clock: Clock | undefined

/**
 * Sets the clock that tells which weeks are recent. Until then, plans for single weeks are not
 * kept.
 */
export function keepPlansOfRecentWeeks(its: Clock): void {
  clock = its
}

/**
 * The start of the week of all ids, in Unix milliseconds, if it is this week or the last one.
 * Undefined for other weeks, because ids of any age may be asked for, which would make too many
 * statements.
 */
function recentWeek(ids: readonly string[]): number | undefined {
  const [first, ...others] = ids
  if (first === undefined || !clock) return undefined
  const week = weekOf(uuidTime(first)).getTime()
  const current = weekOf(clock()).getTime()
  if (week !== current && week !== current - WEEK_MS) return undefined
  return others.every((id) => weekOf(uuidTime(id)).getTime() === week) ? week : undefined
}
