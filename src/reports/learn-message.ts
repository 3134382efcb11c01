import type { Pool } from '../db/pool.ts'
import { findReporterByEmail, insertReporter } from '../db/reporters.ts'
import type { ReportKind } from '../db/reports.ts'
import { looksLikeMessage, type ReadMessage } from '../mail/message.ts'
import { exceedsLimits } from '../mail/mime-leaves.ts'
import { type Clock, uuidv7 } from '../world.ts'
import type { Intake, Submission } from './accept-report.ts'

/** What a message may be at most. */
export type MessageLimits = {
  bytesMax: number
  headersMax: number
  partsMax: number
  nestingMax: number
}

/** Generous to real mail: the corpus holds none above 250 header fields, 40 parts, 6 levels. */
export const structureLimits = { headersMax: 2_000, partsMax: 1_000, nestingMax: 30 }

/** Why a message is not taken in; `status` as HTTP has it. */
export type Refusal = {
  status: 400 | 413 | 422
  reason: 'not-a-message' | 'too-big' | 'too-many-headers' | 'too-many-parts' | 'nested-too-deep'
  detail: string
}

/** Looks at the bytes once, in linear time, before anything is stored. */
export function messageRefusal(
  { raw, header }: ReadMessage,
  limits: MessageLimits,
): Refusal | undefined {
  if (raw.length > limits.bytesMax) {
    return {
      status: 413,
      reason: 'too-big',
      detail: `The message has ${raw.length} bytes; at most ${limits.bytesMax} are taken.`,
    }
  }
  if (!looksLikeMessage(header)) {
    return {
      status: 400,
      reason: 'not-a-message',
      detail:
        'This is not a mail message with its header. Send the complete source, ' +
        'beginning with lines such as "Received:" or "From:".',
    }
  }
  return refusals[exceedsLimits(raw, limits) ?? 'none']
}

const refusals: Record<'headers' | 'parts' | 'nesting' | 'none', Refusal | undefined> = {
  none: undefined,
  headers: {
    status: 422,
    reason: 'too-many-headers',
    detail: `The message has more than ${structureLimits.headersMax} header fields.`,
  },
  parts: {
    status: 422,
    reason: 'too-many-parts',
    detail: `The message has more than ${structureLimits.partsMax} parts.`,
  },
  nesting: {
    status: 422,
    reason: 'nested-too-deep',
    detail: `The message is nested more than ${structureLimits.nestingMax} levels deep.`,
  },
}

/** Takes in what a mail server, or its users through it, says of a message. */
export type Learn = (message: ReadMessage, kind: Learnable) => Promise<Lesson>

/** What a message can be learned as. */
export type Learnable = Extract<ReportKind, 'spam' | 'not-spam'>

/** What became of it: `known` when these bytes were learned as the same before. */
type Lesson = 'learned' | 'known'

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
