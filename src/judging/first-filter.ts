import { domainToASCII } from 'node:url'
import { registrableDomainOf } from '../mail/address.ts'
import type { BlacklistEntry } from '../mail/dnsbl.ts'
import { parseIp } from '../mail/ip.ts'
import { providerOfHost, senderProfile } from '../origin/providers.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { Reputation } from '../verdict/reputation/reputation.ts'
import type { Subject } from '../verdict/reputation/subject.ts'
import { FIRST_FILTER, type Verdict } from '../verdict/verdict.ts'
import type { CheckedEnvelope } from './judge.ts'

/** Returns the reputations of subjects, in order; `read` of a reputation reader has this type. */
type ReputationsOf = (subjects: readonly Subject[]) => Promise<readonly KnownSubject[]>
type KnownSubject = Pick<Reputation, 'flags' | 'score'>

/** Queries the DNS blacklists about the client of a check. Answers in bounded time. */
export type AskAboutClient = (ip: string) => Promise<readonly BlacklistEntry[]>

/** What settles a check. */
export type SettledBy = 'reputation' | 'blacklist' | 'message'

type Filtered = {
  /** The verdict and its reason; undefined when the message must be read. */
  settled: { verdict: Verdict; by: SettledBy } | undefined
  /** The blacklist entries of the client; null when the blacklists were not queried. */
  listings: readonly BlacklistEntry[] | null
}

/** Judges the envelope of a check, before the message is read. */
export type FirstFilter = (envelope: CheckedEnvelope) => Promise<Filtered>

/**
 * Creates the first filter. It looks up the reputations first, because they are usually in memory,
 * and queries the blacklists only if these settle nothing. Without `askAboutClient`, no blacklist
 * is queried. Users of the mail server are never filtered.
 */
export function createFirstFilter(
  reputationsOf: ReputationsOf,
  askAboutClient?: AskAboutClient,
): FirstFilter {
  return async (envelope) => {
    const { ip, user } = envelope
    const subjects = envelopeSubjects(envelope)
    if (subjects.length === 0) return { settled: undefined, listings: null }
    const known = await reputationsOf(subjects)
    const flagged = flaggedVerdict(subjects, known)
    if (flagged) return { settled: { verdict: flagged, by: 'reputation' }, listings: null }
    if (!askAboutClient || ip === undefined || user !== undefined) {
      return { settled: undefined, listings: null }
    }
    const listings = await askAboutClient(ip)
    const verdict = isTrusted(envelope, known[0]) ? undefined : blacklistedVerdict(listings)
    return { settled: verdict && { verdict, by: 'blacklist' }, listings }
  }
}

/**
 * Returns the subjects of the envelope: the client's address; the domain of MAIL FROM, under which
 * reputations are stored, and its registrable domain, which an administrator may have marked. The
 * address of an authenticated client is excluded, because it changes with the user's location.
 */
export function envelopeSubjects({ ip, returnPath, user }: CheckedEnvelope): Subject[] {
  const subjects: Subject[] = []
  if (user !== undefined) return subjects
  if (ip !== undefined) subjects.push({ kind: 'address', name: ip })
  const domain = domainToASCII(returnPath?.slice(returnPath.lastIndexOf('@') + 1) ?? '')
  const house = registrableDomainOf(domain)
  for (const name of new Set(house === undefined ? [] : [domain, house])) {
    subjects.push({ kind: 'return-path-domain', name })
  }
  return subjects
}

/**
 * Returns a verdict without reading the message if one of the subjects of its envelope is listed.
 * Undefined if none is listed, or if the client is welcome or exempt, because MAIL FROM may be
 * forged.
 */
export function flaggedVerdict(
  subjects: readonly Subject[],
  known: readonly Pick<KnownSubject, 'flags'>[],
): Verdict | undefined {
  const isAny = (kinds: readonly string[], flags: readonly string[]) =>
    subjects.some(({ kind }, index) => {
      return kinds.includes(kind) && known[index]?.flags.some((flag) => flags.includes(flag))
    })
  if (!isAny(['address', 'return-path-domain'], ['listed'])) return undefined
  if (isAny(['address'], ['welcome', 'exempt'])) return undefined
  return unreadVerdict(phrase('not-read'))
}

/** The score from which on a blacklist entry does not settle mail of an address. */
const GOOD_SCORE_MIN = 0.5

/**
 * Whether a blacklist entry alone is too little evidence against a client: it is welcome or exempt,
 * has a good reputation, or belongs to a mailbox provider, which sends the mail of millions.
 */
function isTrusted({ ip, hostname }: CheckedEnvelope, client: KnownSubject | undefined): boolean {
  const isMarked = client?.flags.some((flag) => flag === 'welcome' || flag === 'exempt')
  if (isMarked || (client?.score ?? 0) >= GOOD_SCORE_MIN) return true
  const address = parseIp(ip ?? '')
  if (address && senderProfile(address) !== undefined) return true
  return hostname !== undefined && providerOfHost(hostname) !== undefined
}

/**
 * Categories that settle. A dynamic address does not: a rule weighs it when the message is read.
 */
const settling: readonly BlacklistEntry['category'][] = [
  'spam',
  'compromised',
  'phishing',
  'malware',
]
const ZONES_SHOWN_MAX = 5

function blacklistedVerdict(listings: readonly BlacklistEntry[]): Verdict | undefined {
  if (listings.some(({ category }) => category === 'welcome')) return undefined
  const bad = listings.filter(({ category }) => settling.includes(category))
  const zones = [...new Set(bad.map(({ zone }) => zone))].slice(0, ZONES_SHOWN_MAX)
  if (zones.length === 0) return undefined
  return unreadVerdict(phrase('not-read-blacklisted', { zones: zones.join(', ') }))
}

/** The verdict asks for an added header, not a rejection, because the message was not read. */
function unreadVerdict(meaning: Phrase): Verdict {
  const symbols = [{ name: FIRST_FILTER, weight: 10, meaning }]
  return { class: 'spam', confidence: 0.9, score: 10, symbols }
}
