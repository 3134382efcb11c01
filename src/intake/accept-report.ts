import { hash } from 'node:crypto'
import { pack } from '../db/packed.ts'
import { ensurePartitions } from '../db/partitions.ts'
import type { Pool } from '../db/pool.ts'
import type { Channel, ReportKind } from '../db/reports.ts'
import { sqlState } from '../errors.ts'
import type { RebuiltFrom } from '../mail/containers/unpack-file.ts'
import { fieldsOf } from '../mail/extract-fields.ts'
import { normalizedForHash, type ReadMessage } from '../mail/message.ts'
import type { Boss } from '../queue/boss.ts'
import { type Clock, uuidv7 } from '../world.ts'
import { type Became, keepReports, type Prepared } from './keep-reports.ts'

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
