import type { Db } from './pool.ts'
import { values } from './rows.ts'

/** What a report is evidence of, packed by `counting/evidence.ts`. */
export type ReportedEvidence = { id: string; content: Buffer }

/** Keeps what reports are evidence of, in the transaction that appends it. */
export async function insertReportedEvidence(
  tx: Db,
  rows: readonly ReportedEvidence[],
): Promise<void> {
  if (rows.length === 0) return
  const { text, params } = values(rows.map(({ id, content }) => [id, content]))
  await tx.query(`insert into reported_evidence (id, content) values ${text}`, params)
}

/**
 * Takes away what reports are evidence of and gives it, in the transaction that appends the
 * opposite. Those that are no evidence, or not any more, are absent.
 */
export async function takeReportedEvidence(
  tx: Db,
  ids: readonly string[],
): Promise<ReportedEvidence[]> {
  if (ids.length === 0) return []
  const { rows } = await tx.query<ReportedEvidence>(
    `delete from reported_evidence where id = any($1::uuid[]) returning id, content`,
    [ids],
  )
  return rows
}

/** Evidence that is not folded yet, packed. */
export type EvidenceRow = { shard: number; id: string; content: Buffer }

/** Apart from the other advisory locks of the program. */
const LOCK_CLASS = 20_815

/** Appends evidence: it counts when the transaction commits, and then exactly once. */
export async function insertEvidence(tx: Db, rows: readonly EvidenceRow[]): Promise<void> {
  if (rows.length === 0) return
  const { text, params } = values(rows.map(({ shard, id, content }) => [shard, id, content]))
  await tx.query(`insert into reputation_evidence (shard, id, content) values ${text}`, params)
}

/**
 * Makes this transaction the only one that folds a shard; false at once while another does. It
 * needs no commit on the disk: if the server dies the evidence is there again.
 */
export async function claimEvidence(tx: Db, shard: number): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(
    `select set_config('synchronous_commit', 'off', true),
       set_config('enable_seqscan', 'off', true),
       pg_try_advisory_xact_lock($1, $2) as free`,
    [LOCK_CLASS, shard],
  )
  return rows[0]?.free === true
}

/** The same, but waits for whoever folds the shard. */
export async function awaitEvidence(tx: Db, shard: number): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, $2)', [LOCK_CLASS, shard])
}

/** The oldest rows of a shard with their sizes, without reading them. */
export async function listEvidence(
  db: Db,
  shard: number,
  rowsMax: number,
): Promise<{ id: string; bytes: number }[]> {
  const { rows } = await db.query<{ id: string; bytes: number }>(
    `select id, octet_length(content) as bytes from reputation_evidence
     where shard = $1 order by id limit $2`,
    [shard, rowsMax],
  )
  return rows
}

/** Takes rows of a shard away, and gives what was in them, the oldest first. */
export async function takeEvidence(
  tx: Db,
  shard: number,
  ids: readonly string[],
): Promise<Buffer[]> {
  const { rows } = await tx.query<{ id: string; content: Buffer }>(
    `delete from reputation_evidence where shard = $1 and id = any($2::uuid[])
     returning id, content`,
    [shard, ids],
  )
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ content }) => content)
}

/** What waits in a shard. */
export type EvidenceBacklog = { shard: number; rows: number; bytes: number; oldestId: string }

/** The shards in which evidence waits, the one that waits longest first. */
export async function listEvidenceBacklogs(db: Db): Promise<EvidenceBacklog[]> {
  const { rows } = await db.query<EvidenceBacklog>(
    `select shard, count(*)::int as rows, sum(octet_length(content)) as bytes,
       min(id::text) as "oldestId"
     from reputation_evidence group by shard order by min(id::text)`,
  )
  return rows
}
