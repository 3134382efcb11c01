import { createHash } from 'node:crypto'
import { pack, type Packed } from '../db/packed.ts'
import { ensurePartitions } from '../db/partitions.ts'
import { inTransaction, type Db, type Pool } from '../db/pool.ts'
import { claimReportKeys } from '../db/report-keys.ts'
import { insertRawMessages } from '../db/raw-messages.ts'
import { insertReports, type Channel, type NewReport, type ReportKind } from '../db/reports.ts'
import { sqlState } from '../errors.ts'
import { extractFields } from '../mail/extract-fields.ts'
import { normalizedForHash } from '../mail/message.ts'
import type { Boss } from '../queue/boss.ts'
import { analyzeReport } from '../queue/queues.ts'
import { send } from '../queue/send.ts'
import { type Clock, uuidv7 } from '../world.ts'

/** A message somebody reports, already found fit by `refusalOf`. */
export type Submission = {
  reporterId: string
  channel: Channel
  kind: ReportKind
  raw: Buffer
  comment: string | null
  /** CIDR blocks of the relays the reporter trusts. */
  receivedVia: readonly string[]
}

/** The report a submission became; `isRepeat` when the reporter had sent the same bytes before. */
export type Accepted = { id: string; isRepeat: boolean }

/** Takes reports in. */
export type Intake = {
  /**
   * Resolves once the raw message, its fields and its job are committed together. Rejects when
   * they could not be: then nothing of it is stored, and the reporter may try again.
   */
  accept: (submission: Submission) => Promise<Accepted>
}

type Needs = { pool: Pool; boss: Boss; clock: Clock }
type Prepared = { report: NewReport; packed: Packed; contentHash: Buffer; key: string }
type Waiting = {
  prepared: Prepared
  resolve: (accepted: Accepted) => void
  reject: (error: unknown) => void
}

const BATCH_REPORTS_MAX = 64
const BATCH_BYTES_MAX = 8_000_000
/** One batch commits while the next fills and begins. */
const BATCHES_AT_ONCE = 2
/** SQLSTATE check_violation: also "no partition of relation found for row". */
const NO_PARTITION = '23514'

/**
 * An intake that puts concurrent submissions into one transaction: while one batch commits, the
 * next gathers. A lone submission waits for nobody.
 */
export function createIntake(app: Needs): Intake {
  const waiting: Waiting[] = []
  let running = 0

  function pump(): void {
    while (running < BATCHES_AT_ONCE && waiting.length > 0) {
      running++
      void keepBatch(app, takeBatch(waiting)).finally(() => {
        running--
        pump()
      })
    }
  }

  return {
    async accept(submission) {
      const prepared = await prepare(submission, app.clock())
      return new Promise((resolve, reject) => {
        waiting.push({ prepared, resolve, reject })
        pump()
      })
    },
  }
}

/** The hash that makes two reports of one reporter the same. */
export function contentHash(raw: Buffer): Buffer {
  return createHash('sha256').update(normalizedForHash(raw)).digest()
}

async function prepare(submission: Submission, now: Date): Promise<Prepared> {
  const { raw, reporterId } = submission
  const hash = contentHash(raw)
  const fields = extractFields(raw)
  return {
    contentHash: hash,
    key: `${hash.toString('base64')} ${reporterId}`,
    packed: await pack(raw),
    report: {
      id: uuidv7(now),
      reporterId,
      channel: submission.channel,
      kind: submission.kind,
      receivedAt: now,
      messageBytes: raw.length,
      author: fields.fromAddress,
      subject: fields.subject,
      messageId: fields.messageId,
      datedAt: fields.date === null ? null : new Date(fields.date),
      comment: submission.comment,
      receivedVia: submission.receivedVia,
    },
  }
}

function takeBatch(waiting: Waiting[]): Waiting[] {
  let bytes = 0
  const past = waiting.findIndex(({ prepared }, index) => {
    bytes += prepared.packed.content.length
    return index > 0 && (index >= BATCH_REPORTS_MAX || bytes > BATCH_BYTES_MAX)
  })
  return waiting.splice(0, past === -1 ? waiting.length : past)
}

async function keepBatch(app: Needs, batch: Waiting[]): Promise<void> {
  try {
    const accepted = await keepInTime(app, batch)
    batch.forEach(({ resolve }, index) => {
      const answer = accepted[index]
      if (answer) resolve(answer)
    })
  } catch (error) {
    if (batch.length === 1) return batch[0]?.reject(error)
    // One report that cannot be stored must not take its neighbors down.
    for (const alone of batch) await keepBatch(app, [alone])
  }
}

/** Where no partition takes the present week (the chores that make them stood still), makes it. */
async function keepInTime(app: Needs, batch: readonly Waiting[]): Promise<Accepted[]> {
  const attempt = () => inTransaction(app.pool, (tx) => keep(tx, app.boss, batch))
  try {
    return await attempt()
  } catch (error) {
    if (sqlState(error) !== NO_PARTITION) throw error
    await ensurePartitions(app.pool, app.clock(), 1)
    return attempt()
  }
}

async function keep(tx: Db, boss: Boss, batch: readonly Waiting[]): Promise<Accepted[]> {
  const fresh = new Map<string, Prepared>()
  for (const { prepared } of batch) {
    if (!fresh.has(prepared.key)) fresh.set(prepared.key, prepared)
  }
  const candidates = [...fresh.values()]
  const owners = await claimReportKeys(
    tx,
    candidates.map(({ contentHash, report }) => ({
      contentHash,
      reporterId: report.reporterId,
      reportId: report.id,
    })),
  )
  const ownerOf = new Map(candidates.map(({ key }, index) => [key, owners[index]]))
  const news = candidates.filter(({ key, report }) => ownerOf.get(key) === report.id)
  if (news.length > 0) {
    await insertReports(
      tx,
      news.map(({ report }) => report),
    )
    await insertRawMessages(
      tx,
      news.map(({ report, packed }) => ({ id: report.id, ...packed })),
    )
    await send(
      boss,
      analyzeReport,
      news.map(({ report }) => ({ reportId: report.id })),
      tx,
    )
  }
  return batch.map(({ prepared }) => {
    const id = ownerOf.get(prepared.key) ?? prepared.report.id
    return { id, isRepeat: id !== prepared.report.id }
  })
}
