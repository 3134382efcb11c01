import { isId } from '../actions.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { findReporterByEmail } from '../db/reporters.ts'
import { unpack } from '../db/rows.ts'
import {
  countMatching,
  findNewestReport,
  listMatching,
  listSearchMaterial,
  listUnindexed,
  type SearchMaterial,
  preferTerms,
  type TermCondition,
  type TermPage,
  type TermQuery,
  type Wanted,
} from '../db/search.ts'
import { WEEK_MS } from '../durations.ts'
import { CallerError, sqlState } from '../errors.ts'
import { refusal } from '../phrase.ts'
import { uuidFloor, uuidTime } from '../world.ts'
import { readValue, type SearchField, searchFields } from './fields.ts'
import type { Clause } from './syntax.ts'
import { type AnalyzedParts, termsOf } from './terms.ts'

/** Up to this number, matching reports are counted exactly. */
export const COUNT_MAX = 10_000

/** Reports newer than the index that a search examines one by one. */
const UNINDEXED_MAX = 300

/** A search to run, with the reports that changed since they were indexed. */
export type ReportSearch = {
  query: TermQuery
  /** Reports that are not searched in the index, because they changed. */
  unindexed: readonly string[]
  /** Those of them that match, newest first. */
  matching: readonly string[]
  /** Until when the index has all changes; undefined if it has all, or they were examined. */
  completeUntil: Date | undefined
}

/**
 * Prepares a search. Reports that are not in the index yet, or changed since, are examined one by
 * one: all their fields, but not their text. If there are more than 300 of them, `completeUntil`
 * tells which changes are missing.
 */
export async function openSearch(db: Db, clauses: readonly Clause[]): Promise<ReportSearch> {
  const query = await planSearch(db, clauses)
  if (query.conditions.length === 0)
    return { query, unindexed: [], matching: [], completeUntil: undefined }
  const { ids, completeUntil } = await listUnindexed(db, UNINDEXED_MAX)
  const matching: string[] = []
  for (const report of await listSearchMaterial(db, ids)) {
    const terms = new Set(termsOf(report, await analyzedParts(report), ''))
    if (isMatch(query, report.id, terms)) matching.push(report.id)
  }
  return { query, unindexed: ids, matching: matching.sort().reverse(), completeUntil }
}

/** Returns the ids of matching reports, newest first, starting below the id `before`. */
export async function listFound(
  pool: Pool,
  { query, unindexed, matching }: ReportSearch,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<string[]> {
  const page = { before, limit, except: unindexed }
  const indexed =
    query.conditions.length === 0
      ? await listMatching(pool, query, page)
      : await listByTerms(pool, query, page)
  const fresh = matching.filter((id) => before === undefined || id < before)
  return [...indexed, ...fresh].sort().reverse().slice(0, limit)
}

/**
 * The ends of the parts that are searched one after the other until enough is found, in weeks
 * before the newest report; null: all others.
 */
const WEEKS = [1, 4, 16, null]

async function listByTerms(pool: Pool, query: TermQuery, page: TermPage): Promise<string[]> {
  const end = [page.before, query.until].filter((id) => id !== undefined).sort()[0]
  const newest = end ?? (await findNewestReport(pool))
  if (newest === undefined) return []
  return byTerms(pool, (tx) => listNewest(tx, query, { ...page, newest }))
}

/** Searches the latest weeks first, because the reports of each part are sorted. */
async function listNewest(
  tx: Db,
  query: TermQuery,
  { newest, ...page }: TermPage & { newest: string },
): Promise<string[]> {
  const found: string[] = []
  const newestMs = uuidTime(newest).getTime()
  let { before } = page
  for (const weeks of WEEKS) {
    const start = weeks === null ? undefined : uuidFloor(new Date(newestMs - weeks * WEEK_MS))
    const isLast = start === undefined || (query.from !== undefined && start <= query.from)
    const part = isLast ? query : { ...query, from: start }
    const limit = page.limit - found.length
    found.push(...(await listMatching(tx, part, { ...page, before, limit })))
    if (isLast || found.length === page.limit) break
    before = start
  }
  return found
}

/** Counts matching reports: exactly up to `max`, and one more if there are more. */
export async function countFound(
  pool: Pool,
  { query, unindexed, matching }: ReportSearch,
  max = COUNT_MAX,
): Promise<number> {
  const page = { except: unindexed, limit: max + 1 }
  const indexed =
    query.conditions.length === 0
      ? await countMatching(pool, query, page)
      : await byTerms(pool, (tx) => countMatching(tx, query, page))
  return Math.min(page.limit, indexed + matching.length)
}

/** @throws CallerError if the search takes too long */
async function byTerms<T>(pool: Pool, work: (tx: Db) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(pool, async (tx) => {
      await preferTerms(tx)
      return work(tx)
    })
  } catch (error) {
    if (sqlState(error) !== QUERY_CANCELED) throw error
    throw new CallerError(422, refusal('refused.search-long'))
  }
}

const QUERY_CANCELED = '57014'

/** Reads the parts of a stored analysis from which terms are made. */
export async function analyzedParts({ analysis }: SearchMaterial): Promise<AnalyzedParts> {
  if (!analysis) return {}
  try {
    return JSON.parse((await unpack(analysis)).toString()) as AnalyzedParts
  } catch {
    // A message that was learned has no complete analysis.
    return {}
  }
}

async function planSearch(db: Db, clauses: readonly Clause[]): Promise<TermQuery> {
  const conditions: TermCondition[] = []
  let [from, until]: (Date | undefined)[] = []
  let ids: string[] | undefined
  for (const { field, values, isNot } of clauses.map(withoutNot)) {
    const alternatives: Wanted[] = []
    const named: string[] = []
    for (const value of values) {
      const read = readValue(field, field === 'reporter' ? await reporterId(db, value) : value)
      if ('problem' in read) throw new Error('The search was not checked before.')
      if ('terms' in read) alternatives.push(read.terms)
      else if ('id' in read) named.push(read.id)
      else {
        if (read.from && (!from || read.from > from)) from = read.from
        if (read.until && (!until || read.until < until)) until = read.until
      }
    }
    if (alternatives.length > 0) conditions.push({ isNot, alternatives })
    if (named.length > 0) ids = ids?.filter((id) => named.includes(id)) ?? named
  }
  return { conditions, from: from && uuidFloor(from), until: until && uuidFloor(until), ids }
}

/**
 * Without a value that most reports have, a search finds few: the index finds them by the other
 * values of the field.
 */
function withoutNot(clause: Clause): Clause {
  const { values = [], isInAll }: SearchField = searchFields[clause.field]
  const excluded = clause.values.map((value) => value.toLowerCase())
  const others = values.filter((value) => !excluded.includes(value))
  const isPossible = clause.isNot && isInAll === true && others.length > 0
  return isPossible ? { ...clause, isNot: false, values: others } : clause
}

/** The id of the reporter with this address; an unknown address matches nothing. */
async function reporterId(db: Db, value: string): Promise<string> {
  return isId(value) ? value : ((await findReporterByEmail(db, value))?.id ?? value)
}

function isMatch(
  { conditions, from, until, ids }: TermQuery,
  id: string,
  terms: ReadonlySet<string>,
): boolean {
  if (from !== undefined && id < from) return false
  if (until !== undefined && id >= until) return false
  if (ids && !ids.includes(id)) return false
  return conditions.every(({ isNot, alternatives }) => {
    const isAny = alternatives.some((wanted) =>
      'all' in wanted
        ? wanted.all.every((term) => terms.has(term))
        : wanted.any.some((term) => terms.has(term)),
    )
    return isAny !== isNot
  })
}
