import { domainOf } from '../mail/address.ts'
import type { CfblFinding } from '../mail/cfbl.ts'
import type { FeedbackFormat } from '../mail/feedback-format.ts'
import { prefixLength } from '../mail/ip-blocks.ts'
import type { Network } from '../origin/networks.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { RecognizedMarketer } from '../pieces/marketer.ts'
import type { VerdictClass } from './verdict.ts'

/**
 * Delivery health of an abuse address. We do not write to `failing` and `dead` ones until they
 * recover.
 */
export type Health = 'healthy' | 'failing' | 'dead'

/** Topics of feedback reports. Any verdict other than phishing or malware has the topic `spam`. */
export const feedbackTopics = ['spam', 'phishing', 'malware'] as const

export type FeedbackTopic = (typeof feedbackTopics)[number]

/** The knowledge about an address from earlier mail to it. */
export type KnownContact = {
  state: 'found' | 'enrolled' | 'paused' | 'stopped'
  health: Health
  /**
   * Set when the recipient complained about our mail or an administrator suppressed the address.
   */
  isMuted?: true
  /** Topics of which the consumer accepts reports; absent or null: all. */
  takes?: readonly FeedbackTopic[] | null
}

/**
 * Our own addresses and the reporter's, which never receive feedback reports. All addresses at
 * `domain` are ours.
 */
export type OwnAddresses = { addresses: readonly string[]; domain: string }

/** The chosen recipient, or the reason why there is none. */
export type ContactChoice = { to: string } | { noContact: Phrase }

/**
 * Chooses the best contact of a network to which mail does not bounce. If this contact asked us to
 * stop, no other contact of the network is chosen. With `enrolled`, considers only enrolled
 * contacts. Never chooses our own addresses or the reporter's, even if a registry or table lists
 * them.
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
    return { noContact: phrase('contact-is-own') }
  }
  const healthy = others.filter((address) => isHealthy(known.get(address)))
  const [best] = healthy
  if (best === undefined) return { noContact: phrase('contacts-bounce') }
  const silence = whyNotNotified(known.get(best), topic)
  if (silence !== undefined) return { noContact: silence }
  if (forwardTo === 'any') return { to: best }
  const enrolled = healthy.find((address) => mayReceive(known.get(address), 'enrolled', topic))
  if (enrolled !== undefined) return { to: enrolled }
  return { noContact: phrase('desk-not-enrolled') }
}

/** Whether an address may receive a feedback report with this topic. */
function mayReceive(
  contact: KnownContact | undefined,
  forwardTo: 'any' | 'enrolled',
  topic: FeedbackTopic,
): boolean {
  if (!isHealthy(contact) || whyNotNotified(contact, topic) !== undefined) return false
  return forwardTo === 'any' || contact?.state === 'enrolled'
}

/** Whether mail to an address does not bounce, as far as we know. */
function isHealthy(contact: KnownContact | undefined): boolean {
  return (contact?.health ?? 'healthy') === 'healthy'
}

/**
 * The reason not to notify an abuse desk to which mail does not bounce; undefined when there is
 * none. If there is a reason, no other desk is notified instead.
 */
function whyNotNotified(
  contact: KnownContact | undefined,
  topic: FeedbackTopic,
): Phrase | undefined {
  if (contact?.state === 'stopped') return phrase('desk-stopped')
  if (contact?.isMuted) return phrase('desk-suppressed')
  if (contact?.state === 'paused') return phrase('desk-paused')
  if (contact?.takes && !contact.takes.includes(topic)) {
    return phrase('desk-declines-topic', { topic })
  }
  return undefined
}

/** Returns the topic of the feedback report about a complaint. The verdict goes first. */
export function topicOf(verdict: VerdictClass, complaint: string): FeedbackTopic {
  if (verdict === 'malware') return verdict
  return verdict === 'phishing' || complaint === 'phishing' ? 'phishing' : 'spam'
}

/** Whether an address is ours or the reporter's, however it is spelled. */
export function isOwn(address: string, { addresses, domain }: OwnAddresses): boolean {
  const key = keyOf(address)
  return domainOf(address) === domainOf(`@${domain}`) || addresses.some((one) => keyOf(one) === key)
}

/** A normalized key: the same for all spellings of an address. */
function keyOf(address: string): string {
  return `${address.slice(0, address.lastIndexOf('@')).toLowerCase()}@${domainOf(address) ?? ''}`
}

/**
 * The role in which a consumer is notified: abuse desk of the network, address in the CFBL-Address
 * field, marketer, consumer enrolled for a domain, or somebody who can stop the page of a message.
 */
export type RecipientRole = 'network' | 'cfbl' | 'marketer' | 'domain' | 'page'

export type ConsumerSource = 'network' | 'cfbl' | 'marketer' | 'enrollment' | 'operator'

/**
 * A recipient named by the message itself or by its marketer, regardless of the network of its
 * origin.
 */
export type OtherAddress = {
  address: string
  /** `cfbl`: the message requests complaints itself (RFC 9477), with a signature that verifies. */
  source: 'cfbl' | 'marketer'
  format: FeedbackFormat
  /**
   * Whether the feedback report keeps opaque tokens, because this recipient issued them. Otherwise
   * they are redacted.
   */
  keepsTokens: boolean
  /** Whether the recipient is notified only if it enrolled. */
  mustEnroll?: true
  /** The reason for the choice, for the history of the report. */
  why: Phrase
}

/** Input of `otherAddresses`. */
export type SentBy = {
  cfbl: Pick<CfblFinding, 'addresses'> | null | undefined
  marketer: RecognizedMarketer | null | undefined
  service: RecognizedMarketer | null | undefined
}

/**
 * Returns the recipients that the marketer, the mailing service and the message name: the feedback
 * addresses of the marketer and of the service, and the addresses that the message is entitled to
 * request reports for. A service gets reports only if it enrolled. Opaque tokens are kept for a
 * marketer or service whose own signature verifies.
 */
export function otherAddresses({ cfbl, marketer, service }: SentBy): OtherAddress[] {
  const named = (cfbl?.addresses ?? []).map(({ address, format }): OtherAddress => {
    const why = phrase('author-takes-complaints')
    return { address, source: 'cfbl', format, keepsTokens: false, why }
  })
  return [
    ...(marketer ? feedbackOf(marketer) : []),
    ...(service ? feedbackOf(service).map((one) => ({ ...one, mustEnroll: true as const })) : []),
    ...named,
  ]
}

function feedbackOf({ feedback: address, by, name }: RecognizedMarketer): OtherAddress[] {
  if (!address) return []
  const how = { format: 'arf', keepsTokens: by === 'signature' } as const
  const why = phrase('marketer-takes-complaints', { marketer: name })
  return [{ address, source: 'marketer', ...how, why }]
}

/** A scope of an enrolled consumer that matches a message. */
export type ScopeMatch = {
  kind: 'range' | 'as' | 'domain'
  /** A CIDR block, an AS number or a domain. */
  value: string
  address: string
}

/** A recipient notified in addition to the abuse desk of the network. */
export type OtherRecipient = Omit<OtherAddress, 'source'> & {
  recipientRole: RecipientRole
  source: ConsumerSource
}

/** Input for choosing additional recipients. */
export type NotifiedRecipients = {
  requestedRecipients: readonly OtherAddress[]
  scopes: readonly ScopeMatch[]
  /**
   * Mail addresses, in lower case, of desks that answered that the origin is not in their network.
   */
  disowned: ReadonlySet<string>
  known: ReadonlyMap<string, KnownContact>
  forwardTo: 'any' | 'enrolled'
  own: OwnAddresses
}

/**
 * Whether a mailing service takes complaints about its customers: its feedback address is enrolled,
 * or a consumer is enrolled for the domain with which the service signed the message.
 */
export function takesComplaints(
  { known, scopes }: Pick<NotifiedRecipients, 'known' | 'scopes'>,
  { feedback, proof }: RecognizedMarketer,
): boolean {
  const isOfService = ({ kind, value }: ScopeMatch) =>
    kind === 'domain' && (proof === value || proof.endsWith(`.${value}`))
  const addresses = scopes.flatMap((one) => (isOfService(one) ? [one.address] : []))
  return [...addresses, ...(feedback ? [feedback] : [])].some((address) =>
    mayReceive(known.get(address), 'enrolled', 'spam'),
  )
}

/** Maximum number of recipients of one report besides the abuse desk of its network. */
const ADDITIONAL_MAX = 8

/**
 * The abuse desks that enrolled for a network, or the reason why none is notified. If `desks` is
 * empty and `silence` undefined, no desk enrolled.
 */
export type EnrolledDesks = { desks: readonly ScopeMatch[]; silence: Phrase | undefined }

/**
 * Returns the consumers enrolled for the block or the autonomous system of an origin, the most
 * specific first. Skips a consumer to whom mail bounces, as if it had not enrolled. If all others
 * asked us to stop, the contacts from tables do not replace them.
 */
export function enrolledDesks(recipients: NotifiedRecipients, topic: FeedbackTopic): EnrolledDesks {
  const matches = recipients.scopes
    .filter(({ kind, address }) => kind !== 'domain' && isCandidate(address, recipients))
    .toSorted((one, other) => closenessOf(other) - closenessOf(one))
  const desks = matches.filter(({ address }) =>
    mayReceive(recipients.known.get(address), 'enrolled', topic),
  )
  const [first] = matches
  const silence = first && whyNotNotified(recipients.known.get(first.address), topic)
  return { desks, silence: desks.length > 0 ? undefined : silence }
}

/**
 * Returns the recipients for the party that sent the message, regardless of the network: the
 * marketer, the addresses in the message itself, and the consumers enrolled for a verified domain.
 * They requested complaints about their own mail, so a complaint suffices. Addresses in the message
 * itself are not notified of phishing or malware. Each address occurs once; addresses in `to` are
 * excluded. At most 8.
 */
export function otherRecipients(
  recipients: NotifiedRecipients,
  topic: FeedbackTopic,
  to: readonly string[],
): OtherRecipient[] {
  const isHarmful = topic !== 'spam'
  const named = recipients.requestedRecipients
    .filter(({ source }) => source === 'marketer' || !isHarmful)
    .toSorted((one, other) => Number(one.source === 'cfbl') - Number(other.source === 'cfbl'))
    .map((one): OtherRecipient => ({ ...one, recipientRole: one.source }))
  const domains = recipients.scopes
    .filter(({ kind }) => kind === 'domain')
    .map(({ address, value }): OtherRecipient => {
      const why = phrase('domain-takes-complaints', { domain: value })
      const how = { format: 'arf', keepsTokens: false } as const
      return { address, recipientRole: 'domain', source: 'enrollment', ...how, why }
    })
  const seen = new Set(to.map((address) => address.toLowerCase()))
  return [...named, ...domains]
    .filter(({ address, recipientRole, mustEnroll }) => {
      if (seen.has(address.toLowerCase()) || !isCandidate(address, recipients)) return false
      const isEnrolledOnly = recipientRole === 'domain' || mustEnroll === true
      const wanted = isEnrolledOnly ? 'enrolled' : recipients.forwardTo
      if (!mayReceive(recipients.known.get(address), wanted, topic)) return false
      seen.add(address.toLowerCase())
      return true
    })
    .slice(0, ADDITIONAL_MAX)
}

function isCandidate(address: string, { disowned, known, own }: NotifiedRecipients): boolean {
  return (
    !isOwn(address, own) && !disowned.has(address.toLowerCase()) && isHealthy(known.get(address))
  )
}

/** Higher is more specific: the prefix length plus 1 for a block, 0 for an autonomous system. */
function closenessOf({ kind, value }: ScopeMatch): number {
  return kind === 'range' ? prefixLength(value) + 1 : 0
}
