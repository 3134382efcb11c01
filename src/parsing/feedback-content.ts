import type { Consumer } from '../db/consumers.ts'
import { registrableDomain } from '../mail/address.ts'
import { composeFeedbackReport, type FeedbackReportInput } from '../mail/arf.ts'
import type { FeedbackExplanation, MessageSource } from '../mail/feedback-text.ts'
import type { FeedbackFacts } from '../mail/mail-parts.ts'
import { type Redaction, redactMessage } from '../mail/redaction/redact.ts'
import type { AnswerKind } from '../mail/verp.ts'
import { composeXarfReport } from '../mail/xarf.ts'
import { composeAuthenticationResults } from '../origin/authenticity/authenticate.ts'
import type { Network } from '../origin/networks.ts'
import type { Analysis } from '../pieces/analyze.ts'

/** What feedback is composed from: found when the message was analyzed. */
export type FeedbackAnalysis = Pick<
  Analysis,
  'origin' | 'submitter' | 'hops' | 'headers' | 'links' | 'authentication' | 'isRebuilt'
>

/** What the program calls itself in feedback reports (RFC 5965 §3.1, User-Agent). */
const USER_AGENT = 'Signalpost/0.1'
const LINKS_MAX = 20

/**
 * What a feedback report states. The origin's own words are trusted no further than the analysis
 * did: the time and the host are those of the line by which the message was taken in, domains only
 * those that verifiably stand behind it, and results of authentication only ours.
 *
 * @throws Error when the message has no origin: then there is nobody to tell
 */
function feedbackFactsOf(
  analysis: FeedbackAnalysis,
  content: Pick<FeedbackContent, 'feedbackType' | 'incidents' | 'domain'>,
  { redactText, recipient }: Pick<Redaction, 'redactText' | 'recipient'>,
): FeedbackFacts {
  const { origin, hops, headers, links, authentication } = analysis
  const source = messageSourceOf(analysis)
  if (!origin || !source) throw new Error('A feedback report needs an origin.')
  const hop = hops[origin.hop]
  const results = composeAuthenticationResults(authentication, {
    authservId: content.domain,
    author: headers.fromAddress?.split('@').at(-1)?.toLowerCase(),
  })
  return {
    feedbackType: content.feedbackType,
    userAgent: USER_AGENT,
    sourceIp: source.ip,
    sourcePort: source.port,
    arrivedAt: source.at,
    reportingMta: hop?.by.host ? redactText(hop.by.host) : undefined,
    mailFrom: headers.returnPath === null ? undefined : redactText(headers.returnPath),
    recipients: recipient === undefined ? [] : [recipient],
    authenticationResults: results === undefined ? [] : [redactText(results)],
    domains: verifiedDomains(headers.fromAddress, authentication),
    uris: links.slice(0, LINKS_MAX).map(({ url }) => redactText(url)),
    incidents: content.incidents,
  }
}

/** The machine that handed the message over, and when; undefined where the origin is unknown. */
export function messageSourceOf({
  origin,
  hops,
}: Pick<FeedbackAnalysis, 'origin' | 'hops'>): MessageSource | undefined {
  if (!origin) return undefined
  const { from } = hops[origin.hop] ?? {}
  // Lines above it are the provider's own: at most some seconds later.
  const timed = hops.slice(0, origin.hop + 1).findLast(({ at }) => at !== null)
  return {
    ip: origin.ip,
    port: from?.ip === origin.ip ? (from.port ?? undefined) : undefined,
    at: timed?.at ? new Date(timed.at) : undefined,
  }
}

/**
 * Who verifiably stands behind the message. A name in From that nothing vouches for is most often
 * that of somebody else whom the sender robbed of it.
 */
function verifiedDomains(
  author: string | null,
  authentication: FeedbackAnalysis['authentication'],
): string[] {
  if (authentication === null) return []
  const { dkim, dmarc } = authentication
  const authorDomain =
    dmarc.result === 'pass' ? registrableDomain(author?.split('@').at(-1) ?? '') : undefined
  const signers = dkim.filter(({ result }) => result === 'pass').map(({ domain }) => domain)
  return [...(authorDomain === undefined ? [] : [authorDomain]), ...signers]
}

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
