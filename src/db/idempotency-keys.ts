import type { Db } from './pool.ts'
import { first, values } from './rows.ts'

/** What was answered to a request that came with a key. */
export type KeptAnswer = { status: number; body: string }

/**
 * Ties a client's key to the body it came with. Returns the hash of the body that the key belongs
 * to (another than `bodyHash` when the client used the key for something else before), and what was
 * answered to it, where that is known by now.
 */
export async function claimIdempotencyKey(
  db: Db,
  claim: { keyHash: Buffer; bodyHash: Buffer; now: Date },
): Promise<{ bodyHash: Buffer; answer: KeptAnswer | undefined }> {
  await db.query(
    `insert into idempotency_keys (key_hash, body_hash, created_at) values ($1, $2, $3)
     on conflict (key_hash) do nothing`,
    [claim.keyHash, claim.bodyHash, claim.now],
  )
  const row = first(
    await db.query<Row>(`select ${columns} from idempotency_keys where key_hash = $1`, [
      claim.keyHash,
    ]),
  )
  return { bodyHash: row?.bodyHash ?? claim.bodyHash, answer: row && answerOf(row) }
}

/** Keeps the answer to a key unless there is one, and gives the one that is kept then. */
export async function keepFirstAnswer(
  db: Db,
  keyHash: Buffer,
  { status, body }: KeptAnswer,
): Promise<KeptAnswer | undefined> {
  await db.query(
    `update idempotency_keys set answer_status = $2, answer_body = $3
     where key_hash = $1 and answer_status is null`,
    [keyHash, status, body],
  )
  const row = first(
    await db.query<Row>(`select ${columns} from idempotency_keys where key_hash = $1`, [keyHash]),
  )
  return row && answerOf(row)
}

type Row = { bodyHash: Buffer; status: number | null; body: string | null }

const columns = `body_hash as "bodyHash", answer_status as "status", answer_body as "body"`

function answerOf({ status, body }: Row): KeptAnswer | undefined {
  return status === null || body === null ? undefined : { status, body }
}

/** Forgets keys made before an instant. */
export async function removeIdempotencyKeys(db: Db, before: Date): Promise<void> {
  await db.query(`delete from idempotency_keys where created_at < $1`, [before])
}

/** One reporter's claim to one content. */
export type ReportKey = { contentHash: Buffer; reporterId: string; reportId: string }

/**
 * Claims contents for reports, and returns the id that each key now belongs to, in the order given:
 * the one asked for, or that of the earlier report of the same bytes. Waits for a transaction
 * that is claiming the same key. `keys` must hold each pair of content and reporter once.
 */
export async function claimReportKeys(tx: Db, keys: readonly ReportKey[]): Promise<string[]> {
  // In key order: unordered, two transactions that share keys deadlock.
  const ordered = keys.toSorted(
    (a, b) =>
      Buffer.compare(a.contentHash, b.contentHash) || (a.reporterId < b.reporterId ? -1 : 1),
  )
  const { text, params } = values(
    ordered.map(({ contentHash, reporterId, reportId }) => [contentHash, reporterId, reportId]),
  )
  const { rows } = await tx.query<{ reportId: string }>(
    `insert into report_keys (content_hash, reporter_id, report_id) values ${text}
     on conflict (content_hash, reporter_id) do nothing
     returning report_id as "reportId"`,
    params,
  )
  const claimed = new Set(rows.map(({ reportId }) => reportId))
  const taken = keys.filter(({ reportId }) => !claimed.has(reportId))
  const owners = taken.length > 0 ? await listOwners(tx, taken) : new Map<string, string>()
  return keys.map((key) => owners.get(nameOf(key)) ?? key.reportId)
}

/** The oldest report that has a key. */
export async function findOldestKey(db: Db): Promise<string | undefined> {
  const { rows } = await db.query<{ reportId: string }>(
    `select report_id as "reportId" from report_keys order by report_id limit 1`,
  )
  return rows[0]?.reportId
}

/** Forgets the keys of reports older than the id `before`, those from `after` on. */
export async function removeReportKeys(db: Db, after: string, before: string): Promise<void> {
  await db.query(`delete from report_keys where report_id >= $1 and report_id < $2`, [
    after,
    before,
  ])
}

async function listOwners(tx: Db, keys: readonly ReportKey[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<ReportKey>(
    `select content_hash as "contentHash", reporter_id as "reporterId", report_id as "reportId"
     from report_keys where content_hash = any($1::bytea[])`,
    [keys.map(({ contentHash }) => contentHash)],
  )
  return new Map(rows.map((row) => [nameOf(row), row.reportId]))
}

function nameOf({ contentHash, reporterId }: Omit<ReportKey, 'reportId'>): string {
  return `${contentHash.toString('base64')} ${reporterId}`
}
