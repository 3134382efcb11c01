import sql from 'sql-template-tag'
import type { Db } from './pool.ts'
import { preparedInsert } from './prepared.ts'
import { rowOf } from './rows.ts'

export type KeptAnswer = { status: number; body: string }

/**
 * Binds a client's key to the hash of its request body. Returns the hash that the key is bound to
 * (different from `bodyHash` when the client used the key for another request), and the answer if
 * one is stored.
 */
export async function claimIdempotencyKey(
  db: Db,
  claim: { keyHash: Buffer; bodyHash: Buffer; now: Date },
): Promise<{ bodyHash: Buffer; answer: KeptAnswer | undefined }> {
  await db.query(sql`
    insert into idempotency_keys (key_hash, body_hash, created_at) values (${claim.keyHash},
      ${claim.bodyHash}, ${claim.now})
    on conflict (key_hash) do nothing`)
  const row = await findKey(db, claim.keyHash)
  return { bodyHash: row?.bodyHash ?? claim.bodyHash, answer: row && answerOf(row) }
}

/**
 * Stores the answer for an idempotency key, unless one is stored already; returns the stored
 * answer.
 */
export async function keepFirstAnswer(
  db: Db,
  keyHash: Buffer,
  { status, body }: KeptAnswer,
): Promise<KeptAnswer | undefined> {
  await db.query(sql`update idempotency_keys set answer_status = ${status}, answer_body = ${body}
    where key_hash = ${keyHash} and answer_status is null`)
  const row = await findKey(db, keyHash)
  return row && answerOf(row)
}

type Row = { bodyHash: Buffer; status: number | null; body: string | null }

function findKey(db: Db, keyHash: Buffer): Promise<Row | undefined> {
  return rowOf(db)`
    select body_hash as "bodyHash", answer_status as "status", answer_body as "body"
    from idempotency_keys where key_hash = ${keyHash}`
}

function answerOf({ status, body }: Row): KeptAnswer | undefined {
  return status === null || body === null ? undefined : { status, body }
}

/** Binds a message content and its reporter to a report. */
export type ReportKey = { contentHash: Buffer; reporterId: string; reportId: string }

/**
 * Binds contents to reports. Returns the id of the report that each key belongs to, in the given
 * order: the requested one, or an earlier report of the same bytes. Waits for a transaction that is
 * claiming the same key. `keys` must not contain a pair of content and reporter twice.
 */
export async function claimReportKeys(tx: Db, keys: readonly ReportKey[]): Promise<string[]> {
  // In key order: unordered, two transactions that share keys deadlock.
  const ordered = keys.toSorted(
    (a, b) =>
      Buffer.compare(a.contentHash, b.contentHash) || (a.reporterId < b.reporterId ? -1 : 1),
  )
  const all = ordered.map(({ contentHash, reporterId, reportId }) => {
    return [contentHash, reporterId, reportId]
  })
  const { rows } = await tx.query<{ reportId: string }>(
    preparedInsert(
      all,
      (values) => sql`
        insert into report_keys (content_hash, reporter_id, report_id) values ${values}
        on conflict (content_hash, reporter_id) do nothing
        returning report_id as "reportId"`,
    ),
  )
  const claimed = new Set(rows.map(({ reportId }) => reportId))
  const taken = keys.filter(({ reportId }) => !claimed.has(reportId))
  const owners = taken.length > 0 ? await listOwners(tx, taken) : new Map<string, string>()
  return keys.map((key) => owners.get(contentKey(key)) ?? key.reportId)
}

/** Returns the oldest report that has a key. */
export async function findOldestKey(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ reportId: string }>(sql`
    select report_id as "reportId" from report_keys order by report_id limit 1`)
  return rows[0]?.reportId
}

/** Deletes the keys of reports with ids from `after` (inclusive) to `before` (exclusive). */
export async function removeReportKeys(db: Db, after: string, before: string): Promise<void> {
  await db.query(sql`delete from report_keys where report_id >= ${after} and report_id < ${before}`)
}

async function listOwners(tx: Db, keys: readonly ReportKey[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<ReportKey>(sql`
    select content_hash as "contentHash", reporter_id as "reporterId", report_id as "reportId"
    from report_keys
      where content_hash = any(${keys.map(({ contentHash }) => contentHash)}::bytea[])`)
  return new Map(rows.map((row) => [contentKey(row), row.reportId]))
}

function contentKey({ contentHash, reporterId }: Omit<ReportKey, 'reportId'>): string {
  return `${contentHash.toString('base64')} ${reporterId}`
}
