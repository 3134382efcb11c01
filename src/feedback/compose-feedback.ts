import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import type { Consumer } from '../db/consumers.ts'
import { type Feedback, findFeedbackMessage, feedbackName } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { pack, unpack } from '../db/rows.ts'
import { concealKeysIn } from '../mail/conceal-keys.ts'
import { composeDigest } from '../mail/digest.ts'
import { withSignatureOf } from '../mail/dkim-signature.ts'
import { withoutKeys } from '../mail/keys.ts'
import { feedbackMessageId } from '../parsing/feedback-content.ts'
import type { ComposedFeedback, ParserPool } from '../parsing/parser-pool.ts'
import { healthyRecord } from '../verdict/contact-health.ts'
import { asStored, type LoadedFeedback, loadFeedback } from './load-content.ts'

/** The mail of a feedback report or a digest, and the packed copy. */
export type ComposedMail = Pick<ComposedFeedback, 'raw' | 'copy'>

/**
 * Composes the exact mail of a feedback report. The same content always gives the same bytes, so a
 * preview equals the mail that is sent. `onSlow` is called when a message takes long to compose.
 *
 * @throws if the message cannot be composed, or if `parts` is empty
 */
export async function composeLoaded(
  { feedback, parts }: LoadedFeedback,
  parser: Pick<ParserPool, 'compose' | 'sign'>,
  onSlow?: () => void,
): Promise<ComposedMail> {
  const [head] = parts
  if (!head) throw new RangeError('The content of the feedback report is not loaded.')
  const composed = await Promise.all(
    parts.map(({ packed, analysis, content }) => parser.compose(packed, analysis, content, onSlow)),
  )
  if (!feedback.isDigest && composed[0]) return composed[0]
  const { content } = head
  const compose = (mails: readonly Buffer[], shown: (text: string) => string) =>
    composeDigest({
      from: content.from,
      operator: content.operator,
      to: content.to,
      replyTo: shown(content.answerAddress),
      date: content.createdAt,
      messageId: messageIdOf({ feedback, parts }),
      service: content.service,
      unsubscribe: content.isUnsolicited ? shown(content.answerLinks.stop) : undefined,
      reports: composed.map(({ line }, index) => {
        const { reportId = '', number = 0 } = parts[index]?.feedback ?? {}
        return { raw: mails[index] ?? Buffer.of(), line, number: `${reportId}.${number}` }
      }),
    })
  const whole = composed.map((one) => one.raw)
  const raw = parser.sign(compose(whole, (text) => text))
  const copies = await Promise.all(composed.map(({ copy }) => unpack(copy)))
  const masked = compose(copies, (text) => withoutKeys(text, content.answerKeys))
  return { raw, copy: await pack(withSignatureOf(raw, masked)) }
}

/**
 * Returns the Message-ID of the mail. A digest has its own, because it contains several reports.
 */
export function messageIdOf({ feedback, parts }: Pick<LoadedFeedback, 'feedback' | 'parts'>) {
  const content = parts[0]?.content
  if (!content) throw new RangeError('The content of the feedback report is not loaded.')
  const { reportId, number, isDigest } = feedback
  if (isDigest) return `<${reportId}.${number}.digest@${content.domain}>`
  return feedbackMessageId(content)
}

/**
 * Composes the copy of a feedback report as it would be sent now; undefined if it cannot be. With a
 * consumer, neither needs to be stored.
 */
export type Preview = (feedback: Feedback, consumer?: Consumer) => Promise<Buffer | undefined>

/** The mail of a feedback report: the stored copy if it is sent or held, otherwise a preview. */
export type ExactCopy = {
  raw: Buffer
  /** Whether our mail server has received the mail, so that it no longer changes. */
  isFinal: boolean
}

/**
 * Creates previews with the code and content of the sending job, so that both give the same bytes.
 */
export function createPreview(
  { pool, config, clock }: Pick<App, 'pool' | 'config' | 'clock'>,
  parser: () => Pick<ParserPool, 'compose' | 'sign'>,
): Preview {
  return async (feedback, consumer) => {
    const read = { consumers: consumer ? [consumer] : [], reports: [] }
    const all = await loadFeedback(pool, [feedback], config, clock(), read)
    const loaded = all.get(feedbackName(feedback))
    return loaded && unpack((await composeLoaded(loaded, parser())).copy)
  }
}

/**
 * Returns the copy of a feedback report, which has no keys: the stored one, or a preview if the
 * report is not sent yet.
 * Undefined if the report was withdrawn or is part of another mail.
 */
export async function findCopy(
  db: Db,
  feedback: Feedback,
  preview: Preview,
): Promise<ExactCopy | undefined> {
  const packed = await findFeedbackMessage(db, feedback)
  if (packed) {
    const raw = await unpack(packed)
    return {
      raw: packed.isMasked ? raw : concealKeysIn(raw),
      isFinal: hasLeft(feedback),
    }
  }
  if (feedback.state !== 'queued' && feedback.state !== 'waiting') return undefined
  const raw = await preview(feedback)
  return raw && { raw, isFinal: false }
}

/**
 * Returns the copy for the reporter. Of a digest, which contains other people's reports, it returns
 * only the part about the reporter's own message.
 */
export async function findOwnCopy(
  db: Db,
  feedback: Feedback,
  head: Feedback | undefined,
  preview: Preview,
): Promise<ExactCopy | undefined> {
  const isInDigest = feedback.isDigest || (feedback.state === 'merged' && head?.isDigest === true)
  if (!isInDigest) return findCopy(db, feedback, preview)
  if (feedback.state === 'withdrawn') return undefined
  const raw = await preview({ ...feedback, isDigest: false, incidents: 1 })
  return raw && { raw, isFinal: hasLeft(head ?? feedback) }
}

/** The number of a mail that `composeKept` returns; a stored one has another. */
export const KEPT = 0

/**
 * Composes the feedback report that the network of a kept report would get if the report were
 * forwarded. Stores nothing. Undefined if the network has no contact.
 */
export async function composeKept(
  db: Db,
  reportId: string,
  preview: Preview,
): Promise<{ feedback: Feedback; copy: ExactCopy } | undefined> {
  const [analysis] = await listPackedAnalyses(db, [reportId])
  const address = analysis?.network?.abuse
  if (!address) return undefined
  const desk: Consumer = {
    ...{ id: reportId, address, state: 'found', source: 'network', ...healthyRecord },
    ...{ pausedUntil: null, enrolledAt: null, originalsSince: null, originalsUntil: null },
    ...{ format: 'arf', form: 'whole', pace: 'at-once', takes: null },
    ...{ hourlyMax: null, connectionsMax: null },
  }
  const { analyzedAt: createdAt } = analysis
  const feedback = asStored({ reportId, number: 1, consumerId: desk.id, address, createdAt })
  const raw = await preview(feedback, desk)
  return raw && { feedback: { ...feedback, number: KEPT }, copy: { raw, isFinal: false } }
}

function hasLeft({ state }: Pick<Feedback, 'state'>): boolean {
  return state === 'sent' || state === 'bounced' || state === 'refused'
}
