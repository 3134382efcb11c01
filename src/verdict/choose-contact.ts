import { domainOf } from '../mail/address.ts'
import type { CfblFinding } from '../mail/cfbl.ts'
import { prefixLength } from '../mail/ip-blocks.ts'
import type { Network } from '../origin/networks.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import type { Health } from './contact-health.ts'
import type { VerdictClass } from './verdict.ts'

/** What a feedback report is about, by the verdict: what is neither of the others is spam. */
export const feedbackTopics = ['spam', 'phishing', 'malware'] as const

/** One of them. */
export type FeedbackTopic = (typeof feedbackTopics)[number]

/** What we know of an address that we may have written to before. */
export type KnownContact = {
  state: 'found' | 'enrolled' | 'paused' | 'stopped'
  health: Health
  /** Somebody complained of our mail there, or an administrator forbade it. */
  isMuted?: true
  /** What it takes reports of; absent or null: of all. */
  takes?: readonly FeedbackTopic[] | null
}

/** Ours and the reporter's: abuse desks of nobody else. All addresses of `domain` are. */
export type OwnAddresses = { addresses: readonly string[]; domain: string }

/** To whom to write, or why to nobody. */
export type ContactChoice = { to: string } | { nobody: string }

/**
 * Chooses among a network's contacts: the best one whose mail does not come back. A desk that asked
 * us to stop is not gone round by its next address. With `enrolled` only those count that enrolled.
 * Whatever a registry or a table says, we never write to ourselves nor to the reporter.
 */
export function chooseContact(
  { contacts }: Pick<Network, 'contacts'>,
  known: ReadonlyMap<string, KnownContact>,
  forwardTo: 'any' | 'enrolled',
  own: OwnAddresses,
  topic: FeedbackTopic,
): ContactChoice {
  const others = contacts.filter((address) => !isOwn(address, own))
  if (others.length === 0) {
    return { nobody: 'The abuse address of this network is our own, or the reporter’s.' }
  }
  const healthy = others.filter((address) => isHealthy(known.get(address)))
  const [best] = healthy
  if (best === undefined) return { nobody: 'Every known abuse address of this network bounces.' }
  const silence = silenceOf(known.get(best), topic)
  if (silence !== undefined) return { nobody: silence }
  if (forwardTo === 'any') return { to: best }
  const enrolled = healthy.find((address) => mayBeTold(known.get(address), 'enrolled', topic))
  if (enrolled !== undefined) return { to: enrolled }
  return { nobody: 'The abuse desk has not enrolled, and only enrolled ones are written to.' }
}

/** Whether an address may be told at all of such a message. */
function mayBeTold(
  contact: KnownContact | undefined,
  forwardTo: 'any' | 'enrolled',
  topic: FeedbackTopic,
): boolean {
  if (!isHealthy(contact) || silenceOf(contact, topic) !== undefined) return false
  return forwardTo === 'any' || contact?.state === 'enrolled'
}

/** Whether mail to an address does not come back, as far as is known. */
function isHealthy(contact: KnownContact | undefined): boolean {
  return (contact?.health ?? 'healthy') === 'healthy'
}

/** Why a desk is not told though its mail arrives, and no other is told in its stead. */
function silenceOf(contact: KnownContact | undefined, topic: FeedbackTopic): string | undefined {
  if (contact?.state === 'stopped') return 'Reports to this abuse desk are stopped.'
  if (contact?.isMuted) return 'The abuse address of this network is not to be written to.'
  if (contact?.state === 'paused') return 'Reports to this abuse desk are paused.'
  if (contact?.takes && !contact.takes.includes(topic)) {
    return `The abuse desk takes no reports of ${topic}.`
  }
  return undefined
}

/** What a message is told as. */
export function topicOf(verdict: VerdictClass): FeedbackTopic {
  return verdict === 'phishing' || verdict === 'malware' ? verdict : 'spam'
}

/** Whether an address is ours or the reporter's, in whatever spelling. */
export function isOwn(address: string, { addresses, domain }: OwnAddresses): boolean {
  const key = keyOf(address)
  return domainOf(address) === domainOf(`@${domain}`) || addresses.some((one) => keyOf(one) === key)
}

/** The same for all spellings of an address. */
function keyOf(address: string): string {
  return `${address.slice(0, address.lastIndexOf('@')).toLowerCase()}@${domainOf(address) ?? ''}`
}

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

/** What of a message, and of what is known of its sender, says who else is told. */
export type SentBy = {
  cfbl: Pick<CfblFinding, 'addresses'> | null | undefined
  marketer: RecognizedMarketer | null | undefined
}

/**
 * Who is to be told because of who sent a message: the feedback address of its marketer, and the
 * addresses that it names itself and may. A marketer gets its tokens back when its own signature
 * stands behind them.
 */
export function alsoTellOf({ cfbl, marketer }: SentBy): AlsoTell[] {
  const named = (cfbl?.addresses ?? []).map(({ address, format }): AlsoTell => {
    const why = 'The message asks for complaints of it, and its signature vouches for that.'
    return { address, source: 'cfbl', format, keepsTokens: false, why }
  })
  if (!marketer?.feedback) return named
  const { feedback: address, by, name } = marketer
  const how = { format: 'arf', keepsTokens: by === 'signature' } as const
  return [{ address, source: 'marketer', ...how, why: `${name} is told, as it wishes.` }, ...named]
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
  return kind === 'range' ? prefixLength(value) + 1 : 0
}
