import { hash } from 'node:crypto'
import { batched } from '../db/batched.ts'
import { claimReportKeys } from '../db/idempotency-keys.ts'
import { ensurePartitions } from '../db/partitions.ts'
import { inShardTransaction } from '../db/nodes.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { commitInStep, type KindChange } from '../db/report-events.ts'
import {
  type Channel,
  insertRawMessages,
  insertReports,
  type NewReport,
  type ReportKind,
} from '../db/reports.ts'
import { pack, type Packed } from '../db/rows.ts'
import { sqlState } from '../errors.ts'
import {
  containerOf,
  type GivenFile,
  type RebuiltFrom,
  type Unpacked,
  type UnpackLimits,
} from '../mail/containers/unpack-file.ts'
import { fieldsOf, normalizedForHash, type ReadMessage } from '../mail/message.ts'
import type { Outage } from '../outage/outage.ts'
import { type Boss, send } from '../queue/boss.ts'
import { type Clock, inShard, randomShard, shardOf, SHARDS, uuidTime, uuidv7 } from '../world.ts'
import { changeReports } from './change-report.ts'
import { analyzeReport } from './queues.ts'

/**
 * Extracts messages from container files, in a thread that is isolated because the input is
 * untrusted.
 */
export type Unpacker = (
  file: GivenFile,
  limits: UnpackLimits,
  msMax?: number,
) => Promise<Unpacked[]>

/**
 * Returns the messages of an uploaded file. A file in none of the formats of `mail/containers` is
 * returned unchanged as one message. Never rejects: for a file that cannot be read in time, returns
 * a refusal.
 */
export type UnpackUpload = (
  bytes: Buffer,
  name: string,
  /**
   * The limits that remain after earlier files of the same upload; `msMax` is the remaining time.
   */
  left?: Partial<UnpackLimits & { msMax: number }>,
) => Promise<Unpacked[]>

export const UPLOAD_MESSAGES_MAX = 500
/** Maximum number of archive entries, including skipped ones such as folders and system files. */
const ENTRIES_MAX = 2_000

/**
 * Returns the limits of unpacking. All unpacked files together may have the maximum size of an
 * upload.
 */
export function uploadLimits(messageBytesMax: number): UnpackLimits {
  return {
    messagesMax: UPLOAD_MESSAGES_MAX,
    entriesMax: ENTRIES_MAX,
    unpackedBytesMax: uploadBytesMax(messageBytesMax),
  }
}

/** Returns the maximum size of one upload in bytes, all files and fields together. */
export function uploadBytesMax(messageBytesMax: number): number {
  return messageBytesMax * 2
}

/**
 * Returns a function that unpacks container files in a separate thread. For a bare message, which
 * needs no thread, it only checks the first bytes.
 */
export function createUnpackUpload(unpack: Unpacker, limits: UnpackLimits): UnpackUpload {
  return async (bytes, name, { msMax, ...left } = {}) => {
    if (containerOf(bytes) === undefined) return [{ name, raw: bytes }]
    try {
      return await unpack({ name, bytes }, { ...limits, ...left }, msMax)
    } catch {
      // The file crashed the thread or exceeded the time limit, which files from mail programs do
      // not.
      return [{ name, refusal: 'damaged-archive' }]
    }
  }
}

/** A report and the rows to store with it; `key` identifies its reporter and content. */
export type Prepared = {
  report: NewReport
  packed: Packed
  contentHash: Buffer
  key: string
}

/**
 * The result of a submission. `new`: a report was added. `changed`: the reporter had reported the
 * same bytes before, and that report now has the latest statement. `repeated`: it already had this
 * statement.
 */
export type AcceptedReport = { id: string; is: 'new' | 'changed' | 'repeated' }

/** Thrown to roll back a batch in which some messages had been reported before. */
class Repeated extends Error {}

/**
 * Stores reports, their raw messages and their jobs in one transaction, and returns the results by
 * key. A message that was reported before changes the earlier report to the reporter's latest
 * statement. Keys must be unique.
 *
 * First assumes that all reports are new and sends all statements in one round trip. If some are
 * not, rolls back and repeats the work in two steps. Repeats are rare, and a round trip costs as
 * much as ten rows.
 */
async function keepReports(
  app: { pool: Pool; boss: Boss; clock: Clock },
  reports: readonly Prepared[],
): Promise<Map<string, AcceptedReport>> {
  try {
    const shard = shardOf(reports[0]?.report.id ?? '0')
    return await inShardTransaction(app.pool, shard, async (tx) => {
      const claiming = claim(tx, reports)
      const [owners] = await Promise.all([claiming, insertWithJobs(tx, app, reports)])
      if (newOnes(reports, owners).length < reports.length) throw new Repeated()
      return new Map(reports.map(({ key, report: { id } }) => [key, { id, is: 'new' }]))
    })
  } catch (error) {
    if (!(error instanceof Repeated)) throw error
  }
  return inTransaction(app.pool, (tx) => keepEither(tx, app, reports))
}

/**
 * Stores new reports with their jobs, and applies the statements about messages that were reported
 * before. Keys must be unique. If the reports are `delayed`, later statements of their reporters
 * stand.
 */
export async function keepEither(
  tx: Db,
  app: { boss: Boss; clock: Clock },
  reports: readonly Prepared[],
  arrived: 'now' | 'delayed' = 'now',
): Promise<Map<string, AcceptedReport>> {
  const owners = await claim(tx, reports)
  await insertWithJobs(tx, app, newOnes(reports, owners))
  const changes = changesOf(reports, owners, arrived)
  const changed = await changeReports(tx, app, changes, app.clock())
  return new Map(
    reports.map(({ key, report }) => {
      const id = owners.get(key) ?? report.id
      const is = id === report.id ? 'new' : changed.has(id) ? 'changed' : 'repeated'
      return [key, { id, is }]
    }),
  )
}

/** Returns the new statements about messages that were reported before. */
function changesOf(
  reports: readonly Prepared[],
  owners: ReadonlyMap<string, string>,
  arrived: 'now' | 'delayed',
): KindChange[] {
  return reports.flatMap(({ key, report: { id, kind, comment, shadow, receivedAt } }) => {
    const reportId = owners.get(key)
    if (reportId === undefined || reportId === id) return []
    const saidAt = arrived === 'delayed' ? receivedAt : undefined
    if (saidAt && saidAt < uuidTime(reportId)) return []
    return [{ reportId, kind, comment, isShadowed: shadow === 'held', saidAt }]
  })
}

async function claim(tx: Db, reports: readonly Prepared[]): Promise<Map<string, string>> {
  const owners = await claimReportKeys(
    tx,
    reports.map(({ contentHash, report: { reporterId, id } }) => ({
      contentHash,
      reporterId,
      reportId: id,
    })),
  )
  return new Map(reports.map(({ key, report }, index) => [key, owners[index] ?? report.id]))
}

function newOnes(reports: readonly Prepared[], owners: ReadonlyMap<string, string>): Prepared[] {
  return reports.filter(({ key, report }) => owners.get(key) === report.id)
}

/** Inserts reports, their raw messages and their jobs. The caller has claimed their keys. */
async function insertWithJobs(
  tx: Db,
  { boss, clock }: { boss: Boss; clock: Clock },
  reports: readonly Prepared[],
): Promise<void> {
  if (reports.length === 0) return
  await Promise.all([
    commitInStep(tx, clock()),
    insertReports(tx, reports.map(reportOf)),
    insertRawMessages(tx, reports.map(messageOf)),
    send(boss, analyzeReport, reports.map(jobOf), tx),
  ])
}

const reportOf = ({ report }: Prepared) => report
const messageOf = ({ report, packed }: Prepared) => ({ id: report.id, ...packed })
const jobOf = ({ report }: Prepared) => ({ reportId: report.id })

/** A reported message that `messageRefusal` has accepted. */
export type Submission = {
  reporterId: string
  channel: Channel
  kind: ReportKind
  message: ReadMessage
  comment: string | null
  /** CIDR blocks of the relays that the reporter trusts. */
  receivedVia: readonly string[]
  /** Set if the message was reconstructed from the submitted data. */
  rebuiltFrom?: RebuiltFrom
  /** Whether the report must not affect others, without the reporter noticing (shadow ban). */
  isShadowed?: boolean
}

export type Intake = {
  /**
   * Resolves when the raw message, its fields and its job are committed together. Rejects if
   * storing failed: then nothing is stored, and the reporter may retry. Among submissions of the
   * same bytes by the same reporter, the last one counts.
   */
  accept: (submission: Submission) => Promise<AcceptedReport>
}

type Needs = { pool: Pool; boss: Boss; clock: Clock }
/** Where reports are stored while the database is away. */
type Refuge = {
  outage: Pick<Outage, 'run'>
  /** Stores a report, and returns the id that it has from now on. */
  append: (report: Prepared) => Promise<string>
}
const BATCH_REPORTS_MAX = 64
const BATCH_BYTES_MAX = 8_000_000
/** SQLSTATE check_violation, also used for "no partition of relation found for row". */
export const NO_PARTITION = '23514'
const DEADLOCK = '40P01'

/**
 * Creates an intake that combines concurrent submissions into one transaction: while one batch
 * commits, the next is collected. A single submission does not wait. Batches are committed one at a
 * time: two in parallel were 15 % slower, because both were smaller. With a `refuge`, reports are
 * accepted while the database is away, as new ones.
 */
export function createIntake(app: Needs, refuge?: Refuge): Intake {
  const keep = batched((batch: readonly Prepared[]) => keepBatch(app, batch), { lanes: 1, fill })
  const keepOne = async (submission: Submission, mark: Mark) => {
    const prepared = await prepareReport(submission, app.clock(), mark)
    if (!refuge) return keep(prepared)
    return refuge.outage.run(
      () => keep(prepared),
      async (): Promise<AcceptedReport> => ({ id: await refuge.append(prepared), is: 'new' }),
    )
  }

  /**
   * The last pending submission for each key. Submissions of the same bytes are stored in sequence.
   */
  const last = new Map<string, Promise<AcceptedReport>>()

  return {
    async accept(submission) {
      const mark = markOf(submission)
      const before = last.get(mark.key)
      const became = before
        ? before.then(noop, noop).then(() => keepOne(submission, mark))
        : keepOne(submission, mark)
      last.set(mark.key, became)
      try {
        return await became
      } finally {
        if (last.get(mark.key) === became) last.delete(mark.key)
      }
    },
  }
}

const noop = () => undefined

/** Identifies a submission by its reporter and bytes. */
type Mark = Pick<Prepared, 'contentHash' | 'key'>

function markOf({ reporterId, message }: Submission): Mark {
  const contentHash = hash('sha256', normalizedForHash(message.raw), 'buffer')
  return { contentHash, key: keyOf(contentHash, reporterId) }
}

export function keyOf(contentHash: Buffer, reporterId: string): string {
  return `${contentHash.toString('base64')} ${reporterId}`
}

/** Prepares the rows to store for a submission. */
export async function prepareReport(
  submission: Submission,
  now: Date,
  mark: Mark = markOf(submission),
): Promise<Prepared> {
  const { reporterId } = submission
  const { raw, header } = submission.message
  const fields = fieldsOf(header.fields)
  return {
    ...mark,
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
      rebuiltFrom: submission.rebuiltFrom ?? null,
      shadow: submission.isShadowed ? 'held' : null,
    },
  }
}

/** Returns how many of the waiting reports fit into a batch. */
function fill(waiting: readonly Prepared[]): number {
  let bytes = 0
  const past = waiting.findIndex(({ packed }, index) => {
    bytes += packed.content.length
    return index > 0 && (index >= BATCH_REPORTS_MAX || bytes > BATCH_BYTES_MAX)
  })
  return past === -1 ? waiting.length : past
}

async function keepBatch(
  app: Needs,
  batch: readonly Prepared[],
): Promise<(AcceptedReport | Promise<AcceptedReport>)[]> {
  try {
    return await keepAll(app, batch)
  } catch (error) {
    if (batch.length === 1 || !isAboutData(error)) throw error
    // A single report that cannot be stored must not make the whole batch fail.
    const alone: Promise<AcceptedReport>[] = []
    for (const one of batch) {
      const kept = keepAll(app, [one]).then(([it]) => it as AcceptedReport)
      await kept.catch(noop)
      alone.push(kept)
    }
    return alone
  }
}

async function keepAll(app: Needs, batch: readonly Prepared[]): Promise<AcceptedReport[]> {
  const reports = inOneShard(batch, app.clock())
  const became = await keepInTime(app, reports)
  return reports.map(({ key, report }) => became.get(key) ?? { id: report.id, is: 'new' })
}

/**
 * Moves the ids of reports that are stored together to one shard, so that a distributed database
 * stores them on one node. A process goes on to the next shard each half second: the reports of one
 * batch of analyses are then mostly in one or two shards.
 */
function inOneShard(batch: readonly Prepared[], now: Date): Prepared[] {
  const shard = (firstShard + Math.floor(now.getTime() / SHARD_MS)) % SHARDS
  return batch.map((one) => {
    return { ...one, report: { ...one.report, id: inShard(one.report.id, shard) } }
  })
}

const SHARD_MS = 500
const firstShard = randomShard()

/**
 * Stores a batch. Creates the partition of the current week if the housekeeping job has not. Tries
 * again after a deadlock: a cluster inserts the rows of one statement in any order.
 */
async function keepInTime(
  app: Needs,
  batch: readonly Prepared[],
): Promise<Map<string, AcceptedReport>> {
  try {
    return await keepReports(app, batch)
  } catch (error) {
    const state = sqlState(error)
    if (state !== NO_PARTITION && state !== DEADLOCK) throw error
    if (state === NO_PARTITION) await ensurePartitions(app.pool, app.clock(), 1)
    return keepReports(app, batch)
  }
}

/** Whether a single row can cause this error: SQLSTATE class 22 (data) or 23 (integrity). */
export function isAboutData(error: unknown): boolean {
  return ['22', '23'].includes(sqlState(error)?.slice(0, 2) ?? '')
}
