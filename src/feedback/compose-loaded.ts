import { pack } from '../db/packed.ts'
import { composeDigest } from '../mail/digest.ts'
import { feedbackMessageId } from '../parsing/feedback-content.ts'
import type { ComposedFeedback, ParserPool } from '../parsing/parser-pool.ts'
import type { LoadedFeedback } from './load-content.ts'

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
