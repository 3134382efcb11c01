import type { Analysis } from '../analysis/analyze.ts'
import type { Network } from '../analysis/network.ts'
import type { Consumer } from '../db/consumers.ts'
import type { AnswerKind } from '../mail/answer-links.ts'
import { composeFeedbackReport } from '../mail/arf.ts'
import { registrableDomain } from '../mail/domain.ts'
import { redactMessage } from '../mail/redact.ts'

/** All that goes into one feedback report besides the message itself: plain data. */
export type FeedbackContent = {
  reportId: string
  number: number
  from: string
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

/** What the program calls itself in feedback reports (RFC 5965 §3.1, User-Agent). */
const USER_AGENT = 'Signalpost/0.1'
const LINKS_MAX = 20

/**
 * The feedback report of one message for one consumer, redacted. The same content and message
 * give the same bytes, whenever and however often it is composed.
 *
 * @throws Error when the message has no origin: then there is nobody to tell
 */
export function composeFeedback(
  raw: Buffer,
  analysis: Pick<Analysis, 'origin' | 'submitter' | 'hops' | 'headers' | 'links'>,
  content: FeedbackContent,
): Buffer {
  const { network, takenBack } = content
  const { origin, submitter } = analysis
  if (!origin) throw new Error('A feedback report needs an origin.')
  const hop = analysis.hops[origin.hop]
  const redaction = redactMessage(raw, {
    addresses: [content.reporterEmail],
    key: Buffer.from(content.redactionKey),
  })
  const { redactText } = redaction
  const returnPath = analysis.headers.returnPath
  const author = analysis.headers.fromAddress
  const authorDomain =
    author === null ? undefined : registrableDomain(author.split('@').at(-1) ?? '')
  const report = composeFeedbackReport({
    from: content.from,
    to: content.to,
    date: content.createdAt,
    replyTo: content.answerAddress,
    unsubscribe: content.isUnsolicited ? content.answerLinks.stop : undefined,
    corrects: takenBack === undefined ? undefined : messageIdOf({ ...content, number: takenBack }),
    token: `${content.reportId}.${content.number}`,
    domain: content.domain,
    facts: {
      feedbackType: content.feedbackType,
      userAgent: USER_AGENT,
      sourceIp: origin.ip,
      sourcePort: hop?.from.port ?? undefined,
      arrivedAt: hop?.at ? new Date(hop.at) : undefined,
      reportingMta: hop?.by.host ?? undefined,
      mailFrom: returnPath === null ? undefined : redactText(returnPath),
      domains: authorDomain === undefined ? [] : [authorDomain],
      incidents: content.incidents,
      uris: analysis.links.slice(0, LINKS_MAX).map(({ url }) => redactText(url)),
    },
    explanation: {
      reportNumber: `${content.reportId}.${content.number}`,
      service: content.service,
      network: {
        cidr: network.cidr,
        asn: network.asn ?? undefined,
        name: network.name ?? undefined,
        country: network.country ?? undefined,
      },
      reverseName: hop?.from.rdns ?? undefined,
      why: [...origin.why, ...(submitter ? [submitter.how] : [])].map(redactText),
      answers: content.answerLinks,
      isUnsolicited: content.isUnsolicited,
      takenBack: takenBack === undefined ? undefined : `${content.reportId}.${takenBack}`,
    },
    original: redaction.tree ?? redaction.raw,
    form: content.form === 'headers' ? 'headers' : redaction.form,
  })
  return report.raw
}

/** The Message-ID under which a feedback report goes out, whenever it is composed. */
export function feedbackMessageId(content: FeedbackContent): string {
  return messageIdOf(content)
}

function messageIdOf({ reportId, number, domain }: MessageIdParts): string {
  return `<${reportId}.${number}@${domain}>`
}

type MessageIdParts = Pick<FeedbackContent, 'reportId' | 'number' | 'domain'>
