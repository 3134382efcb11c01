import type { Network } from '../analysis/network.ts'
import { domainOf } from '../mail/address.ts'
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
export function mayBeTold(
  contact: KnownContact | undefined,
  forwardTo: 'any' | 'enrolled',
  topic: FeedbackTopic,
): boolean {
  if (!isHealthy(contact) || silenceOf(contact, topic) !== undefined) return false
  return forwardTo === 'any' || contact?.state === 'enrolled'
}

/** Whether mail to an address does not come back, as far as is known. */
export function isHealthy(contact: KnownContact | undefined): boolean {
  return (contact?.health ?? 'healthy') === 'healthy'
}

/** Why a desk is not told though its mail arrives, and no other is told in its stead. */
export function silenceOf(
  contact: KnownContact | undefined,
  topic: FeedbackTopic,
): string | undefined {
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
