import sql, { empty, join, type Sql } from 'sql-template-tag'
import { shardOf, uuidTime, uuidv7 } from '../world.ts'
import { lockKeys } from './lock-keys.ts'
import type { Db } from './pool.ts'
import { groupedToStore, isOneOfIds, preparedRowsOf, preparedValuesOf } from './prepared.ts'
import type { Channel, ReportKind, ReportState } from './reports.ts'
import { changesAny, numberOf, type Packed, rowsOf, valuesOf } from './rows.ts'

/** Terms of a report: all of them, or any of them. */
export type Wanted = { all: readonly string[] } | { any: readonly string[] }

/** A condition: one of the alternatives matches, or, with `isNot`, none of them. */
export type TermCondition = { isNot: boolean; alternatives: readonly Wanted[] }

/** What a search requires of a report. */
export type TermQuery = {
  conditions: readonly TermCondition[]
  /** Bounds of the id: inclusive, and exclusive. */
  from?: string | undefined
  until?: string | undefined
  /** The report has one of these ids; undefined for any. */
  ids?: readonly string[] | undefined
}

/** The part of the results to return, newest first. */
export type TermPage = {
  /** Exclusive bound of the id. */
  before: string | undefined
  /** Reports that are not returned, because they are matched elsewhere. */
  except: readonly string[]
  limit: number
}

/**
 * Makes the following statements of the transaction find rows by their terms, and end after ten
 * seconds. The planner overestimates how frequent rare terms are, and would read whole tables.
 */
export async function preferTerms(tx: Db): Promise<void> {
  await tx.query(sql`
    select set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
      set_config('statement_timeout', '10s', true)`)
}

/** Returns the ids of matching reports, newest first. */
export function listMatching(db: Db, query: TermQuery, page: TermPage): Promise<string[]> {
  return valuesOf(db)`
    select id from ${tableOf(query)} where ${matches(query, page)}
    order by id desc limit ${page.limit}`
}

export async function findNewestReport(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string }>(sql`
    select id from reports order by id desc limit 1`)
  return rows[0]?.id
}

/** Counts matching reports, at most `limit`. */
export function countMatching(
  db: Db,
  query: TermQuery,
  page: Omit<TermPage, 'before'>,
): Promise<number> {
  return numberOf(db)`
    select count(*)::integer as count from (
      select id from ${tableOf(query)} where ${matches(query, { ...page, before: undefined })}
      limit ${page.limit}) as found`
}

/** A search without terms reads the reports themselves, so that it never waits for the index. */
function tableOf({ conditions }: TermQuery): Sql {
  return conditions.length === 0 ? sql`reports` : sql`report_terms`
}

function matches({ conditions, from, until, ids }: TermQuery, page: Omit<TermPage, 'limit'>): Sql {
  const bounds = [
    from === undefined ? empty : sql` and id >= ${from}::uuid`,
    until === undefined ? empty : sql` and id < ${until}::uuid`,
    page.before === undefined ? empty : sql` and id < ${page.before}::uuid`,
    ids === undefined ? empty : sql` and id = any(${ids}::uuid[])`,
    page.except.length === 0 ? empty : sql` and id <> all(${page.except}::uuid[])`,
  ]
  const terms = conditions.map(({ isNot, alternatives }) => {
    const any = join(alternatives.map(matchesWanted), ' or ')
    return isNot ? sql` and not (${any})` : sql` and (${any})`
  })
  return join([sql`true`, ...bounds, ...terms], '')
}

function matchesWanted(wanted: Wanted): Sql {
  return 'all' in wanted
    ? sql`terms @> ${hashesOf(wanted.all)}`
    : sql`terms && ${hashesOf(wanted.any)}`
}

/** Calls instead of a subquery: the planner knows their results, and so how many rows match. */
function hashesOf(terms: readonly string[]): Sql {
  return sql`array[${join(terms.map((term) => sql`hashtextextended(${term}, 0)`))}]::bigint[]`
}

/** Everything about a report from which its terms are made. */
export type SearchMaterial = {
  id: string
  reporterId: string
  state: ReportState
  kind: ReportKind
  channel: Channel
  author: string | null
  subject: string | null
  messageId: string | null
  comment: string | null
  originIp: string | null
  networkCidr: string | null
  networkName: string | null
  networkAsn: number | null
  networkCountry: string | null
  verdictClass: string | null
  symbols: readonly string[]
  campaignId: string | null
  /** The addresses that were or will be notified. */
  desks: readonly string[]
  /** The packed `PlainAnalysis`; null before the analysis. */
  analysis: Packed | null
}

/** What the analysis of a report adds to its material. */
const unanalyzed = {
  ...{ originIp: null, networkCidr: null, networkName: null, networkAsn: null },
  ...{ networkCountry: null, verdictClass: null, symbols: null, campaignId: null },
}

type ReportPart = Omit<SearchMaterial, keyof typeof unanalyzed | 'desks' | 'analysis'>
type AnalysisPart = Packed &
  Pick<SearchMaterial, 'id' | Exclude<keyof typeof unanalyzed, 'symbols'>> & {
    symbols: readonly string[] | null
  }

/**
 * Returns the material of reports, unordered. Queries by id instead of a join, so that the planner
 * can exclude the partitions of other weeks.
 */
export async function listSearchMaterial(
  db: Db,
  ids: readonly string[],
): Promise<SearchMaterial[]> {
  if (ids.length === 0) return []
  const reports = await preparedRowsOf(db)<ReportPart>`
    select id, reporter_id as "reporterId", state, kind, channel, author, subject,
      message_id as "messageId", comment
    from reports where ${isOneOfIds('id', ids)}`
  const analyses = await preparedRowsOf(db)<AnalysisPart>`
    select id, host(origin_ip) as "originIp", network_cidr::text as "networkCidr",
      network_name as "networkName", network_asn as "networkAsn",
      network_country as "networkCountry", verdict_class as "verdictClass",
      jsonb_path_query_array(judgment, '$.verdict.symbols[*].name') as symbols, encoding, content,
      judgment ->> 'campaignId' as "campaignId"
    from analyses where ${isOneOfIds('id', ids)}`
  const counted = await preparedRowsOf(db)<{ id: string; campaignId: string | null }>`
    select id, campaign_id as "campaignId" from counted_reports where ${isOneOfIds('id', ids)}`
  const recipients = await preparedRowsOf(db)<{ id: string; address: string }>`
    select report_id as id, address from feedback_reports
    where ${isOneOfIds('report_id', ids)} and state <> 'shadowed'`
  const analysisOf = new Map(analyses.map((row) => [row.id, row]))
  const campaignOf = new Map(counted.map((row) => [row.id, row.campaignId]))
  const desksOf = Map.groupBy(recipients, ({ id }) => id)
  return reports.map((report) => {
    const analyzed = analysisOf.get(report.id)
    const { encoding, content, ...its } = { ...unanalyzed, ...analyzed, ...report }
    return {
      ...its,
      symbols: its.symbols ?? [],
      campaignId: campaignOf.get(report.id) ?? its.campaignId,
      desks: desksOf.get(report.id)?.map(({ address }) => address) ?? [],
      analysis: encoding && content ? { encoding, content } : null,
    }
  })
}

export async function upsertTerms(
  tx: Db,
  reports: readonly { id: string; terms: readonly string[] }[],
): Promise<void> {
  if (reports.length === 0) return
  const values = reports
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, terms }) => sql`(${id}, ${shardOf(id)}, term_hashes(${terms.join('\n')}))`)
  await tx.query(sql`
    insert into report_terms (id, shard, terms) values ${join(values)}
    on conflict (id, shard) do update set terms = excluded.terms`)
}

/** Deletes the terms of reports; they are not found until their terms are written again. */
export async function removeTerms(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.query(sql`delete from report_terms where ${isOneOfIds('id', ids)}`)
}

/**
 * Maximum number of reports whose terms are written together, and of those in one note. Few,
 * because new reports wait for the same threads meanwhile.
 */
export const INDEXED_AT_ONCE = 50

/** Notes that the terms of reports must be written again. */
export async function insertSearchNews(
  tx: Db,
  reportIds: readonly string[],
  at: Date,
): Promise<void> {
  if (reportIds.length === 0) return
  const notes = Array.from({ length: Math.ceil(reportIds.length / INDEXED_AT_ONCE) }, (_, n) =>
    reportIds.slice(n * INDEXED_AT_ONCE, (n + 1) * INDEXED_AT_ONCE),
  )
  await tx.query(sql`
    insert into search_news (id, report_ids)
    values ${join(notes.map((ids) => sql`(${uuidv7(at)}, ${ids}::uuid[])`))}`)
}

/** A note that the terms of reports must be written again. */
export type SearchNote = { id: string; reportIds: readonly string[] }

export function listSearchNews(db: Db, limit: number): Promise<SearchNote[]> {
  return rowsOf(db)`
    select id, report_ids as "reportIds" from search_news order by id limit ${limit}`
}

/**
 * Deletes notes, and returns their reports except `others`, which cannot change until the
 * transaction ends. Nothing is returned while another transaction writes terms, or of notes that it
 * has dealt with.
 */
export async function claimSearchNews(
  tx: Db,
  notes: readonly SearchNote[],
  others: ReadonlySet<string>,
): Promise<string[]> {
  const { rows: locks } = await tx.query<{ free: boolean }>(sql`
    select pg_try_advisory_xact_lock(${lockKeys.searchNews}) as free`)
  if (locks[0]?.free !== true) return []
  const { rows } = await tx.query<{ ids: string[] }>(sql`
    delete from search_news where id = any(${notes.map(({ id }) => id)}::uuid[])
    returning report_ids as ids`)
  const ids = [...new Set(rows.flatMap((row) => row.ids)).difference(others)]
  if (ids.length === 0) return []
  const held: string[] = []
  // Citus locks rows of one shard at a time only.
  for (const own of groupedToStore(ids.toSorted(byShard), (id) => id)) {
    held.push(
      ...(await preparedValuesOf(tx)`
        select id from reports where ${isOneOfIds('id', own)} order by id for share`),
    )
  }
  return held
}

function byShard(one: string, other: string): number {
  return shardOf(one) - shardOf(other)
}

/** Reports whose terms may be missing or old, newest first. */
export type Unindexed = {
  ids: string[]
  /** When there are more than returned: the older changes until then are in the index. */
  completeUntil: Date | undefined
}

/** Returns the newest reports that wait for their terms, at most `limit`. */
export async function listUnindexed(db: Db, limit: number): Promise<Unindexed> {
  const ids = await valuesOf(db)`
    select id from (
      select unnest(report_ids) as id from (
        select report_ids from report_news order by id desc limit ${limit}) as news
      union select unnest(report_ids) from (
        select report_ids from search_news order by id desc limit ${limit}) as noted
      union select id from (
        select id from reports where state = 'received' order by id desc limit ${limit}) as received
      ) as waiting
    order by id desc limit ${limit}`
  if (ids.length < limit) return { ids, completeUntil: undefined }
  const { rows: oldest } = await db.query<{ id: string }>(sql`
    select id from (
      (select id from report_news order by id limit 1)
      union (select id from search_news order by id limit 1)
      union (select id from reports where state = 'received' order by id limit 1)) as waiting
    order by id limit 1`)
  const [first] = oldest
  return { ids, completeUntil: first && uuidTime(first.id) }
}

export type SavedSearch = { name: string; query: string }

export function listSavedSearches(db: Db, reporterId: string): Promise<SavedSearch[]> {
  return rowsOf(db)`
    select name, query from saved_searches where reporter_id = ${reporterId} order by name`
}

/** Saves a search; false if the operator has `max` others. */
export function saveSearch(
  tx: Db,
  { reporterId, name, query, at }: SavedSearch & { reporterId: string; at: Date },
  max: number,
): Promise<boolean> {
  return changesAny(tx)`
    insert into saved_searches (reporter_id, name, query, saved_at)
    select ${reporterId}, ${name}, ${query}, ${at}
    where (select count(*) from saved_searches
      where reporter_id = ${reporterId} and name <> ${name}) < ${max}
    on conflict (reporter_id, name) do update
      set query = excluded.query, saved_at = excluded.saved_at`
}

/** Deletes a saved search; false if there is none with this name. */
export function removeSavedSearch(tx: Db, reporterId: string, name: string): Promise<boolean> {
  return changesAny(tx)`
    delete from saved_searches where reporter_id = ${reporterId} and name = ${name}`
}

/** A report as shown in a list, with results of its analysis. */
export type FoundReport = {
  id: string
  reporterId: string
  receivedAt: Date
  state: ReportState
  kind: ReportKind
  channel: Channel
  author: string | null
  subject: string | null
  originIp: string | null
  networkName: string | null
  verdictClass: string | null
  /** Whether the report has no effect on others. */
  isHeld: boolean
}

/** Returns reports by id, newest first. */
export function listFoundReports(db: Db, ids: readonly string[]): Promise<FoundReport[]> {
  return rowsOf(db)`
    select reports.id, reporter_id as "reporterId", received_at as "receivedAt", state, kind,
      channel, author, subject, host(origin_ip) as "originIp", network_name as "networkName",
      verdict_class as "verdictClass", shadow is not null as "isHeld"
    from reports left join analyses on analyses.id = reports.id and analyses.shard = reports.shard
      and ${isOneOfIds('analyses.id', ids)}
    where ${isOneOfIds('reports.id', ids)} order by reports.id desc`
}
