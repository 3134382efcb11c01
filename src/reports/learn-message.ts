import type { Pool } from '../db/pool.ts'
import {
  findReporterByEmail,
  insertReporter,
  type Reporter,
  updateReporterSettings,
} from '../db/reporters.ts'
import type { ReportKind } from '../db/reports.ts'
import type { ReadMessage } from '../mail/message.ts'
import { type Clock, uuidv7 } from '../world.ts'
import type { Intake, Submission } from './accept-report.ts'

/**
 * Learns a message that a mail server classified; with a key, that one of its users classified, who
 * is then the reporter.
 */
export type Learn = (message: ReadMessage, kind: Learnable, userKey?: string) => Promise<Lesson>

/** The classes in which a message can be learned, as kinds of reports. */
export type Learnable = Extract<ReportKind, 'spam' | 'not-spam'>

/**
 * The result: `known` if the same bytes were already learned in this class. `too-often` and
 * `disabled` are about the user.
 */
type Lesson = 'learned' | 'known' | 'too-often' | 'disabled'

/** A user of the mail server, and whether the limits admit another report. */
type Learner = { id: string; admission: 'admitted' | 'shadowed' }

type Needs = {
  pool: Pool
  clock: Clock
  intake: Intake
  /** Admits a report of the user whom the mail server's account names by a key. */
  admitUser: (server: Reporter, key: string) => Promise<Learner | 'too-often' | 'disabled'>
}

/**
 * The account of learned messages. It has no password and no token; `.invalid` receives no mail
 * (RFC 2606).
 */
export const learnerEmail = 'mail-server@signalpost.invalid'

/**
 * Stores a learned message as a report by the mail server's account, which is created on first use.
 * So each message counts once, appears in the history and can be retracted. If the same bytes are
 * learned in the other class, the earlier report changes.
 *
 * Rejects if nothing could be stored; the mail server may retry.
 */
export function createLearn(app: Needs): Learn {
  let learner: Promise<string> | undefined
  return async (message, kind, userKey) => {
    learner ??= learnerId(app)
    const serverId = await learner.catch((error: unknown) => {
      learner = undefined
      throw error
    })
    const server: Reporter = { id: serverId, email: learnerEmail, role: null }
    const user = userKey === undefined ? undefined : await app.admitUser(server, userKey)
    if (typeof user === 'string') return user
    const submission: Submission = {
      reporterId: user?.id ?? serverId,
      isShadowed: user?.admission === 'shadowed',
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
  const made = await insertReporter(pool, { ...fresh, passwordHash: null, role: null })
  const id = made ?? (await findReporterByEmail(pool, learnerEmail))?.id
  if (id === undefined) throw new Error('The account was deleted during the lookup.')
  await updateReporterSettings(pool, id, { wantsAnswers: false, wantsAdvice: false })
  return id
}
