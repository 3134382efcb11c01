import type { Network } from '../analysis/network.ts'
import type { Consumer } from '../db/consumers.ts'
import type { AnswerKind } from '../mail/answer-links.ts'
import { composeFeedbackReport } from '../mail/arf.ts'
import type { FeedbackReportInput } from '../mail/arf.ts'
import type { FeedbackExplanation, MessageSource } from '../mail/feedback-text.ts'
import { redactMessage } from '../mail/redact.ts'
import type { Redaction } from '../mail/redact.ts'
import { composeXarfReport } from '../mail/xarf.ts'
import { feedbackFactsOf, messageSourceOf } from './feedback-facts.ts'
import type { FeedbackAnalysis } from './feedback-facts.ts'

/** All that goes into one feedback report besides the message itself: plain data. */
export type FeedbackContent = {
  reportId: string
  number: number
  from: string
  /** The name of who runs this service, where it is set. */
  operator?: string | undefined
  to: string
  createdAt: Date
  /** Right side of the Message-ID. */
  domain: string
  /** Name or domain of this service, for the people who read it. */
  service: string
  feedbackType: 'abuse' | 'fraud' | 'virus' | 'not-spam'
  format: Consumer['format']
  form: Consumer['form']
  /** How many messages it stands for. */
  incidents: number
  /** Where those other messages came from; their number may be larger than the list. */
  others?: readonly MessageSource[] | undefined
  /** Where its consumer may answer by mail. */
  answerAddress: string
  /** The pages on which its consumer may answer. */
  answerLinks: Readonly<Record<AnswerKind, string>>
  /** Whether the consumer never asked for reports: then the way to stop them is said at once. */
  isUnsolicited: boolean
  /** The number of the feedback report that a `not-spam` one takes back, where it is known. */
  takenBack?: number | undefined
  /** Whether opaque tokens (of links, Message-IDs …) are left: for who gave them out. */
  keepsTokens: boolean
  network: Network
  /** The reporter's own address; those in the message's header are found by the redaction. */
  reporterEmail: string
  redactionKey: Uint8Array
}

/**
 * The feedback report of one message for one consumer, redacted, in the format it takes. The same
 * content and message give the same bytes, whenever and however often it is composed. What takes a
 * report back is written in the Abuse Reporting Format always: XARF has no word for it.
 *
 * @throws Error when the message has no origin: then there is nobody to tell
 */
export function composeFeedback(
  raw: Buffer,
  analysis: FeedbackAnalysis,
  content: FeedbackContent,
): Buffer {
  const redaction = redactMessage(raw, {
    addresses: [content.reporterEmail],
    authors: verifiedAuthors(analysis),
    key: Buffer.from(content.redactionKey),
    tokens: content.keepsTokens ? 'kept' : 'redacted',
  })
  const { takenBack } = content
  const input: FeedbackReportInput = {
    from: content.from,
    operator: content.operator,
    to: content.to,
    date: content.createdAt,
    replyTo: content.answerAddress,
    unsubscribe: content.isUnsolicited ? content.answerLinks.stop : undefined,
    corrects: takenBack === undefined ? undefined : messageIdOf({ ...content, number: takenBack }),
    token: `${content.reportId}.${content.number}`,
    domain: content.domain,
    facts: feedbackFactsOf(analysis, content, redaction),
    explanation: explanationOf(analysis, content, redaction),
    original: redaction.tree ?? redaction.raw,
    form: content.form === 'headers' ? 'headers' : redaction.form,
  }
  const isXarf = content.format === 'xarf' && content.feedbackType !== 'not-spam'
  return isXarf ? composeXarfReport(input) : composeFeedbackReport(input).raw
}

function verifiedAuthors({ headers, authentication }: FeedbackAnalysis): string[] {
  const isVerified = authentication?.dmarc.result === 'pass'
  return isVerified && headers.fromAddress !== null ? [headers.fromAddress] : []
}

function explanationOf(
  analysis: FeedbackAnalysis,
  content: FeedbackContent,
  { redactText }: Redaction,
): FeedbackExplanation {
  const { origin, submitter, hops, isRebuilt } = analysis
  const { network, takenBack, incidents, others = [] } = content
  const itself = messageSourceOf(analysis)
  const why = [...(origin?.why ?? []), ...(submitter ? [submitter.how] : [])]
  return {
    reportNumber: `${content.reportId}.${content.number}`,
    service: content.service,
    network: {
      cidr: network.cidr,
      asn: network.asn ?? undefined,
      name: network.name ?? undefined,
      country: network.country ?? undefined,
    },
    sources: itself && { listed: inOrder([itself, ...others]), total: incidents },
    reverseName: redactedName(hops[origin?.hop ?? -1]?.from.rdns, redactText),
    why: why.map(redactText),
    answers: content.answerLinks,
    isUnsolicited: content.isUnsolicited,
    isRebuilt,
    takenBack: takenBack === undefined ? undefined : `${content.reportId}.${takenBack}`,
  }
}

function inOrder(sources: readonly MessageSource[]): MessageSource[] {
  return sources.toSorted((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0))
}

/** Who owns an address names it as he likes, and may name it after whom he writes to. */
function redactedName(name: string | null | undefined, redactText: (text: string) => string) {
  return name ? redactText(name) : undefined
}

/** The Message-ID under which a feedback report goes out, whenever it is composed. */
export function feedbackMessageId(content: FeedbackContent): string {
  return messageIdOf(content)
}

function messageIdOf({ reportId, number, domain }: MessageIdParts): string {
  return `<${reportId}.${number}@${domain}>`
}

type MessageIdParts = Pick<FeedbackContent, 'reportId' | 'number' | 'domain'>
