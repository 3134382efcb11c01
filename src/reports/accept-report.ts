import { hash } from 'node:crypto'
import { claimReportKeys } from '../db/idempotency-keys.ts'
import { ensurePartitions } from '../db/partitions.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import type { KindChange } from '../db/report-events.ts'
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
import { type Boss, send } from '../queue/boss.ts'
import { analyzeReport } from '../queue/queues.ts'
import { type Clock, uuidv7 } from '../world.ts'
import { changeReports } from './change-report.ts'

/** Takes messages out of files that hold them, where strangers' bytes are read. */
export type Unpacker = (
  file: GivenFile,
  limits: UnpackLimits,
  msMax?: number,
) => Promise<Unpacked[]>

/**
 * The messages of a file that somebody gave, whatever it is: one that holds none of the forms of
 * `mail/containers` is one message, or nothing, and is given back as it is. Never rejects: what
 * cannot be read in time is refused.
 */
export type UnpackUpload = (
  bytes: Buffer,
  name: string,
  /** What the files of the same upload left of its limits. */
  left?: Partial<UnpackLimits & { msMax: number }>,
) => Promise<Unpacked[]>

/** Messages of one upload. */
export const UPLOAD_MESSAGES_MAX = 500
/** With those that are skipped: folders, and what systems add. */
const ENTRIES_MAX = 2_000

/** What one upload may unpack to: as many bytes as it may bring unpacked. */
export function uploadLimits(messageBytesMax: number): UnpackLimits {
  return {
    messagesMax: UPLOAD_MESSAGES_MAX,
    entriesMax: ENTRIES_MAX,
    unpackedBytesMax: uploadBytesMax(messageBytesMax),
  }
}

/** The bytes of one upload, all its files and fields together. */
export function uploadBytesMax(messageBytesMax: number): number {
  return messageBytesMax * 2
}

/** Only what holds messages goes to the unpacker; a bare message costs a look at its start. */
export function createUnpackUpload(unpack: Unpacker, limits: UnpackLimits): UnpackUpload {
  return async (bytes, name, { msMax, ...left } = {}) => {
    if (containerOf(bytes) === undefined) return [{ name, raw: bytes }]
    try {
      return await unpack({ name, bytes }, { ...limits, ...left }, msMax)
    } catch {
      // It killed its thread, or took too long: nothing that a mail program made does.
      return [{ name, refusal: 'damaged-archive' }]
    }
  }
}

/** A report with all that is stored of it; `key` names its reporter and its content. */
export type Prepared = {
  report: NewReport
  packed: Packed
  contentHash: Buffer
  key: string
}

/**
 * What became of a submission: a `new` report; the earlier one of the same bytes, `changed` to what
 * its reporter says now; or that one as it was, `repeated`.
 */
export type Became = { id: string; is: 'new' | 'changed' | 'repeated' }

/** Some of a batch had been reported before: what was written for it must not stay. */
class Repeated extends Error {}

/**
 * Keeps reports, their raw messages and their jobs in one transaction, and returns what became of
 * each, by its key. Where a message was reported before, the earlier report is changed to what its
 * reporter says now. Keys must differ.
 *
 * Tried first as if all were new, all statements in one journey; where some are not, that is
 * rolled back and done in two steps. Repeats are rare, and a journey costs as much as ten rows.
 */
async function keepReports(
  app: { pool: Pool; boss: Boss; clock: Clock },
  reports: readonly Prepared[],
): Promise<Map<string, Became>> {
  try {
    return await inTransaction(app.pool, async (tx) => {
      const claiming = claim(tx, reports)
      const [owners] = await Promise.all([claiming, insertWithJobs(tx, app.boss, reports)])
      if (newOnes(reports, owners).length < reports.length) throw new Repeated()
      return new Map(reports.map(({ key, report: { id } }) => [key, { id, is: 'new' }]))
    })
  } catch (error) {
    if (!(error instanceof Repeated)) throw error
  }
  return inTransaction(app.pool, async (tx) => {
    const owners = await claim(tx, reports)
    await insertWithJobs(tx, app.boss, newOnes(reports, owners))
    const changed = await changeReports(tx, app, changesOf(reports, owners), app.clock())
    return new Map(
      reports.map(({ key, report }) => {
        const id = owners.get(key) ?? report.id
        const is = id === report.id ? 'new' : changed.has(id) ? 'changed' : 'repeated'
        return [key, { id, is }]
      }),
    )
  })
}

/** What is said of messages that were reported before. */
function changesOf(
  reports: readonly Prepared[],
  owners: ReadonlyMap<string, string>,
): KindChange[] {
  return reports.flatMap(({ key, report: { id, kind, comment, shadow } }) => {
    const reportId = owners.get(key)
    if (reportId === undefined || reportId === id) return []
    return [{ reportId, kind, comment, isShadowed: shadow === 'held' }]
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

/** Writes reports, their raw messages and their jobs; their keys are the caller's. */
async function insertWithJobs(tx: Db, boss: Boss, reports: readonly Prepared[]): Promise<void> {
  if (reports.length === 0) return
  await Promise.all([
    insertReports(tx, reports.map(reportOf)),
    insertRawMessages(tx, reports.map(messageOf)),
    send(boss, analyzeReport, reports.map(jobOf), tx),
  ])
}

const reportOf = ({ report }: Prepared) => report
const messageOf = ({ report, packed }: Prepared) => ({ id: report.id, ...packed })
const jobOf = ({ report }: Prepared) => ({ reportId: report.id })

/** A message somebody reports, already found fit by `refusalOf`. */
export type Submission = {
  reporterId: string
  channel: Channel
  kind: ReportKind
  message: ReadMessage
  comment: string | null
  /** CIDR blocks of the relays the reporter trusts. */
  receivedVia: readonly string[]
  /** Where the message had to be put together anew of what it was given as. */
  rebuiltFrom?: RebuiltFrom
  /** Whether it is to have no effect on others, and its reporter to notice nothing. */
  isShadowed?: boolean
}

/** Takes reports in. */
export type Intake = {
  /**
   * Resolves once the raw message, its fields and its job are committed together. Rejects when
   * they could not be: then nothing of it is stored, and the reporter may try again. Of the same
   * bytes from the same reporter, the submission that came last counts.
   */
  accept: (submission: Submission) => Promise<Became>
}

type Needs = { pool: Pool; boss: Boss; clock: Clock }
type Waiting = {
  prepared: Prepared
  resolve: (became: Became) => void
  reject: (error: unknown) => void
}

const BATCH_REPORTS_MAX = 64
const BATCH_BYTES_MAX = 8_000_000
/** SQLSTATE check_violation: also "no partition of relation found for row". */
const NO_PARTITION = '23514'

/**
 * An intake that puts concurrent submissions into one transaction: while one batch commits, the
 * next gathers. A lone submission waits for nobody. One batch at a time: two were 15 % slower,
 * because both were smaller.
 */
export function createIntake(app: Needs): Intake {
  const waiting: Waiting[] = []
  let isKeeping = false

  function pump(): void {
    if (isKeeping || waiting.length === 0) return
    isKeeping = true
    void keepBatch(app, takeBatch(waiting)).finally(() => {
      isKeeping = false
      pump()
    })
  }

  async function keepOne(submission: Submission, mark: Mark): Promise<Became> {
    const prepared = await prepareReport(submission, app.clock(), mark)
    return new Promise((resolve, reject) => {
      waiting.push({ prepared, resolve, reject })
      pump()
    })
  }

  /** The last submission under each key that is not kept yet: the same bytes go one by one. */
  const last = new Map<string, Promise<Became>>()

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

/** What tells submissions apart: the bytes and their reporter. */
type Mark = Pick<Prepared, 'contentHash' | 'key'>

function markOf({ reporterId, message }: Submission): Mark {
  const contentHash = hash('sha256', normalizedForHash(message.raw), 'buffer')
  return { contentHash, key: `${contentHash.toString('base64')} ${reporterId}` }
}

/** Makes ready all that is stored of a submission. */
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
    const became = await keepInTime(
      app,
      batch.map(({ prepared }) => prepared),
    )
    for (const { prepared, resolve } of batch) {
      resolve(became.get(prepared.key) ?? { id: prepared.report.id, is: 'new' })
    }
  } catch (error) {
    if (batch.length === 1 || !isAboutData(error)) {
      for (const { reject } of batch) reject(error)
      return
    }
    // One report that cannot be stored must not take its neighbors down.
    for (const alone of batch) await keepBatch(app, [alone])
  }
}

/** Where no partition takes the present week (the chores that make them stood still), makes it. */
async function keepInTime(app: Needs, batch: readonly Prepared[]): Promise<Map<string, Became>> {
  try {
    return await keepReports(app, batch)
  } catch (error) {
    if (sqlState(error) !== NO_PARTITION) throw error
    await ensurePartitions(app.pool, app.clock(), 1)
    return keepReports(app, batch)
  }
}

/** SQLSTATE classes of data and integrity: what one row of a batch can be at fault for. */
function isAboutData(error: unknown): boolean {
  return ['22', '23'].includes(sqlState(error)?.slice(0, 2) ?? '')
}
