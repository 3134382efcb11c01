import { domainOf, registrableDomainOf } from '../mail/address.ts'
import { fieldValue, fieldValues, type HeaderField } from '../mail/header.ts'
import { type IpAddress, isRoutable, parseIp } from '../mail/ip.ts'
import { authorAddress } from '../mail/message.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { Walk } from './injection-point.ts'
import type { ProviderProfile } from './provider-profiles.ts'
import { isBorder, isClientAddress, isSealer, senderOf } from './providers.ts'
import { compareRecipients, fieldsAbove, recipientsAbove } from './recipients.ts'
import { followProvider, type ProviderPath } from './trace.ts'
import { type Hop } from './hop.ts'

const names = new Set([
  'x-sender-ip',
  'authentication-results',
  'received-spf',
  'x-incomingtopheadermarker',
  'x-originating-ip',
])
const prefixes = ['arc-', 'x-ms-', 'x-microsoft-', 'x-forefront-', 'x-google-', 'x-pm-']

/** Removes the fields in which a receiving provider recorded its own verdicts. */
export function withoutStamps(fields: readonly HeaderField[]): HeaderField[] {
  return fields.filter(
    ({ key }) => !names.has(key) && !prefixes.some((prefix) => key.startsWith(prefix)),
  )
}

/** The client behind the provider that handed a message over, as that provider recorded it. */
export type Submitter = {
  /** Canonical text of the address. */
  ip: string
  /** The evidence for this client. */
  how: Phrase
  /** The confidence, 0 to 1. */
  confidence: number
}

const lineConfidence = 0.95
const sealConfidence = 0.98
const fieldConfidence = 0.6

/**
 * The submitter: the peer in the Received line at the border of the sending provider, else the
 * address in a field that the provider is known to write. The client may have supplied such a field
 * itself, so its confidence is lower. `sealed` are the clients that verified seals of the provider
 * name (RFC 8617), newest first; the provider's own machines are among them if it received the
 * message more than once. Null when the provider does not name a client.
 */
export function submitterOf(
  entry: Hop,
  custody: ProviderPath,
  fields: readonly HeaderField[],
  sealed: readonly IpAddress[],
): Submitter | null {
  const { provider, border, certainty } = custody
  const sealedIp = sealed.find((address) => isClient(address, entry, provider))?.text
  const client = border?.fromIp
  if (border && client && isRoutable(client)) {
    const isSealed = sealedIp === client.text
    const base = isSealed ? sealConfidence : lineConfidence * certainty
    return {
      ip: client.text,
      how: phrase(isSealed ? 'submitter-sealed' : seenAs(border), {
        line: border.index + 1,
        provider: provider.name,
        ip: client.text,
      }),
      confidence: Math.round(base * 100) / 100,
    }
  }
  if (sealedIp !== undefined) {
    const how = phrase('submitter-in-seal', { provider: provider.name, ip: sealedIp })
    return { ip: sealedIp, how, confidence: sealConfidence }
  }
  return recordedSubmitter(entry, custody, fields)
}

function seenAs({ field }: Hop): 'submitter-customer' | 'submitter-client' {
  return field?.auth === undefined ? 'submitter-client' : 'submitter-customer'
}

function recordedSubmitter(
  entry: Hop,
  { provider }: ProviderPath,
  fields: readonly HeaderField[],
): Submitter | null {
  for (const key of provider.submitterFields ?? []) {
    const addresses = fieldValues(fields, key).map((value) => recordedClient(value, provider))
    const ip = addresses.find((address) => address && isClient(address, entry, provider))?.text
    if (ip === undefined) continue
    const how = phrase('submitter-in-field', { field: key, provider: provider.name, ip })
    return { ip, how, confidence: fieldConfidence }
  }
  return null
}

function isClient(address: IpAddress, entry: Hop, provider: ProviderProfile): boolean {
  return isClientAddress(provider, address) && address.text !== entry.fromIp?.text
}

/**
 * Parses the address of a client: alone in its field, after `;Ip=`, or as `sender ip is` in results
 * that the provider recorded for its seal.
 */
function recordedClient(value: string, provider: ProviderProfile): IpAddress | undefined {
  const text = value.slice(0, 2_000).trim()
  const sealer = /^i=\d{1,2};\s*([\w.-]+)/.exec(text)?.[1]
  if (sealer !== undefined && !isSealer(provider, sealer)) return undefined
  const noted = /(?:;Ip=\[|\(sender ip is\s+)([\da-f.:]{2,45})[\])]/i.exec(text)?.[1]
  return parseIp(noted ?? text)
}

/** The evidence that distinguishes a forwarder of the reporter from one of a spammer. */
export type ForwardingProof = {
  /** The reporter's addresses, in lower case. */
  reporterAddresses: readonly string[]
  /** The verified ARC seals, newest first: the domain that sealed, and the client it recorded. */
  seals: readonly { domain: string; clientIp?: string | undefined }[]
  /** The member who posted to a mailing list; absent without DNS, or without a valid signature. */
  poster?: ListPoster | undefined
  /** The names of the hosts that receive mail for the reporter's domain, if they are known. */
  exchangers?: { domain: string; names: readonly string[] } | undefined
}

/** Who posted to a mailing list, independent of what the list states. */
export type ListPoster = {
  /** The registrable domain of the author, whose own signature is valid. */
  author: string
  /** The reverse DNS names, as we looked them up, of the machine that the list names. */
  names: readonly string[]
}

/**
 * Maximum certainty by kind of forwarder. A list's seal only proves the list's own identity, so the
 * reporter is asked to confirm the origin. If the machine that the list names belongs to the author
 * by its reverse DNS name, and the author signed the message, no list can have invented it.
 */
const certainties = {
  filter: 0.85,
  filterMaybe: 0.65,
  filterInMx: 1,
  forward: 0.9,
  forwardMaybe: 0.6,
  list: 0.65,
  postedByAuthor: 0.9,
} as const

type Step = { to: Hop; certainty: number; because: Phrase }

/**
 * Follows a message through a forwarder that handed it on for the receiver: a hosted filter, a
 * mailbox that forwards, a mailing list. The origin is then the client that the forwarder recorded.
 * Without proof the walk is unchanged, because spammers also forward mail to their victims, and the
 * Received lines below their machines may be invented.
 */
export function followForwarder(
  walk: Walk,
  hops: readonly Hop[],
  fields: readonly HeaderField[],
  proof: ForwardingProof,
): Walk {
  const { entry, provider } = walk
  if (!entry?.fromIp) return walk
  const sender = senderOf(entry)
  const step =
    sender && sender !== provider
      ? throughProvider(sender, { entry, hops, fields, proof, isReceiverKnown: Boolean(provider) })
      : throughList(entry, hops, fields, proof)
  if (!step) return sender === undefined ? walk : doubtForward(sender, walk, hops, fields, proof)
  const crossed = step.to.index - entry.index
  return {
    ...walk,
    passed: [...walk.passed, ...Array<Phrase>(crossed).fill(step.because)],
    certainty: Math.min(walk.certainty, step.certainty),
    entry: step.to,
  }
}

type Scene = {
  entry: Hop
  hops: readonly Hop[]
  fields: readonly HeaderField[]
  proof: ForwardingProof
  isReceiverKnown: boolean
}

function throughProvider(sender: ProviderProfile, scene: Scene): Step | undefined {
  const { entry, hops } = scene
  const custody = followProvider(sender, hops, entry.index + 1)
  const to = custody.border
  if (!to?.fromIp || !isRoutable(to.fromIp) || !isBorder(sender, to)) return undefined
  if (to.field?.auth !== undefined) return undefined
  const filter = scene.isReceiverKnown ? undefined : filterCertainty(sender, scene)
  if (filter !== undefined) {
    const because = phrase('filter-passed-on', { provider: sender.name })
    return { to, certainty: filter * custody.certainty, because }
  }
  if (!isForwardOfReporter(to, scene)) return undefined
  const because = phrase('forwarded-to-reporter', { provider: sender.name })
  return { to, certainty: certainties.forward * custody.certainty, because }
}

/**
 * Doubts that the machine of a large provider is the origin if the provider received the message
 * from outside for another address than the reporter's, to which it came: a mailbox there may
 * forward. A list has another address, too, but does not forward for anybody.
 */
function doubtForward(
  sender: ProviderProfile,
  walk: Walk,
  hops: readonly Hop[],
  fields: readonly HeaderField[],
  { reporterAddresses }: ForwardingProof,
): Walk {
  const { entry } = walk
  const { border } = entry ? followProvider(sender, hops, entry.index + 1) : {}
  if (!entry?.fromIp || !border?.fromIp || !isRoutable(border.fromIp)) return walk
  if (border.field?.auth !== undefined || listDomain(fields) !== undefined) return walk
  const inside = hops.slice(entry.index + 1, border.index).flatMap(({ field }) => field?.for ?? [])
  const to = [...recipientsAbove(hops, fields, entry.index), ...inside]
  if (!to.some((one) => reporterAddresses.includes(one.toLowerCase()))) return walk
  const compared = compareRecipients(entry, border, hops, { fields, reporterAddresses })
  if (compared !== 'other') return walk
  const { text: ip } = entry.fromIp
  const doubt = phrase('peer-may-receive', { ip, host: entry.rdns ?? ip })
  return { ...walk, doubt, certainty: Math.min(walk.certainty, certainties.forwardMaybe) }
}

/**
 * The certainty that a large provider receives mail for the reporter's organization and hands it on
 * to the organization's own machines; undefined when nothing indicates it. The MX records tell, or
 * the customer whom the provider names: the recipient's domain. A customer who is neither that nor
 * of the author's domain or the return path may be a spammer with an account at the provider.
 */
function filterCertainty(
  { hosts, tenantField }: ProviderProfile,
  { entry, hops, fields, proof }: Scene,
): number | undefined {
  if (tenantField === undefined) return undefined
  const recipients = recipientsAbove(hops, fields, entry.index)
  const { exchangers } = proof
  if (exchangers && recipients.some((address) => domainOf(address) === exchangers.domain)) {
    const isNamed = exchangers.names.some((name) => hosts.some((end) => name.endsWith(end)))
    return isNamed ? certainties.filterInMx : undefined
  }
  const domain = (address: string | null) =>
    registrableDomainOf(address === null ? undefined : domainOf(address))
  const tenant = registrableDomainOf(fieldValue(fields, tenantField)?.trim().toLowerCase())
  const authors = ['from', 'sender', 'return-path'].map((key) =>
    domain(authorAddress(fieldValue(fields, key) ?? '')),
  )
  if (tenant === undefined || authors.includes(tenant)) return undefined
  if (authors.every((author) => author === undefined)) return undefined
  return [...proof.reporterAddresses, ...recipients].map(domain).includes(tenant)
    ? certainties.filter
    : certainties.filterMaybe
}

/**
 * Whether the provider forwarded the message for the reporter. Either it received the message for
 * an address of the reporter; or the return path is the one that Gmail makes for a forward that its
 * target has confirmed (`user+caf_=target=domain@`), and Gmail's seal names the same client as its
 * Received lines.
 */
function isForwardOfReporter(to: Hop, { entry, hops, fields, proof }: Scene): boolean {
  const taken = to.field?.for?.toLowerCase()
  if (taken !== undefined && proof.reporterAddresses.includes(taken)) return true
  const returnPath = fieldValue(fieldsAbove(fields, entry.index), 'return-path')
  const target = /\+caf_=([^=@\s]{1,64}=[^=@\s]{1,253})@/i.exec(returnPath ?? '')?.[1]
  const isSealed = proof.seals.some(
    ({ domain, clientIp }) => domain === 'google.com' && clientIp === to.fromIp?.text,
  )
  if (target === undefined || !isSealed) return false
  const recipients = recipientsAbove(hops, fields, entry.index)
  const wanted = target.toLowerCase().replace('=', '@')
  return recipients.length === 0 || recipients.includes(wanted)
}

/**
 * Follows a mailing list to the machine that handed the message to it: if the list sealed the
 * message (RFC 8617) under the domain of its own machines, or if the author's signature and the
 * reverse DNS name of that machine prove it.
 */
function throughList(
  entry: Hop,
  hops: readonly Hop[],
  fields: readonly HeaderField[],
  { seals, poster }: ForwardingProof,
): Step | undefined {
  const list = listHandOver(entry, hops, fields)
  if (!list) return undefined
  const { owner, to } = list
  const seal = seals.find(({ domain }) => registrableDomainOf(domain) === owner)
  if (seal?.clientIp !== undefined && seal.clientIp !== to.fromIp?.text) return undefined
  if (poster?.names.some((name) => registrableDomainOf(name) === poster.author)) {
    const because = phrase('list-passed-on-author', { domain: owner, author: poster.author })
    return { to, certainty: certainties.postedByAuthor, because }
  }
  if (seal?.clientIp === undefined) return undefined
  return { to, certainty: certainties.list, because: phrase('list-passed-on', { domain: owner }) }
}

/**
 * The hop at which a mailing list received a message, by the Received lines of its own machines,
 * and the domain of these machines. Undefined if the message is not from a list, or if the list
 * does not keep the lines.
 */
export function listHandOver(
  entry: Hop,
  hops: readonly Hop[],
  fields: readonly HeaderField[],
): { owner: string; to: Hop } | undefined {
  const owner = registrableDomainOf(entry.rdns)
  if (owner === undefined || listDomain(fields) !== owner) return undefined
  for (const hop of hops.slice(entry.index + 1)) {
    if (registrableDomainOf(hop.byHost) !== owner) return undefined
    const isInside = registrableDomainOf(hop.rdns) === owner
    if (hop.fromIp && isRoutable(hop.fromIp) && !isInside) return { owner, to: hop }
  }
  return undefined
}

/** The registrable domain of the List-Id, which anybody may write. */
export function listDomain(fields: readonly HeaderField[]): string | undefined {
  const listId = /<([^<>]{1,253})>/.exec(fieldValue(fields, 'list-id') ?? '')?.[1]
  return registrableDomainOf(listId?.toLowerCase())
}
