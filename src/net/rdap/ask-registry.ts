import { HOUR_MS } from '../../durations.ts'
import {
  commonBlock,
  isRegistryBlock,
  isWiderThanAnyHolding,
  parseBlock,
  prefixLength,
} from '../../mail/ip-blocks.ts'
import { type IpAddress, networkSet, type NetworkSet } from '../../mail/ip.ts'
import type { Clock } from '../../world.ts'
import { arrayOf, entityContacts, objectOf, textsOf } from './contacts.ts'
import type { Fetch } from '../guarded-http.ts'
import { getJson, type JsonAnswer, type RequestLimits } from './get-json.ts'
import {
  type NetworkAnswer,
  readNetwork,
  type RegistryAnswer,
  unknownNetwork,
} from './registry-answer.ts'

/** Whether a server may be queried now; `retryAt` is the earliest time of the next attempt. */
type Permission = { ok: true } | { ok: false; retryAt: Date; why: string }

/** Limits the rate of requests to each server, identified by its origin (`https://host`). */
export type RegistryPace = {
  /** Waits for the server's next slot; refuses immediately when that is after `deadline`. */
  admit: (origin: string, deadline: Date) => Promise<Permission>
  /** Records that the server answered, which resets its failures. */
  answered: (origin: string) => void
  /**
   * Records that the server did not answer, or asked for a pause. Returns the time of the next
   * attempt.
   */
  failed: (origin: string, retryAfterMs: number | undefined) => Date
}

/** The result of requesting a URL and following its redirects. */
export type Followed =
  | { is: 'json'; json: unknown }
  | { is: 'absent' }
  /** Not available now: the server is paused, busy or does not answer. */
  | { is: 'later'; retryAt: Date; why: string }
  /** The answer cannot be used. */
  | { is: 'unusable'; why: string }

/** Dependencies of `followUrl`. */
export type FollowTools = {
  fetch: Fetch
  clock: Clock
  pace: RegistryPace
  limits: RequestLimits
  mayOpen: (url: URL) => boolean
}

const REDIRECTS_MAX = 3

/**
 * Requests JSON from a URL and follows at most three redirects. Each URL must be allowed, and each
 * request respects the rate of its server. Returns server errors as results; never throws for them.
 */
export async function followUrl(url: URL, deadline: Date, tools: FollowTools): Promise<Followed> {
  let here = url
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    if (!tools.mayOpen(here))
      return { is: 'unusable', why: 'it redirects to an address that is not allowed' }
    const answer = await askInTurn(here, deadline, tools)
    if (answer.is !== 'moved') return answer
    if (!answer.to) return { is: 'unusable', why: 'it redirects without an address' }
    here = answer.to
  }
  return { is: 'unusable', why: 'it redirects too often' }
}

async function askInTurn(
  url: URL,
  deadline: Date,
  { fetch, clock, pace, limits }: FollowTools,
): Promise<Followed | (JsonAnswer & { is: 'moved' })> {
  const leave = await pace.admit(url.origin, deadline)
  if (!leave.ok) return { is: 'later', retryAt: leave.retryAt, why: leave.why }
  const answer = await getJson(url, { fetch, now: clock(), limits })
  if (answer.is === 'busy' || answer.is === 'failed') {
    const retryAfterMs = answer.is === 'busy' ? answer.retryAfterMs : undefined
    return { is: 'later', retryAt: pace.failed(url.origin, retryAfterMs), why: answer.why }
  }
  pace.answered(url.origin)
  return answer.is === 'unreadable' ? { is: 'unusable', why: answer.why } : answer
}

/** The RDAP server of each block, longest prefix first. */
export type Services = readonly { prefix: number; block: NetworkSet; base: URL }[]

const BLOCKS_MAX = 20_000

/**
 * Parses a bootstrap file for addresses (RFC 9224 §5). Uses the first allowed URL of each service,
 * https before http, and skips a service without one. Undefined for any other JSON.
 */
export function readServices(json: unknown, mayOpen: (url: URL) => boolean): Services | undefined {
  const file = objectOf(json)
  if (!file || !Array.isArray(file['services'])) return undefined
  return arrayOf(file['services'])
    .flatMap((service) => {
      const [blocks, urls] = arrayOf(service)
      const base = baseOf(textsOf(urls), mayOpen)
      return base ? textsOf(blocks).flatMap((text) => serviceOf(text, base)) : []
    })
    .slice(0, BLOCKS_MAX)
    .sort((one, other) => other.prefix - one.prefix)
}

/** Returns the base URL of the registry responsible for an address; it ends in a slash. */
export function findService(services: Services, address: IpAddress): URL | undefined {
  return services.find(({ block }) => block.has(address))?.base
}

function serviceOf(text: string, base: URL): Services[number][] {
  const cidr = parseBlock(text)
  if (cidr === undefined) return []
  return [{ prefix: prefixLength(cidr), block: networkSet([cidr]), base }]
}

/** The first allowed URL, https before http, with a slash at its end. */
export function baseOf(texts: readonly string[], mayOpen: (url: URL) => boolean): URL | undefined {
  const urls = texts
    .map((text) => URL.parse(text.endsWith('/') ? text : `${text}/`))
    .filter((url) => url !== null)
    .filter(mayOpen)
  return urls.find(({ protocol }) => protocol === 'https:') ?? urls[0]
}

/**
 * Shortest prefixes for which the answer "no contact" is reused, because such an answer says little
 * about a large block.
 */
const silentPrefix = { 4: 16, 6: 32 } as const
const UNUSABLE_MS = HOUR_MS
const PARENTS_MAX = 2

/** Dependencies of `askRegistry`; `follow` requests a URL and follows its redirects. */
export type AskTools = {
  follow: (url: URL, deadline: Date) => Promise<Followed>
  clock: Clock
}

/**
 * Queries the registry at `base` about an address, with further requests if needed to find a
 * contact.
 */
export async function askRegistry(
  address: IpAddress,
  base: URL,
  deadline: Date,
  tools: AskTools,
): Promise<RegistryAnswer> {
  const registry = base.hostname
  const answer = await tools.follow(new URL(`ip/${address.text}`, base), deadline)
  if (answer.is === 'absent') {
    return unknownNetwork(address.text, registry, `${registry} has no network for the address.`)
  }
  if (answer.is === 'later') return laterOf(answer, registry)
  const found = answer.is === 'json' ? readNetwork(answer.json, address) : undefined
  if (!found) {
    const why = answer.is === 'unusable' ? answer.why : 'the answer is about another address'
    const retryAt = new Date(tools.clock().getTime() + UNUSABLE_MS)
    return { is: 'later', retryAt, why: `The answer of ${registry} cannot be used: ${why}.` }
  }
  const { cidrs, name, country } = found
  const contacts = await contactsOf(found, address, base, deadline, tools)
  if ('is' in contacts) return laterOf(contacts, registry)
  if (contacts.length === 0) {
    const network = { cidrs, holdsFor: silenceAround(address, found), name, country, registry }
    return { is: 'none', network, why: noContactText(found) }
  }
  const holdsFor = cidrs.filter((cidr) => !isWiderThanAnyHolding(cidr))
  return { is: 'found', network: { cidrs, holdsFor, name, country, registry }, contacts }
}

/**
 * Returns the blocks for which "no contact" is reused. An answer about a registry's own block says
 * nothing about the networks in it: then returns only the queried address.
 */
function silenceAround(address: IpAddress, { cidrs, own }: NetworkAnswer): string[] {
  const length = isWiderThanAnyHolding(own)
    ? { 4: 32, 6: 128 }[address.family]
    : silentPrefix[address.family]
  const around = `${address.text}/${length}`
  return cidrs.map((cidr) => commonBlock(cidr, around)).filter((block) => block !== undefined)
}

type Later = Followed & { is: 'later' }

/**
 * Returns the contacts of a network: its own; otherwise those of an entity that the answer
 * truncated; otherwise those of the enclosing networks; otherwise the address in its remarks.
 */
async function contactsOf(
  found: NetworkAnswer,
  address: IpAddress,
  base: URL,
  deadline: Date,
  tools: AskTools,
): Promise<readonly string[] | Later> {
  if (isWiderThanAnyHolding(found.own)) return []
  if (found.contacts.length > 0) return found.contacts
  if (found.cutEntity) {
    const { handle, href } = found.cutEntity
    const url = URL.parse(href ?? `entity/${encodeURIComponent(handle)}`, base)
    const answer = url ? await tools.follow(url, deadline) : undefined
    if (answer?.is === 'later') return answer
    const entity = answer?.is === 'json' ? objectOf(answer.json) : undefined
    const contacts = entity?.['handle'] === handle ? entityContacts(entity, true) : []
    if (contacts.length > 0) return contacts
  }
  const around = await contactsAround(found, address, base, deadline, tools)
  if ('is' in around || around.length > 0) return around
  return found.remarked === undefined ? [] : [found.remarked]
}

/**
 * Follows the links to enclosing networks, each wider than the previous one, up to the registry's
 * own.
 */
async function contactsAround(
  found: NetworkAnswer,
  address: IpAddress,
  base: URL,
  deadline: Date,
  { follow }: AskTools,
): Promise<readonly string[] | Later> {
  let inner = found
  for (let level = 0; level < PARENTS_MAX && inner.up !== undefined; level++) {
    const url = URL.parse(inner.up, base)
    const answer = url ? await follow(url, deadline) : undefined
    if (answer?.is === 'later') return answer
    const outer = answer?.is === 'json' ? readNetwork(answer.json, address) : undefined
    if (!outer || prefixLength(outer.own) >= prefixLength(inner.own)) return []
    if (isRegistryBlock(outer.own)) return []
    if (outer.contacts.length > 0) return outer.contacts
    inner = outer
  }
  return []
}

function laterOf({ retryAt, why }: Later, registry: string): RegistryAnswer {
  return { is: 'later', retryAt, why: `${registry} is not available: ${why}.` }
}

function noContactText({ cidrs, name, isRedacted }: NetworkAnswer): string {
  const network = name === null ? `${cidrs[0]}` : `${cidrs[0]} (${name})`
  const held = isRedacted ? ' The registry withholds contacts.' : ''
  return `No abuse contact is registered for ${network}.${held}`
}
