import sql from 'sql-template-tag'
import { shardOf, SHARDS } from '../world.ts'
import { lockClasses } from './lock-keys.ts'
import type { Db } from './pool.ts'
import { commitOfRounds, isOneOfIds, preparedInsert, preparedRowsOf } from './prepared.ts'
import { named } from './rows.ts'

/** The evidence from a report, packed by `counting/evidence.ts`. */
export type ReportedEvidence = { id: string; content: Buffer }

/**
 * Stores the evidence from reports, in the transaction that appends it. Returns the previous
 * evidence of reports that already had some.
 */
export async function replaceReportedEvidence(
  tx: Db,
  rows: readonly ReportedEvidence[],
): Promise<ReportedEvidence[]> {
  const inserted = await insertReportedEvidence(tx, rows)
  const known = rows.filter(({ id }) => !inserted.has(id))
  if (known.length === 0) return []
  const before = await takeReportedEvidence(
    tx,
    known.map(({ id }) => id),
  )
  await insertReportedEvidence(tx, known)
  return before
}

/** Stores evidence, except from reports that have some; returns the ids of the others. */
async function insertReportedEvidence(
  tx: Db,
  rows: readonly ReportedEvidence[],
): Promise<Set<string>> {
  const all = rows.map(({ id, content }) => [id, shardOf(id), content])
  const { rows: inserted } = await tx.query<{ id: string }>(
    preparedInsert(
      all,
      (values) => sql`
        insert into reported_evidence (id, shard, content) values ${values}
        on conflict (id, shard) do nothing returning id`,
    ),
  )
  return new Set(inserted.map(({ id }) => id))
}

/** Returns the evidence from reports that have some, unordered. */
export function listReportedEvidence(db: Db, ids: readonly string[]): Promise<ReportedEvidence[]> {
  return preparedRowsOf(db)`
    select id, content from reported_evidence where ${isOneOfIds('id', ids)}`
}

/**
 * Deletes and returns the evidence from reports in the order of their ids, in the transaction that
 * appends its opposite. Reports without evidence, or whose evidence was taken before, are absent.
 */
export async function takeReportedEvidence(
  tx: Db,
  ids: readonly string[],
): Promise<ReportedEvidence[]> {
  if (ids.length === 0) return []
  const taken = await preparedRowsOf(tx)<ReportedEvidence>`
    delete from reported_evidence where ${isOneOfIds('id', ids)} returning id, content`
  return taken.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/**
 * Packed evidence that is not folded into reputations yet. `shard` is the shard of its reports;
 * `part` says which subjects it is about, see `counting/evidence.ts`.
 */
export type EvidenceRow = { shard: number; part: number; id: string; content: Buffer }

/** Appends evidence. It counts exactly once, if the transaction commits. */
export async function insertEvidence(tx: Db, rows: readonly EvidenceRow[]): Promise<void> {
  if (rows.length === 0) return
  const all = rows.map(({ part, id, shard, content }) => [part, id, shard, content])
  await tx.query(
    preparedInsert(
      all,
      (values) => sql`insert into reputation_evidence (part, id, shard, content) values ${values}`,
    ),
  )
}

/**
 * Locks the folding of parts until the transaction ends, and returns those that were free. Folding
 * needs no synchronous commit, except with Citus: its transaction also deletes the evidence, so if
 * the server dies and loses the commit, the evidence is still there. The rows of the parts are
 * updated first, so that it waits for a fold that a crash left prepared on a node.
 */
export async function claimEvidence(tx: Db, parts: readonly number[]): Promise<number[]> {
  const { rows } = await tx.query<{ part: number; free: boolean }>(named('claim-evidence')`
    with settings as materialized (
      select set_config('synchronous_commit', ${commitOfRounds()}, true),
        set_config('enable_seqscan', 'off', true))
    select part, pg_try_advisory_xact_lock(${lockClasses.evidence}, part) as free
    from settings, unnest(${parts}::int[]) as part`)
  const claimed = rows.flatMap(({ part, free }) => (free ? part : []))
  if (claimed.length > 0) await raiseVersions(tx, claimed)
  return claimed
}

export function shardOfPart(part: number): number {
  return part % SHARDS
}

async function raiseVersions(tx: Db, parts: readonly number[]): Promise<void> {
  // The shards are named, because Citus lets an update of all shards wait for any other.
  await tx.query(named('raise-evidence-versions')`
    update evidence_parts set version = version + 1
    where part = any(${parts}::int[]) and shard = any(${parts.map(shardOfPart)}::int[])`)
}

/** Locks the folding of a part until the transaction ends, and waits for the lock. */
export async function awaitEvidence(tx: Db, part: number): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(${lockClasses.evidence}, ${part})`)
  await raiseVersions(tx, [part])
}

/** Deletes and returns rows of parts, oldest first. */
export async function takeEvidence(
  tx: Db,
  parts: readonly number[],
  ids: readonly string[],
): Promise<EvidenceRow[]> {
  const { rows } = await tx.query<EvidenceRow>(named('take-evidence')`
    delete from reputation_evidence where part = any(${parts}::int[]) and id = any(${ids}::uuid[])
    returning shard, part, id, content`)
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The evidence of one part that is not folded yet. */
export type EvidenceBacklog = { part: number; rows: number; bytes: number; oldestId: string }

/** Returns the parts with evidence to fold, the one that has waited longest first. */
export function listEvidenceBacklogs(db: Db): Promise<EvidenceBacklog[]> {
  return preparedRowsOf(db)`
    select part, count(*)::int as rows, sum(octet_length(content)) as bytes,
      min(id::text) as "oldestId"
    from reputation_evidence group by part order by min(id::text)`
}
