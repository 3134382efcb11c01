import type { Analysis } from '../analysis/analyze.ts'
import { composeAuthenticationResults } from '../analysis/authenticity/results-field.ts'
import { registrableDomain } from '../mail/domain.ts'
import type { FeedbackFacts } from '../mail/feedback-fields.ts'
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
  { origin, hops, headers, links, authentication }: FeedbackAnalysis,
  content: Pick<FeedbackContent, 'feedbackType' | 'incidents' | 'domain'>,
  { redactText, recipient }: Pick<Redaction, 'redactText' | 'recipient'>,
): FeedbackFacts {
  if (!origin) throw new Error('A feedback report needs an origin.')
  const hop = hops[origin.hop]
  // Lines above it are the provider's own: at most some seconds later.
  const timed = hops.slice(0, origin.hop + 1).findLast(({ at }) => at !== null)
  const results = composeAuthenticationResults(authentication, {
    authservId: content.domain,
    author: headers.fromAddress?.split('@').at(-1)?.toLowerCase(),
  })
  return {
    feedbackType: content.feedbackType,
    userAgent: USER_AGENT,
    sourceIp: origin.ip,
    sourcePort: hop?.from.ip === origin.ip ? (hop.from.port ?? undefined) : undefined,
    arrivedAt: timed?.at ? new Date(timed.at) : undefined,
    reportingMta: hop?.by.host ? redactText(hop.by.host) : undefined,
    mailFrom: headers.returnPath === null ? undefined : redactText(headers.returnPath),
    recipients: recipient === undefined ? [] : [recipient],
    authenticationResults: results === undefined ? [] : [redactText(results)],
    domains: verifiedDomains(headers.fromAddress, authentication),
    uris: links.slice(0, LINKS_MAX).map(({ url }) => redactText(url)),
    incidents: content.incidents,
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
