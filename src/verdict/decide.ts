import type { Analysis } from '../analysis/analyze.ts'
import type { Listing } from '../mail/dnsbl.ts'
import { parseIp } from '../mail/ip.ts'

/** What a verdict rests on. */
export type Facts = {
  /** What the reporter says it is. */
  reportedAs: 'spam' | 'phishing' | 'not-spam'
  messageKind: Analysis['kind']
  hasForgedHop: boolean
  /** What DNS blacklists say of the origin's address and of the domains in the message. */
  listings: readonly Pick<Listing, 'category' | 'subject'>[]
}

/** A fact named by a rule, with its weight: above 0 speaks for spam, below 0 against. */
export type VerdictSymbol = { name: string; weight: number; meaning: string }

/** What we make of a message. */
export type Verdict = {
  class: 'spam' | 'phishing' | 'legitimate' | 'undecided'
  score: number
  symbols: readonly VerdictSymbol[]
}

type Rule = VerdictSymbol & { holds: (facts: Facts) => boolean }

const SPAM_SCORE_MIN = 5

const rules: readonly Rule[] = [
  {
    name: 'REPORTED_SPAM',
    weight: 5,
    meaning: 'The reporter says that this is spam.',
    holds: ({ reportedAs }) => reportedAs === 'spam',
  },
  {
    name: 'REPORTED_PHISHING',
    weight: 6,
    meaning: 'The reporter says that this is phishing.',
    holds: ({ reportedAs }) => reportedAs === 'phishing',
  },
  {
    name: 'REPORTED_NOT_SPAM',
    weight: -5,
    meaning: 'The reporter says that this is not spam.',
    holds: ({ reportedAs }) => reportedAs === 'not-spam',
  },
  {
    name: 'FORGED_HOP',
    weight: 2,
    meaning: 'A Received line below the hand-over was invented.',
    holds: ({ hasForgedHop }) => hasForgedHop,
  },
  {
    name: 'ORIGIN_LISTED',
    weight: 2,
    meaning: 'A DNS blacklist knows the origin as a source of spam or as taken over.',
    holds: ({ listings }) =>
      listings.some(({ category, subject }) => isBadHost(category) && isAddress(subject)),
  },
  {
    // A report alone does not outweigh it: what is reported of such a host is often wanted mail.
    name: 'ORIGIN_WELCOME',
    weight: -1,
    meaning: 'A DNS welcome list vouches for the origin.',
    holds: ({ listings }) =>
      listings.some(({ category, subject }) => category === 'welcome' && isAddress(subject)),
  },
  {
    name: 'BAD_DOMAIN_LISTED',
    weight: 3,
    meaning: 'A DNS blacklist knows a domain in the message for phishing or malware.',
    holds: ({ listings }) =>
      listings.some(({ category, subject }) => isBadSite(category) && !isAddress(subject)),
  },
  {
    name: 'MACHINE_ANSWER',
    weight: -8,
    meaning: 'A mail system wrote this: a bounce, an automatic reply or a feedback report.',
    holds: ({ messageKind }) => messageKind !== 'message',
  },
]

function isAddress(subject: string): boolean {
  return parseIp(subject) !== undefined
}

function isBadHost(category: Listing['category']): boolean {
  return category === 'spam' || category === 'compromised'
}

function isBadSite(category: Listing['category']): boolean {
  return category === 'phishing' || category === 'malware'
}

/**
 * Names what the facts show and concludes. This first version takes the reporter's word, unless a
 * mail system wrote the message: backscatter is not its relay's fault.
 */
export function decide(facts: Facts): Verdict {
  const symbols = rules
    .filter(({ holds }) => holds(facts))
    .map(({ name, weight, meaning }) => ({ name, weight, meaning }))
  const score = symbols.reduce((sum, { weight }) => sum + weight, 0)
  return { class: classOf(score, facts), score, symbols }
}

function classOf(score: number, { reportedAs }: Facts): Verdict['class'] {
  if (reportedAs === 'not-spam') return 'legitimate'
  return score < SPAM_SCORE_MIN ? 'undecided' : reportedAs
}
