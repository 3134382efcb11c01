import type { Consumer } from '../db/consumers.ts'
import { createCodes } from '../evidence/codes.ts'
import { composeCopy } from '../evidence/compose-copy.ts'
import { Concealer } from '../evidence/conceal.ts'
import { HOST_LABEL_MIN } from '../evidence/copy-fields.ts'
import { createIdentity, type KnownReporter } from '../evidence/identity.ts'
import { registrableDomain, registrableDomainOf } from '../mail/address.ts'
import {
  composeFeedbackReport,
  type FeedbackReportInput,
  reportLine,
  type ReportLine,
} from '../mail/arf.ts'
import { concealKeysIn, hasPlainKey } from '../mail/conceal-keys.ts'
import type { FeedbackFormat } from '../mail/feedback-format.ts'
import type {
  ExplainedComplaint,
  FeedbackExplanation,
  MessageSource,
} from '../mail/feedback-text.ts'
import { withoutKeys } from '../mail/keys.ts'
import type { FeedbackFacts } from '../mail/mail-parts.ts'
import { parseHeader } from '../mail/header.ts'
import type { AnswerKind } from '../mail/verp.ts'
import { composeXarfReport } from '../mail/xarf.ts'
import { composeAuthenticationResults } from '../origin/authenticity/authenticate.ts'
import type { Network } from '../origin/networks.ts'
import type { Analysis } from '../pieces/analyze.ts'
import { leadsSomewhere } from '../pieces/links.ts'
import { inEnglish } from '../texts/phrases.ts'

/** The parts of an analysis that feedback reports are composed from. */
export type FeedbackAnalysis = Pick<
  Analysis,
  | 'origin'
  | 'submitter'
  | 'hops'
  | 'headers'
  | 'links'
  | 'attachments'
  | 'authentication'
  | 'bytes'
  | 'sha256'
  | 'isRebuilt'
  | 'isReduced'
>

/** How a mail of each format is composed. */
const composers: Readonly<Record<FeedbackFormat, (input: FeedbackReportInput) => Buffer>> = {
  arf: composeFeedbackReport,
  xarf: composeXarfReport,
}

/** The program's User-Agent in feedback reports (RFC 5965 §3.1). */
const USER_AGENT = 'Signalpost/0.1'
const LINKS_MAX = 20

/**
 * Returns the machine-readable fields of a feedback report. Contains only what the analysis
 * verified: the time and the host are from the Received field added where the message entered the
 * provider, the domains are verified, and the authentication results are our own.
 *
 * @throws Error when the message has no origin, because then the report has no recipient
 */
function feedbackFactsOf(
  analysis: FeedbackAnalysis,
  content: Pick<FeedbackContent, 'feedbackType' | 'incidents' | 'domain'>,
  concealer: Concealer,
  recipient: string | undefined,
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
    reportingMta: hop?.by.host ? concealer.host(hop.by.host, HOST_LABEL_MIN) : undefined,
    mailFrom: headers.returnPath === null ? undefined : mailFromOf(headers.returnPath, concealer),
    recipients: recipient === undefined ? [] : [concealer.person(recipient)],
    authenticationResults: results === undefined ? [] : [concealer.words(results, { labelMin: 0 })],
    domains: verifiedDomains(headers.fromAddress, authentication).map((one) => concealer.host(one)),
    uris: links
      .filter(leadsSomewhere)
      .slice(0, LINKS_MAX)
      .map(({ url }) => concealer.link(url)),
    incidents: content.incidents,
  }
}

function mailFromOf(returnPath: string, { mailbox }: Concealer): string {
  return returnPath === '' ? '' : mailbox(returnPath)
}

/**
 * Returns the machine that handed the message over, and when; undefined when the origin is unknown.
 */
export function messageSourceOf({
  origin,
  hops,
}: Pick<FeedbackAnalysis, 'origin' | 'hops'>): MessageSource | undefined {
  if (!origin) return undefined
  const { from } = hops[origin.hop] ?? {}
  // The provider added the fields above the origin's field, at most some seconds later.
  const timed = hops.slice(0, origin.hop + 1).findLast(({ at }) => at !== null)
  return {
    ip: origin.ip,
    port: from?.ip === origin.ip ? (from.port ?? undefined) : undefined,
    at: timed?.at ? new Date(timed.at) : undefined,
  }
}

/**
 * Returns the verified domains of the message. A domain in From that is not authenticated is
 * usually forged, and its owner is not responsible.
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

/**
 * The content of a feedback report besides the message; plain data, which can be sent to a thread.
 */
export type FeedbackContent = {
  reportId: string
  number: number
  from: string
  /** The name of the operator of this service, if configured. */
  operator?: string | undefined
  to: string
  createdAt: Date
  /** The part of the Message-ID after the `@`. */
  domain: string
  /** The name or domain of this service, as shown to people. */
  service: string
  feedbackType: 'abuse' | 'fraud' | 'virus' | 'not-spam'
  complaint: ExplainedComplaint | undefined
  format: Consumer['format']
  form: Consumer['form']
  /** The number of reported messages. */
  incidents: number
  /** The sources of the reported messages besides the enclosed one. The list may be incomplete. */
  others?: readonly MessageSource[] | undefined
  /** The address at which the consumer can answer by mail. */
  answerAddress: string
  /** The pages on which the consumer can answer. */
  answerLinks: Readonly<Record<AnswerKind, string>>
  /** The keys in both. The stored copy has asterisks in their place. */
  answerKeys: readonly string[]
  /** Whether the consumer did not ask for reports; then the report says first how to stop them. */
  isUnsolicited: boolean
  /** The number of the feedback report that a `not-spam` report withdraws, if known. */
  takenBack?: number | undefined
  /**
   * Whether opaque tokens (in links, Message-IDs …) are not redacted, because the consumer issued
   * them.
   */
  keepsTokens: boolean
  network: Network
  /** The reporter, as far as the account knows. */
  reporter: KnownReporter
  redactionKey: Uint8Array
}

/**
 * A feedback report, its copy of the same length with asterisks in place of its keys, and the facts
 * for a list.
 */
export type FeedbackMail = { raw: Buffer; copy: Buffer; line: ReportLine }

/**
 * Returns the feedback report of one message for one consumer, in the consumer's format, with a
 * copy of the message that does not identify the reporter. The same content and message always give
 * the same bytes. Keys of ours in the message are masked: they belong to its reporter. A withdrawal
 * always uses the Abuse Reporting Format, because XARF cannot express it.
 *
 * @throws Error when the message has no origin, because then the report has no recipient
 */
export async function composeFeedback(
  raw: Buffer,
  analysis: FeedbackAnalysis,
  content: FeedbackContent,
): Promise<FeedbackMail> {
  const message = withoutReportersKeys(raw, analysis)
  const identity = createIdentity(parseHeader(message).fields, {
    ...content.reporter,
    authors: verifiedAuthors(analysis),
    ours: (analysis.origin?.hop ?? -1) + 1,
  })
  const concealer = new Concealer({
    identity,
    codes: createCodes(Buffer.from(content.redactionKey)),
    issuers: content.keepsTokens ? issuersOf(analysis, content) : [],
  })
  const { takenBack, form } = content
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
    facts: feedbackFactsOf(analysis, content, concealer, identity.recipient),
    explanation: explanationOf(analysis, content, concealer),
    original: await composeCopy(message, analysis, { concealer, form }),
  }
  // XARF has no type for mail that is not spam.
  const compose = composers[content.feedbackType === 'not-spam' ? 'arf' : content.format]
  return {
    raw: compose(input),
    copy: compose(masked(input, content.answerKeys)),
    line: reportLine(input),
  }
}

/**
 * The domains whose identifiers a consumer gets back, because it issued them: those that signed the
 * message. Who sends phishing or malware signs, too, and would learn who reported it.
 */
function issuersOf(
  { headers, authentication }: FeedbackAnalysis,
  { feedbackType }: Pick<FeedbackContent, 'feedbackType'>,
): string[] {
  if (feedbackType === 'fraud' || feedbackType === 'virus') return []
  return verifiedDomains(headers.fromAddress, authentication).flatMap(
    (domain) => registrableDomainOf(domain) ?? [],
  )
}

/** Masks the keys of a feedback report before it is composed, whatever encodings it has then. */
function masked(input: FeedbackReportInput, keys: readonly string[]): FeedbackReportInput {
  const { replyTo, unsubscribe, explanation } = input
  const { answers } = explanation
  return {
    ...input,
    replyTo: replyTo && withoutKeys(replyTo, keys),
    unsubscribe: unsubscribe && withoutKeys(unsubscribe, keys),
    explanation: {
      ...explanation,
      answers: answers && {
        resolved: withoutKeys(answers.resolved, keys),
        'not-ours': withoutKeys(answers['not-ours'], keys),
        wrong: withoutKeys(answers.wrong, keys),
        stop: withoutKeys(answers.stop, keys),
      },
    },
  }
}

/**
 * Masks our own keys in a reported message, such as a letter of ours. Most messages have none: the
 * analysis has decoded their links.
 */
function withoutReportersKeys(raw: Buffer, { links, headers }: FeedbackAnalysis): Buffer {
  const known = JSON.stringify([links.map(({ url }) => url), headers])
  return hasPlainKey(known) || hasPlainKey(raw.toString('latin1')) ? concealKeysIn(raw) : raw
}

function verifiedAuthors({ headers, authentication }: FeedbackAnalysis): string[] {
  const isVerified = authentication?.dmarc.result === 'pass'
  return isVerified && headers.fromAddress !== null ? [headers.fromAddress] : []
}

function explanationOf(
  analysis: FeedbackAnalysis,
  content: FeedbackContent,
  concealer: Concealer,
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
    reverseName: nameOf(hops[origin?.hop ?? -1]?.from.rdns, concealer),
    why: why.map((one) => concealer.words(inEnglish(one), { labelMin: HOST_LABEL_MIN })),
    complaint: content.complaint,
    answers: content.answerLinks,
    isUnsolicited: content.isUnsolicited,
    isRebuilt,
    takenBack: takenBack === undefined ? undefined : `${content.reportId}.${takenBack}`,
  }
}

function inOrder(sources: readonly MessageSource[]): MessageSource[] {
  return sources.toSorted((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0))
}

/** The owner of an address chooses its name, which may contain that of the recipient. */
function nameOf(name: string | null | undefined, { host }: Concealer): string | undefined {
  return name ? host(name, HOST_LABEL_MIN) : undefined
}

/** Returns the Message-ID of a feedback report, which does not depend on when it is composed. */
export function feedbackMessageId(content: FeedbackContent): string {
  return messageIdOf(content)
}

function messageIdOf({ reportId, number, domain }: MessageIdParts): string {
  return `<${reportId}.${number}@${domain}>`
}

type MessageIdParts = Pick<FeedbackContent, 'reportId' | 'number' | 'domain'>
