import { DAY_MS } from '../../durations.ts'
import { registrableDomainOf } from '../../mail/address.ts'
import type { BlacklistEntry } from '../../mail/dnsbl.ts'
import { parseIp } from '../../mail/ip.ts'
import type { SendingRecord } from '../reputation/sending.ts'
import {
  bool,
  definitionsOf,
  double,
  type FactDefinition,
  type FactTable,
  string,
  strings,
} from './fact.ts'

/**
 * The stored base part of a reputation. `score` is from −1 (certainly bad) to +1 (certainly good);
 * `weight` is the amount of evidence.
 */
export type KnownReputation = {
  /** A kind from `verdict/reputation/reputation.ts`; unknown kinds are ignored. */
  kind: string
  score: number
  weight: number
  flags: readonly string[]
  firstSeenAt: Date | null
}

/**
 * Prefixes of the reputation facts for each kind of subject. If a message has several subjects of a
 * kind, the worst one counts.
 */
const kinds: readonly (readonly [kind: string, prefix: string, what: string])[] = [
  ['address', 'address', 'the address it came from'],
  ['network', 'network', 'the network it came from'],
  ['autonomous-system', 'as', 'the autonomous system it came from'],
  ['author', 'author', 'the author, authenticated by its domain'],
  ['author-domain', 'author_domain', 'the author’s domain, authenticated'],
  ['claimed-author', 'claimed_author', 'whoever claims to be that author'],
  ['claimed-author-domain', 'claimed_author_domain', 'whoever claims to be of that domain'],
  ['signer', 'signer', 'the worst verified signer'],
  ['return-path-domain', 'return_path_domain', 'the domain of the return path'],
  ['link-host', 'link_host', 'the worst host of a link'],
  ['link-domain', 'link_domain', 'the worst domain of a link'],
  ['link', 'link', 'the worst link'],
  ['file', 'file', 'the worst attached file'],
  ['phone', 'phone', 'the worst telephone number'],
  ['campaign', 'campaign', 'its campaign'],
]
/** Prefix and fact names of each kind, because composing names costs more than the rest. */
const factsOfKind = new Map(
  kinds.map(([kind, prefix]) => [
    kind,
    {
      prefix,
      score: `${prefix}_score`,
      weight: `${prefix}_weight`,
      knownDays: `${prefix}_known_days`,
    },
  ]),
)

const flags = ['listed', 'welcome', 'awake', 'jumped', 'new', 'exempt'] as const
const flaggedMax = 20
export type ReputationFacts = Record<string, boolean | number | readonly string[]>

const overall = {
  known: double('Number of parts of the message with a known reputation.'),
  worst: double('The worst score of all parts, times its certainty: −1 to 0.'),
  best: double('The best score of all parts, times its certainty: 0 to 1.'),
  flagged: strings('The flags of the parts as kind:flag, sorted, at most 20.'),
  ...Object.fromEntries(
    flags.map((flag) => [`any_${flag}`, bool(`A part of the message is ${flag}.`)]),
  ),
}

/** Definitions of the facts in the group `reputation`. */
export const reputationDefinitions: readonly FactDefinition[] = [
  ...definitionsOf('reputation', overall),
  ...kinds.flatMap(([, prefix, what]) =>
    definitionsOf('reputation', {
      [`${prefix}_score`]: double(`From −1 (certainly bad) to +1 (certainly good): ${what}.`),
      [`${prefix}_weight`]: double(`Amount of evidence; 6 is certain: ${what}.`),
      [`${prefix}_known_days`]: double(`Days since it was first seen: ${what}.`),
    }),
  ),
]

/** Amount of evidence at which a reputation has half of its full effect. */
const HALF_EFFECT_WEIGHT = 3

/** Reduces the reputations of a message's subjects to facts, at a given time. */
export function reputationFacts(
  known: readonly KnownReputation[] | undefined,
  now: Date,
): ReputationFacts | undefined {
  if (!known || known.length === 0) return undefined
  const facts: ReputationFacts = { known: 0 }
  const flagged = new Set<string>()
  let [count, worst, best] = [0, 0, 0]
  for (const { kind, score, weight, flags: its, firstSeenAt } of known) {
    const names = factsOfKind.get(kind)
    if (!names) continue
    for (const flag of its) {
      if (!flags.some((one) => one === flag)) continue
      facts[`any_${flag}`] = true
      flagged.add(`${names.prefix}:${flag}`)
    }
    if (weight <= 0 && firstSeenAt === null) continue
    count++
    const sure = round(score * (weight / (weight + HALF_EFFECT_WEIGHT)))
    worst = Math.min(worst, sure)
    best = Math.max(best, sure)
    const before = facts[names.score]
    if (before !== undefined && Number(before) <= score) continue
    facts[names.score] = round(score)
    facts[names.weight] = round(weight)
    facts[names.knownDays] = firstSeenAt ? daysSince(firstSeenAt, now) : 0
  }
  facts.known = count
  facts.worst = worst
  facts.best = best
  facts.flagged = [...flagged].sort().slice(0, flaggedMax)
  return facts
}

function daysSince(then: Date, now: Date): number {
  return Math.max(0, Math.round(((now.getTime() - then.getTime()) / DAY_MS) * 10) / 10)
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

/** Statement of the reporter; absent when a mail server checks a message. */
export type ReportedAs = {
  kind: 'spam' | 'phishing' | 'not-spam'
  /** Karma of the reporter, 0 to 1. */
  karma: number
  channel: string
}

/** SMTP envelope sent by a mail server that checks a message; absent for a report. */
export type Envelope = {
  /** IP address of the SMTP client. */
  ip?: string | undefined
  helo?: string | undefined
  /** Empty for a bounce. */
  returnPath?: string | undefined
  recipients?: readonly string[] | undefined
  /** Login name of the client; absent for incoming mail. */
  user?: string | undefined
  /** Mail system of the user. */
  system?: string | undefined
}

/** The network of the origin, as far as it is known. */
export type OriginNetwork = {
  asn: number | null
  name: string | null
  country: string | null
}

/** The facts that a function returns when its input is known. */
type Known<Group extends (...args: never[]) => unknown> = NonNullable<ReturnType<Group>>

export const reportTable: FactTable<Known<typeof reportFacts>> = {
  is_given: bool('It was reported; otherwise a mail server asks for a verdict.'),
  kind: string('spam, phishing or not-spam, as the reporter says; empty for a check.'),
  karma: double('The karma of the reporter, 0 to 1; 0 for a check.'),
  channel: string('The channel of the report.'),
}

/** SMTP envelope of a message that a mail server checks. */
export const envelopeTable: FactTable<Known<typeof envelopeFacts>> = {
  is_given: bool('A mail server asks, and gives the envelope.'),
  helo_missing: bool('The client gave no name in its greeting.'),
  helo_literal: bool('The client gave an address in its greeting.'),
  helo_bare: bool('The client gave a name without a dot in its greeting.'),
  return_path_empty: bool('The return path is empty, as in a bounce.'),
  return_path_domain: string('The domain of the return path, in lower case.'),
  return_path_other_domain: bool(
    'The return path belongs to another organization than the author.',
  ),
  recipients: double('Number of recipients that the mail server names.'),
  is_ipv6: bool('The client’s address is IPv6.'),
}

export const senderTable: FactTable<Known<typeof senderFacts>> = {
  is_given: bool('A user of the mail server sends it; otherwise all of this group is empty.'),
  sent_today: double('Messages that the user sent today (UTC), before this one.'),
  unwanted_today: double('Messages of today that were unwanted, whoever sent them.'),
  sent_hour: double('Messages that the user sent within the hour, before this one.'),
  unwanted_hour: double('Messages of the hour that were unwanted, whoever sent them.'),
  recipients_today: double('Different recipients of today.'),
  known_days: double('Days since the user’s first message, at most 13.'),
  unwanted_share: double('Unwanted messages divided by all plus 20, two weeks, 0 to 1.'),
  complaint_share: double('Recipients who complained, divided by all plus 20, 0 to 1.'),
  bounce_share: double('Recipients whose mail bounced, divided by all plus 20, 0 to 1.'),
  read_share: double('Recipients who read the mail, divided by all plus 20, 0 to 1.'),
  reputation: double('From −1 (sends spam) to +1; near 0 while little is known.'),
}

export const networkTable: FactTable<Known<typeof networkFacts>> = {
  is_known: bool('An imported table or a registry knows the network of the origin.'),
  asn: double('The number of its autonomous system; 0 when unknown.'),
  name: string('The name of the network.'),
  country: string('Its country as a code of two letters.'),
}

export const blacklistsTable: FactTable<Known<typeof blacklistFacts>> = {
  is_asked: bool(
    'DNS blacklists were queried, for a check only about the client; otherwise the group is empty.',
  ),
  origin_spam: bool('A blacklist contains the origin as a source of spam.'),
  origin_compromised: bool('A blacklist contains the origin as compromised.'),
  origin_dynamic: bool('A blacklist contains the origin as a dynamic or residential address.'),
  origin_welcome: bool('A welcome list contains the origin.'),
  domain_spam: bool('A blacklist contains a domain of the message for spam.'),
  domain_compromised: bool('A blacklist contains a domain of the message as compromised.'),
  has_phishing: bool('A blacklist contains a domain of the message for phishing.'),
  has_malware: bool('A blacklist contains a domain of the message for malware.'),
  domain_welcome: bool('A welcome list contains a domain of the message.'),
  bad_zones: double('Number of blacklists that contain the origin or a domain as bad.'),
  zones: strings('The zones of those blacklists, sorted, at most 20.'),
}

const textCharsMax = 100
const zonesMax = 20

/** Facts about the reporter's statement; undefined without a report. */
export function reportFacts(report: ReportedAs | undefined) {
  if (!report) return undefined
  const karma = Math.min(1, Math.max(0, report.karma))
  return { is_given: true, kind: report.kind, karma, channel: report.channel }
}

/** Facts about the SMTP envelope; `organization` is the registrable domain of the author. */
export function envelopeFacts(envelope: Envelope | undefined, organization: string) {
  if (!envelope) return undefined
  const { ip, helo = '', returnPath, recipients = [] } = envelope
  const bare = (returnPath ?? '').replace(/^<|>$/g, '').trim().toLowerCase()
  const domain = bare.slice(bare.lastIndexOf('@') + 1)
  const house = registrableDomainOf(domain) ?? domain
  const name = helo.trim()
  return {
    is_given: true,
    helo_missing: name === '',
    helo_literal: name.startsWith('[') || parseIp(name) !== undefined,
    helo_bare: name !== '' && !/[.:]/.test(name),
    return_path_empty: returnPath !== undefined && bare === '',
    return_path_domain: domain.slice(0, 253),
    return_path_other_domain: house !== '' && organization !== '' && house !== organization,
    recipients: recipients.length,
    is_ipv6: ip?.includes(':') === true,
  }
}

/** Facts about the sending user; undefined if no user sends the message. */
export function senderFacts(record: SendingRecord | undefined) {
  if (!record) return undefined
  return {
    is_given: true,
    sent_today: record.today.sent,
    unwanted_today: record.today.unwanted,
    sent_hour: record.lastHour.sent,
    unwanted_hour: record.lastHour.unwanted,
    recipients_today: record.today.recipients,
    known_days: record.knownDays,
    unwanted_share: record.unwantedShare,
    complaint_share: record.complaintShare,
    bounce_share: record.bounceShare,
    read_share: record.readShare,
    reputation: record.score,
  }
}

export function networkFacts(network: OriginNetwork | null | undefined) {
  if (!network) return undefined
  return {
    is_known: true,
    asn: network.asn ?? 0,
    name: (network.name ?? '').slice(0, textCharsMax),
    country: network.country ?? '',
  }
}

/**
 * Facts about blacklist entries for the origin's address and for the domains; undefined when there
 * was no lookup.
 */
export function blacklistFacts(listings: readonly BlacklistEntry[] | null | undefined) {
  if (!listings) return undefined
  const ofOrigin = new Set<BlacklistEntry['category']>()
  const ofDomain = new Set<BlacklistEntry['category']>()
  const zones = new Set<string>()
  for (const { subject, category, zone } of listings) {
    if (parseIp(subject)) ofOrigin.add(category)
    else ofDomain.add(category)
    if (category !== 'welcome' && category !== 'other') zones.add(zone)
  }
  return {
    is_asked: true,
    origin_spam: ofOrigin.has('spam'),
    origin_compromised: ofOrigin.has('compromised'),
    origin_dynamic: ofOrigin.has('dynamic'),
    origin_welcome: ofOrigin.has('welcome'),
    domain_spam: ofDomain.has('spam'),
    domain_compromised: ofDomain.has('compromised'),
    has_phishing: ofDomain.has('phishing'),
    has_malware: ofDomain.has('malware'),
    domain_welcome: ofDomain.has('welcome'),
    bad_zones: zones.size,
    zones: [...zones].sort().slice(0, zonesMax),
  }
}
