import { moveReportKey } from '../db/report-keys.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { findReporterByEmail, insertReporter } from '../db/reporters.ts'
import { findReport, type ReportKind } from '../db/reports.ts'
import type { ReadMessage } from '../mail/message.ts'
import type { Boss } from '../queue/boss.ts'
import { type Clock, uuidv7 } from '../world.ts'
import { type Intake, prepareReport, type Submission } from './accept-report.ts'
import { insertWithJobs } from './keep-reports.ts'
import { retractIn } from './retract-report.ts'

/** Takes in what a mail server, or its users through it, says of a message. */
export type Learn = (message: ReadMessage, kind: Learnable) => Promise<Lesson>

/** What a message can be learned as. */
export type Learnable = Extract<ReportKind, 'spam' | 'not-spam'>

/** What became of it: `known` when these bytes were learned as the same before. */
export type Lesson = 'learned' | 'relearned' | 'known'

type Needs = { pool: Pool; boss: Boss; clock: Clock; intake: Intake }

/** Whose reports they are. It has no password and no token; `.invalid` gets no mail (RFC 2606). */
export const learnerEmail = 'mail-server@signalpost.invalid'

const TRIES_MAX = 5

/**
 * Learning is reporting, by an account of the mail server that is made when it is first needed. So
 * a lesson counts exactly once, stands in the history and may be retracted. The other class for the
 * same bytes retracts the earlier report and takes its place.
 *
 * Rejects when nothing could be stored: then the mail server may try again.
 */
export function createLearn(app: Needs): Learn {
  let learner: Promise<string> | undefined
  return async (message, kind) => {
    learner ??= learnerId(app)
    const reporterId = await learner.catch((error: unknown) => {
      learner = undefined
      throw error
    })
    const submission: Submission = {
      reporterId,
      channel: 'learn',
      kind,
      message,
      comment: null,
      receivedVia: [],
    }
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const { id, isRepeat } = await app.intake.accept(submission)
      if (!isRepeat) return 'learned'
      const report = await findReport(app.pool, id)
      const isGone = !report || report.state === 'retracted'
      if (!isGone && report.kind === kind) return 'known'
      if (await replace(app, id, submission)) return isGone ? 'learned' : 'relearned'
    }
    throw new Error('Others are learning the same message as something else.')
  }
}

async function learnerId({ pool, clock }: Pick<Needs, 'pool' | 'clock'>): Promise<string> {
  const known = await findReporterByEmail(pool, learnerEmail)
  if (known) return known.id
  const createdAt = clock()
  const fresh = { id: uuidv7(createdAt), email: learnerEmail, createdAt }
  const made = await insertReporter(pool, { ...fresh, passwordHash: null, isAdmin: false })
  const id = made ?? (await findReporterByEmail(pool, learnerEmail))?.id
  if (id === undefined) throw new Error('The account vanished while it was looked for.')
  return id
}

/** False when another lesson of the same bytes was quicker. */
async function replace(app: Needs, oldId: string, submission: Submission): Promise<boolean> {
  const prepared = await prepareReport(submission, app.clock())
  const { reporterId } = submission
  const key = { contentHash: prepared.contentHash, reporterId, reportId: oldId }
  return inTransaction(app.pool, async (tx: Db) => {
    if (!(await moveReportKey(tx, key, prepared.report.id))) return false
    await retractIn(tx, app, oldId, { isReporter: true })
    await insertWithJobs(tx, app.boss, [prepared])
    return true
  })
}
