import { createCodes } from '../evidence/codes.ts'
import { composeCopy } from '../evidence/compose-copy.ts'
import { Concealer } from '../evidence/conceal.ts'
import { HOST_LABEL_MIN } from '../evidence/copy-fields.ts'
import { createIdentity } from '../evidence/identity.ts'
import { registrableDomain, registrableDomainOf } from '../mail/address.ts'
import {
  composeFeedbackReport,
  type FeedbackReportInput,
  type MessageCopy,
  reportLine,
} from '../mail/arf.ts'
import { concealKeysIn, hasPlainKey } from '../mail/conceal-keys.ts'
import type { FeedbackFormat } from '../mail/feedback-format.ts'
import type { FeedbackExplanation, MessageSource } from '../mail/feedback-text.ts'
import { withoutKeys } from '../mail/keys.ts'
import type { FeedbackFacts } from '../mail/mail-parts.ts'
import { parseHeader } from '../mail/header.ts'
import { unsubscribeUris } from '../mail/list-unsubscribe.ts'
import { composeXarfReport } from '../mail/xarf.ts'
import { composeAuthenticationResults } from '../origin/authenticity/authenticate.ts'
import { leadsSomewhere } from '../pieces/links.ts'
import { textHash } from '../pieces/shingles/hash.ts'
import { inEnglish } from '../texts/phrases.ts'
import { composeNotice, noticeFields } from './compose-notice.ts'
import {
  type FeedbackAnalysis,
  type FeedbackContent,
  type FeedbackMail,
  feedbackMessageId,
  messageSourceOf,
} from './feedback-content.ts'

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
 * Returns the feedback report of one message for one consumer, in the consumer's format, with a
 * copy of the message that does not identify the reporter. The same content and message always give
 * the same bytes. Keys of ours in the message are masked: they belong to its reporter. A withdrawal
 * always uses the Abuse Reporting Format, because XARF cannot express it. A notice about a page has
 * a format of its own.
 *
 * @throws Error when the message has no origin, because then the report has no recipient, unless it
 *   is about a page
 */
export async function composeFeedback(
  raw: Buffer,
  analysis: FeedbackAnalysis,
  content: FeedbackContent,
): Promise<FeedbackMail> {
  const message = withoutReportersKeys(raw, analysis, content)
  const header = parseHeader(message)
  const identity = createIdentity(header.fields, {
    ...content.reporter,
    authors: verifiedAuthors(analysis),
    ours: (analysis.origin?.hop ?? -1) + 1,
  })
  const codes = createCodes(Buffer.from(content.redactionKey))
  const concealer = new Concealer({
    identity,
    codes,
    issuers: content.keepsTokens ? issuersOf(analysis, content) : [],
    isShared: isSharedBy(content.sharedParts),
    unsubscribing: unsubscribeUris(header.fields),
  })
  const { takenBack, form, page } = content
  const keeps = page && noticeFields
  const original = await composeCopy(message, analysis, { header, concealer, form, keeps })
  if (page) {
    const lenient = new Concealer({ identity, codes, isShared: () => true })
    const masked = (text: string) => withoutKeys(text, content.answerKeys)
    const its = { content, page, concealer, lenient, original, masked, userAgent: USER_AGENT }
    return composeNotice(its)
  }
  const input: FeedbackReportInput = {
    from: content.from,
    operator: content.operator,
    to: content.to,
    date: content.createdAt,
    replyTo: content.answerAddress,
    unsubscribe: content.isUnsolicited ? content.answerLinks.stop : undefined,
    corrects:
      takenBack === undefined ? undefined : feedbackMessageId({ ...content, number: takenBack }),
    token: `${content.reportId}.${content.number}`,
    domain: content.domain,
    facts: feedbackFactsOf(analysis, content, concealer, identity.recipient),
    explanation: explanationOf(analysis, content, concealer),
    original: withOriginal(original, message, content),
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
 * Replaces the composed copy by the message as it was received, in which our own keys are masked.
 * The fields for the report's own header stay those of the copy.
 */
function withOriginal(
  copy: MessageCopy,
  message: Buffer,
  { hasOriginal, form }: Pick<FeedbackContent, 'hasOriginal' | 'form'>,
): MessageCopy {
  if (hasOriginal !== true) return copy
  const end = form === 'whole' ? message.length : parseHeader(message).bodyOffset
  const content = message.toString('latin1', 0, end).replace(/\r\n|\r|\n/g, '\r\n')
  return { ...copy, content, isOriginal: true }
}

function isSharedBy(hashes: Uint8Array | undefined): ((part: string) => boolean) | undefined {
  if (!hashes || hashes.length === 0) return undefined
  const known = new Set(new BigUint64Array(Uint8Array.from(hashes).buffer))
  return (part) => known.has(textHash(part))
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
        original: withoutKeys(answers.original, keys),
      },
    },
  }
}

/**
 * Masks our own keys in a reported message, such as a letter of ours. Most messages have none: the
 * analysis has decoded their links. In an original that leaves they may be in any encoding.
 */
function withoutReportersKeys(
  raw: Buffer,
  { links, headers }: FeedbackAnalysis,
  { hasOriginal }: Pick<FeedbackContent, 'hasOriginal'>,
): Buffer {
  if (hasOriginal === true) return concealKeysIn(raw)
  const known = JSON.stringify([links.map(({ url }) => url), headers])
  return hasPlainKey(known) || hasPlainKey(raw.toString('latin1')) ? concealKeysIn(raw) : raw
}

/** The author, if DMARC passes, or if the domain has no policy but signed the message. */
function verifiedAuthors({ headers, authentication }: FeedbackAnalysis): string[] {
  const { dkim = [], dmarc } = authentication ?? {}
  const isSigned = dkim.some(({ result, aligned }) => result === 'pass' && aligned)
  const isVerified = dmarc?.result === 'pass' || (dmarc?.result === 'none' && isSigned)
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
    mayAskOriginal: content.mayAskOriginal,
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
