import sql from 'sql-template-tag'
import type { Network } from '../origin/networks.ts'
import type { PlainAnalysis } from '../pieces/analyze.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import type { Complaint } from '../verdict/complaint.ts'
import type { Consequence } from '../verdict/consequences.ts'
import type { Estimate } from '../verdict/model/model.ts'
import type { Verdict, VerdictClass } from '../verdict/verdict.ts'
import { shardOf } from '../world.ts'
import type { Db } from './pool.ts'
import { isId, isOneOfIds, preparedInsert, preparedRowsOf } from './prepared.ts'
import { changesAny, type Packed, rowsOf, unpack } from './rows.ts'

/**
 * The judgment of an analysis, and the marketer and the mailing service that sent the message: null
 * when none did, undefined when this was not checked.
 */
export type StoredJudgment = {
  verdict: Verdict
  complaint: Complaint
  consequence: Consequence
  marketer?: RecognizedMarketer | null | undefined
  service?: RecognizedMarketer | null | undefined
  /** The campaign the report would count for if it had an effect on others. */
  campaignId?: string | undefined
}

/** All details of an analysis, to explain its verdict. */
export type AnalysisDetails = PlainAnalysis & Omit<StoredJudgment, 'marketer' | 'campaignId'>

type Findings = {
  id: string
  analyzedAt: Date
  originIp: string | null
  originConfidence: number | null
  network: Network | null
  verdictClass: string
  verdictScore: number
}

/**
 * An analysis to store. `packed` is the `PlainAnalysis` as JSON; `facts` are the packed facts that
 * the verdict is based on.
 */
export type NewAnalysis = Findings & {
  subject: string | null
  judgment: StoredJudgment
  packed: Packed
  facts: Buffer
}

export type KeptAnalysis = Findings & { details: AnalysisDetails }

/**
 * Inserts analyses, one for each report. Only `concludeLookUp` and `reopenLookUp` change them
 * later; `removeAnalyses` makes room for a new analysis of the same report.
 */
export async function insertAnalyses(tx: Db, analyses: readonly NewAnalysis[]): Promise<void> {
  const rows = analyses.map((analysis) => [
    analysis.id,
    shardOf(analysis.id),
    analysis.analyzedAt,
    analysis.originIp,
    analysis.originConfidence,
    analysis.network?.cidr ?? null,
    analysis.network?.asn ?? null,
    analysis.network?.name ?? null,
    analysis.network?.country ?? null,
    analysis.network?.abuse ?? null,
    analysis.verdictClass,
    analysis.verdictScore,
    JSON.stringify(analysis.judgment),
    analysis.packed.encoding,
    analysis.packed.content,
    analysis.facts,
  ])
  await tx.query(
    preparedInsert(
      rows,
      (values) => sql`
    insert into analyses (id, shard, analyzed_at, origin_ip, origin_confidence, network_cidr,
      network_asn, network_name, network_country, network_abuse, verdict_class, verdict_score,
      judgment, encoding, content, facts)
    values ${values}`,
    ),
  )
}

type Row = Findings & Packed & { judgment: StoredJudgment }

export async function findAnalysis(db: Db, id: string): Promise<KeptAnalysis | undefined> {
  const [row] = await listPackedAnalyses(db, [id])
  if (!row) return undefined
  const { judgment, encoding, content, ...findings } = row
  const json = (await unpack({ encoding, content })).toString()
  return {
    ...findings,
    details: { ...(JSON.parse(json) as PlainAnalysis), ...judgment } as AnalysisDetails,
  }
}

export function listOrigins(db: Db, ids: readonly string[]): Promise<{ id: string; ip: string }[]> {
  return rowsOf(db)`
    select id, host(origin_ip) as ip from analyses
    where ${isOneOfIds('id', ids)} and origin_ip is not null`
}

/** Returns what followed from reports that are analyzed, by id. */
export async function listActions(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, Consequence['action']>> {
  if (ids.length === 0) return new Map()
  const { rows } = await db.query<{ id: string; action: Consequence['action'] }>(sql`
    select id, judgment #>> '{consequence,action}' as action from analyses
    where ${isOneOfIds('id', ids)}`)
  return new Map(rows.map(({ id, action }) => [id, action]))
}

/** Deletes analyses, in the transaction that queues their reports again. */
export async function removeAnalyses(tx: Db, ids: readonly string[]): Promise<void> {
  await tx.query(sql`delete from analyses where ${isOneOfIds('id', ids)}`)
}

/** Returns the analyses of several reports, unordered and still packed. */
export function listPackedAnalyses(db: Db, ids: readonly string[]): Promise<Row[]> {
  return preparedRowsOf(db)`
    select id, analyzed_at as "analyzedAt", host(origin_ip) as "originIp",
      origin_confidence as "originConfidence",
      case when network_cidr is not null then json_build_object('cidr', network_cidr::text,
        'asn', network_asn, 'name', network_name, 'country', network_country,
        'abuse', network_abuse,
        'contacts', array_remove(array[network_abuse], null)) end as network,
      verdict_class as "verdictClass", verdict_score as "verdictScore",
      judgment, encoding, content
    from analyses where ${isOneOfIds('id', ids)}`
}

/**
 * Replaces the network and the judgment of an analysis that waits for a registry. False when
 * another run has done so, or if its origin is another one by now.
 */
export function concludeLookUp(
  tx: Db,
  { id, originIp }: { id: string; originIp: string | null },
  network: Network | null,
  judgment: StoredJudgment,
): Promise<boolean> {
  return changesAny(tx)`
    update analyses set network_cidr = ${network?.cidr}, network_asn = ${network?.asn},
      network_name = ${network?.name}, network_country = ${network?.country},
      network_abuse = ${network?.abuse}, judgment = ${JSON.stringify(judgment)}
    where ${isId('id', id)} and judgment #>> '{consequence,action}' = 'look-up'
      and origin_ip is not distinct from ${originIp}::inet`
}

/**
 * Makes an analysis wait for a registry again, after the abuse desk answered that it is not
 * responsible for the network.
 */
export async function reopenLookUp(
  tx: Db,
  id: string,
  consequence: Extract<Consequence, { action: 'look-up' }>,
): Promise<void> {
  await tx.query(sql`
    update analyses set judgment = jsonb_set(judgment, '{consequence}',
      ${JSON.stringify(consequence)}::jsonb) where ${isId('id', id)}`)
}

/** Returns the packed facts of reports, unordered. */
export function listFacts(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; facts: Buffer }[]> {
  return preparedRowsOf(db)`select id, facts from analyses where ${isOneOfIds('id', ids)}`
}

/** Returns the verdicts on reports, unordered. */
export function listVerdicts(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; verdict: StoredJudgment['verdict'] }[]> {
  return preparedRowsOf(db)`
    select id, judgment -> 'verdict' as verdict from analyses where ${isOneOfIds('id', ids)}`
}

/** Returns the facts and the judgments of reports, unordered. */
export function listStoredVerdicts(
  db: Db,
  ids: readonly string[],
): Promise<{ facts: Buffer; judgment: StoredJudgment }[]> {
  return preparedRowsOf(db)`select facts, judgment from analyses where ${isOneOfIds('id', ids)}`
}

/** The facts and the verdict of a report, as they were at its analysis. */
export type JudgedFacts = {
  id: string
  /** In the format of `packFacts`. */
  facts: Buffer
  verdictClass: VerdictClass
  /** What the model said; null when no model was active. */
  estimate: Estimate | null
}

/** Excludes reports that have no effect on others. */
const counts = sql`not exists (
  select from reports where reports.id = analyses.id and reports.shard = analyses.shard
    and shadow is not null)`

/**
 * Returns the facts of the newest reports, newest first. `before` is the last id of the previous
 * page.
 */
export function listJudgedFacts(
  db: Db,
  page: { before: string | undefined; limit: number },
): Promise<JudgedFacts[]> {
  return rowsOf(db)`
    select id, facts, verdict_class as "verdictClass",
      judgment #> '{verdict,estimate}' as estimate
    from analyses
    where (${page.before}::uuid is null or id < ${page.before}::uuid) and ${counts}
    order by id desc limit ${page.limit}`
}

/**
 * Counts how often each symbol was raised in the newest reports. Also returns the number of
 * reports.
 */
export async function countRaisedSymbols(
  db: Db,
  reports: number,
): Promise<{ reports: number; raised: ReadonlyMap<string, number> }> {
  const { rows } = await db.query<{ symbols: { name: string }[] | null }>(sql`
    select judgment #> '{verdict,symbols}' as symbols from analyses where ${counts}
    order by id desc limit ${reports}`)
  const raised = new Map<string, number>()
  for (const { name } of rows.flatMap(({ symbols }) => symbols ?? [])) {
    raised.set(name, (raised.get(name) ?? 0) + 1)
  }
  return { reports: rows.length, raised }
}
