import type { App } from '../app.ts'
import { type Feedback, findFeedbackMessage, nameOf } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { pack, unpack } from '../db/rows.ts'
import { composeDigest } from '../mail/digest.ts'
import { feedbackMessageId } from '../parsing/feedback-content.ts'
import type { ComposedFeedback, ParserPool } from '../parsing/parser-pool.ts'
import { type LoadedFeedback, loadFeedback } from './load-content.ts'

const letter = '[a-z2-7](?:=\\r?\\n)?'
const token = new RegExp(
  `((?:answer/|re-)(?:=\\r?\\n)?(?:${letter}){28}-(?:=\\r?\\n)?)((?:${letter}){16})`,
  'gi',
)

const base64Lines = /(?<![A-Za-z0-9+/=])(?:[A-Za-z0-9+/]{76}\r?\n)+[A-Za-z0-9+/]{0,76}={0,2}/g

/**
 * Returns a copy of a feedback report that is safe to show to someone other than its consumer, such
 * as the reporter. The signatures in its answer links and answer address are masked, because they
 * authorize answers as the abuse desk. All other bytes and the length are unchanged. Handles 7-bit
 * text, quoted-printable, and the base64 lines that contain XARF JSON.
 */
export function concealAnswers(raw: Buffer): Buffer {
  const text = maskSignatures(raw.toString('latin1')).replace(base64Lines, (lines) => {
    const inside = Buffer.from(lines, 'base64').toString('latin1')
    const concealed = maskSignatures(inside)
    if (concealed === inside) return lines
    const digits = Buffer.from(concealed, 'latin1').toString('base64')
    let at = 0
    return lines.replace(/[A-Za-z0-9+/=]/g, () => digits.charAt(at++))
  })
  return Buffer.from(text, 'latin1')
}

function maskSignatures(text: string): string {
  return text.replace(token, (_all, kept: string, signature: string) => {
    return kept + signature.replace(/[a-z2-7]/gi, '*')
  })
}

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
): Promise<ComposedFeedback> {
  const [head] = parts
  if (!head) throw new RangeError('The content of the feedback report is not loaded.')
  const composed = await Promise.all(
    parts.map(({ packed, analysis, content }) => parser.compose(packed, analysis, content, onSlow)),
  )
  if (!feedback.isDigest && composed[0]) return composed[0]
  const { content } = head
  const digest = composeDigest({
    from: content.from,
    operator: content.operator,
    to: content.to,
    replyTo: content.answerAddress,
    date: content.createdAt,
    messageId: messageIdOf({ feedback, parts }),
    service: content.service,
    unsubscribe: content.isUnsolicited ? content.answerLinks.stop : undefined,
    reports: composed.map((one, index) => {
      const { reportId = '', number = 0 } = parts[index]?.feedback ?? {}
      return { raw: one.raw, number: `${reportId}.${number}` }
    }),
  })
  const raw = parser.sign(digest)
  return { raw, packed: await pack(raw) }
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

/** Composes a feedback report as it would be sent now; undefined if it cannot be composed. */
export type Preview = (feedback: Feedback) => Promise<Buffer | undefined>

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
  { pool, config }: Pick<App, 'pool' | 'config'>,
  parser: () => Pick<ParserPool, 'compose' | 'sign'>,
): Preview {
  return async (feedback) => {
    const loaded = (await loadFeedback(pool, [feedback], config)).get(nameOf(feedback))
    return loaded && (await composeLoaded(loaded, parser())).raw
  }
}

/**
 * Returns the copy for administrators: the stored one, or a preview if the report is not sent yet.
 * Undefined if the report was withdrawn or is part of another mail.
 */
export async function findCopy(
  db: Db,
  feedback: Feedback,
  preview: Preview,
): Promise<ExactCopy | undefined> {
  const packed = await findFeedbackMessage(db, feedback)
  if (packed) return { raw: await unpack(packed), isFinal: feedback.state !== 'held' }
  if (feedback.state !== 'queued' && feedback.state !== 'waiting') return undefined
  const raw = await preview(feedback)
  return raw && { raw, isFinal: false }
}

/**
 * Returns the copy for the reporter, without the signatures that authorize answers. Of a digest,
 * which contains other people's reports, it returns only the part about the reporter's own message.
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
  const isFinal = ['sent', 'bounced', 'refused'].includes((head ?? feedback).state)
  return raw && { raw: concealAnswers(raw), isFinal }
}
