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
 * The copy of a feedback report for somebody who is not its consumer, such as the reporter: the
 * signatures of its answer links and of its answer address are blotted out, for who has them speaks
 * for the desk. Everything else, and its length, stays to the byte. It sees text in 7 bits, in
 * quoted-printable, and in lines of base64 as the JSON of XARF leaves.
 */
export function concealAnswers(raw: Buffer): Buffer {
  const text = blotted(raw.toString('latin1')).replace(base64Lines, (lines) => {
    const inside = Buffer.from(lines, 'base64').toString('latin1')
    const concealed = blotted(inside)
    if (concealed === inside) return lines
    const digits = Buffer.from(concealed, 'latin1').toString('base64')
    let at = 0
    return lines.replace(/[A-Za-z0-9+/=]/g, () => digits.charAt(at++))
  })
  return Buffer.from(text, 'latin1')
}

function blotted(text: string): string {
  return text.replace(token, (_all, kept: string, signature: string) => {
    return kept + signature.replace(/[a-z2-7]/gi, '*')
  })
}

/**
 * The exact mail a feedback report is sent as. The same content gives the same bytes, so what is
 * shown before is what leaves. `onSlow` is called when a message of it takes long to compose.
 *
 * @throws when the message cannot be composed, or nothing of it was loaded
 */
export async function composeLoaded(
  { feedback, parts }: LoadedFeedback,
  parser: Pick<ParserPool, 'compose' | 'sign'>,
  onSlow?: () => void,
): Promise<ComposedFeedback> {
  const [head] = parts
  if (!head) throw new RangeError('Nothing was loaded of the feedback report.')
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

/** The Message-ID under which it leaves: a digest has one of its own, since it holds others. */
export function messageIdOf({ feedback, parts }: Pick<LoadedFeedback, 'feedback' | 'parts'>) {
  const content = parts[0]?.content
  if (!content) throw new RangeError('Nothing was loaded of the feedback report.')
  const { reportId, number, isDigest } = feedback
  if (isDigest) return `<${reportId}.${number}.digest@${content.domain}>`
  return feedbackMessageId(content)
}

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
