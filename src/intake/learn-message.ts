import type { Pool } from '../db/pool.ts'
import { findReporterByEmail, insertReporter } from '../db/reporters.ts'
import type { ReportKind } from '../db/reports.ts'
import type { ReadMessage } from '../mail/message.ts'
import { type Clock, uuidv7 } from '../world.ts'
import type { Intake, Submission } from './accept-report.ts'

/** Takes in what a mail server, or its users through it, says of a message. */
export type Learn = (message: ReadMessage, kind: Learnable) => Promise<Lesson>

/** What a message can be learned as. */
export type Learnable = Extract<ReportKind, 'spam' | 'not-spam'>

/** What became of it: `known` when these bytes were learned as the same before. */
export type Lesson = 'learned' | 'known'

type Needs = { pool: Pool; clock: Clock; intake: Intake }

/** Whose reports they are. It has no password and no token; `.invalid` gets no mail (RFC 2606). */
export const learnerEmail = 'mail-server@signalpost.invalid'

/**
 * Learning is reporting, by an account of the mail server that is made when it is first needed. So
 * a lesson counts exactly once, stands in the history and may be retracted. The other class for the
 * same bytes changes the earlier report.
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
    const { is } = await app.intake.accept(submission)
    return is === 'repeated' ? 'known' : 'learned'
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
