import type { App } from '../app.ts'
import { type Feedback, findFeedbackMessage, nameOf } from '../db/feedback-reports.ts'
import { unpack } from '../db/packed.ts'
import type { Db } from '../db/pool.ts'
import { concealAnswers } from '../mail/conceal-answers.ts'
import type { ParserPool } from '../parsing/parser-pool.ts'
import { composeLoaded } from './compose-loaded.ts'
import { loadFeedback } from './load-content.ts'

/** The mail that a feedback report would leave as now; undefined when it cannot be composed. */
export type Preview = (feedback: Feedback) => Promise<Buffer | undefined>

/** The exact copy of a feedback report: as it left or is held, or as it would leave. */
export type ExactCopy = { raw: Buffer; hasLeft: boolean }

/** Composes as the job does, from the same content: what is shown is what leaves. */
export function createPreview(
  { pool, config }: Pick<App, 'pool' | 'config'>,
  parser: () => Pick<ParserPool, 'compose' | 'sign'>,
): Preview {
  return async (feedback) => {
    const loaded = (await loadFeedback(pool, [feedback], config)).get(nameOf(feedback))
    return loaded && (await composeLoaded(loaded, parser())).raw
  }
}

/**
 * The copy for an administrator: the stored one, else a preview of what is still to leave. What was
 * called back, or is told by another, has none.
 */
export async function findCopy(
  db: Db,
  feedback: Feedback,
  preview: Preview,
): Promise<ExactCopy | undefined> {
  const packed = await findFeedbackMessage(db, feedback)
  if (packed) return { raw: await unpack(packed), hasLeft: feedback.state !== 'held' }
  if (feedback.state !== 'queued' && feedback.state !== 'waiting') return undefined
  const raw = await preview(feedback)
  return raw && { raw, hasLeft: false }
}

/**
 * The copy for the reporter: the same, but without the signatures by which its consumer answers,
 * and of a digest, which holds what others reported, the part on the own message alone.
 */
export async function findOwnCopy(
  db: Db,
  feedback: Feedback,
  head: Feedback | undefined,
  preview: Preview,
): Promise<ExactCopy | undefined> {
  const isInDigest = feedback.isDigest || (feedback.state === 'merged' && head?.isDigest === true)
  if (!isInDigest) {
    const copy = await findCopy(db, feedback, preview)
    return copy && { ...copy, raw: concealAnswers(copy.raw) }
  }
  if (feedback.state === 'withdrawn') return undefined
  const raw = await preview({ ...feedback, isDigest: false, incidents: 1 })
  const hasLeft = ['sent', 'bounced', 'refused'].includes((head ?? feedback).state)
  return raw && { raw: concealAnswers(raw), hasLeft }
}
