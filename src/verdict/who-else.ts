import { prefixOf } from '../mail/ip-blocks.ts'
import {
  type FeedbackTopic,
  isHealthy,
  isOwn,
  type KnownContact,
  mayBeTold,
  type OwnAddresses,
  silenceOf,
  topicOf,
} from './choose-contact.ts'
import type { VerdictClass } from './verdict.ts'

/** As what a consumer is told: the network's desk, by the author's wish, the marketer, a signer. */
export type ToldAs = 'network' | 'cfbl' | 'marketer' | 'domain'

/** Where we have an address from. */
export type ConsumerSource = 'network' | 'cfbl' | 'marketer' | 'enrollment' | 'operator'

/** Who is to be told because of who sent the message, whatever its network. */
export type AlsoTell = {
  address: string
  /** `cfbl`: the message asks for complaints itself (RFC 9477), and may: its signature verifies. */
  source: 'cfbl' | 'marketer'
  format: 'arf' | 'xarf'
  /** Whether it gets its own opaque tokens back. */
  keepsTokens: boolean
  /** A sentence for the story of the report. */
  why: string
}

/** Something an enrolled consumer is to be told of, that holds for a message. */
export type ScopeMatch = {
  kind: 'range' | 'as' | 'domain'
  /** A CIDR block, an AS number or a domain. */
  value: string
  /** Of the consumer. */
  address: string
}

/** One who is told besides the desk of the network. */
export type AlsoTold = Omit<AlsoTell, 'source'> & { toldAs: ToldAs; source: ConsumerSource }

/** What is known when it is decided who else is told. */
export type ToldOf = {
  alsoTell: readonly AlsoTell[]
  scopes: readonly ScopeMatch[]
  /** Mail addresses, in lower case, that said that the origin is not in their network. */
  disowned: ReadonlySet<string>
  known: ReadonlyMap<string, KnownContact>
  forwardTo: 'any' | 'enrolled'
  own: OwnAddresses
}

/** So many are told of one report besides the desk of its network. */
const ALSO_MAX = 8

/** The desks that enrolled for a network, or why none of them is told; neither: nobody enrolled. */
export type EnrolledDesks = { desks: readonly ScopeMatch[]; silence: string | undefined }

/**
 * Those who enrolled for the block or the autonomous system of an origin, the closest first. One
 * whose mail comes back is passed over as if it had not enrolled; where all others asked us to be
 * silent, the contacts that tables name are not told in their stead.
 */
export function enrolledDesks(told: ToldOf, topic: FeedbackTopic): EnrolledDesks {
  const matches = told.scopes
    .filter(({ kind, address }) => kind !== 'domain' && isCandidate(address, told))
    .toSorted((one, other) => closenessOf(other) - closenessOf(one))
  const desks = matches.filter(({ address }) =>
    mayBeTold(told.known.get(address), 'enrolled', topic),
  )
  const [first] = matches
  const silence = first && silenceOf(told.known.get(first.address), topic)
  return { desks, silence: desks.length > 0 ? undefined : silence }
}

/**
 * Who is told because of who sent a message: the marketer, whom the message itself names, who
 * enrolled for a domain that stands behind it. They asked for complaints of their own mail, so a
 * complaint is enough; but what is called phishing or malware is not told to whom it names itself.
 * Each address once, and none twice with `to`.
 */
export function whoElse(told: ToldOf, verdict: VerdictClass, to: readonly string[]): AlsoTold[] {
  const topic = topicOf(verdict)
  const isHarmful = topic !== 'spam'
  const named = told.alsoTell
    .filter(({ source }) => source === 'marketer' || !isHarmful)
    .toSorted((one, other) => Number(one.source === 'cfbl') - Number(other.source === 'cfbl'))
    .map((one): AlsoTold => ({ ...one, toldAs: one.source }))
  const domains = told.scopes
    .filter(({ kind }) => kind === 'domain')
    .map(({ address, value }): AlsoTold => {
      const why = `Who enrolled for mail of ${value} is told.`
      const how = { format: 'arf', keepsTokens: false } as const
      return { address, toldAs: 'domain', source: 'enrollment', ...how, why }
    })
  const seen = new Set(to.map((address) => address.toLowerCase()))
  return [...named, ...domains]
    .filter(({ address, toldAs }) => {
      if (seen.has(address.toLowerCase()) || !isCandidate(address, told)) return false
      const wanted = toldAs === 'domain' ? 'enrolled' : told.forwardTo
      if (!mayBeTold(told.known.get(address), wanted, topic)) return false
      seen.add(address.toLowerCase())
      return true
    })
    .slice(0, ALSO_MAX)
}

function isCandidate(address: string, { disowned, known, own }: ToldOf): boolean {
  return (
    !isOwn(address, own) && !disowned.has(address.toLowerCase()) && isHealthy(known.get(address))
  )
}

/** Longer blocks are closer, and every block is closer than a whole autonomous system. */
function closenessOf({ kind, value }: ScopeMatch): number {
  return kind === 'range' ? prefixOf(value) + 1 : 0
}
