import type { Analysis } from '../analysis/analyze.ts'
import { composeAuthenticationResults } from '../analysis/authenticity/results-field.ts'
import { registrableDomain } from '../mail/domain.ts'
import type { FeedbackFacts } from '../mail/feedback-fields.ts'
import type { MessageSource } from '../mail/feedback-text.ts'
import type { Redaction } from '../mail/redact.ts'
import type { FeedbackContent } from './feedback-content.ts'

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
export function feedbackFactsOf(
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
