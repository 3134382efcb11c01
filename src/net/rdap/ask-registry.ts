import {
  commonBlock,
  isRegistryBlock,
  isWiderThanAnyHolding,
  parseBlock,
  prefixLength,
} from '../../mail/ip-blocks.ts'
import { type IpAddress, networkSet, type NetworkSet } from '../../mail/ip.ts'
import type { Clock } from '../../world.ts'
import { entityContacts, arrayOf, objectOf, textsOf } from './contacts.ts'
import { type Fetch, getJson, type JsonAnswer, type RequestLimits } from './get-json.ts'
import type { RegistryPace } from './rdap.ts'
import {
  type NetworkAnswer,
  readNetwork,
  type RegistryAnswer,
  unknownNetwork,
} from './registry-answer.ts'

/** What came of a URL and of where it led. */
export type Followed =
  | { is: 'json'; json: unknown }
  | { is: 'absent' }
  /** Not now: the server rests, is busy or does not answer. */
  | { is: 'later'; retryAt: Date; why: string }
  /** An answer came that is of no use. */
  | { is: 'unusable'; why: string }

/** What following needs. */
export type FollowTools = {
  fetch: Fetch
  clock: Clock
  pace: RegistryPace
  limits: RequestLimits
  mayOpen: (url: URL) => boolean
}

const REDIRECTS_MAX = 3

/**
 * Asks a URL for JSON and follows at most three redirects, each within reach and at the pace of
 * its own server. What servers do is an answer; never throws for it.
 */
export async function followUrl(url: URL, deadline: Date, tools: FollowTools): Promise<Followed> {
  let here = url
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    if (!tools.mayOpen(here)) return { is: 'unusable', why: 'it leads to a place out of reach' }
    const answer = await askInTurn(here, deadline, tools)
    if (answer.is !== 'moved') return answer
    if (!answer.to) return { is: 'unusable', why: 'it leads nowhere' }
    here = answer.to
  }
  return { is: 'unusable', why: 'it leads from place to place' }
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

/** Which registry answers for which blocks, the longest prefix first. */
export type Services = readonly { prefix: number; block: NetworkSet; base: URL }[]

const BLOCKS_MAX = 20_000

/**
 * Reads a bootstrap file for addresses (RFC 9224 §5). Of the URLs of a service the first that may
 * be opened counts, https before http; a service without one is left out. Undefined when it is no
 * such file.
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

/** The base URL of the registry that answers for an address; it ends in a slash. */
export function findService(services: Services, address: IpAddress): URL | undefined {
  return services.find(({ block }) => block.has(address))?.base
}

function serviceOf(text: string, base: URL): Services[number][] {
  const cidr = parseBlock(text)
  if (cidr === undefined) return []
  const prefix = Number(cidr.slice(cidr.indexOf('/') + 1))
  return [{ prefix, block: networkSet([cidr]), base }]
}

function baseOf(texts: readonly string[], mayOpen: (url: URL) => boolean): URL | undefined {
  const urls = texts
    .map((text) => URL.parse(text.endsWith('/') ? text : `${text}/`))
    .filter((url) => url !== null)
    .filter(mayOpen)
  return urls.find(({ protocol }) => protocol === 'https:') ?? urls[0]
}

/** That nobody is named holds at most for so much around the address: silence is cheap to say. */
const silentPrefix = { 4: 16, 6: 32 } as const
const UNUSABLE_MS = 3_600_000
const PARENTS_MAX = 2

/** What asking needs: `follow` gives what a URL leads to. */
export type AskTools = {
  follow: (url: URL, deadline: Date) => Promise<Followed>
  clock: Clock
}

/** Asks the registry at `base` about an address, with what it takes to find a contact. */
export async function askRegistry(
  address: IpAddress,
  base: URL,
  deadline: Date,
  tools: AskTools,
): Promise<RegistryAnswer> {
  const registry = base.hostname
  const answer = await tools.follow(new URL(`ip/${address.text}`, base), deadline)
  if (answer.is === 'absent') {
    return unknownNetwork(address.text, registry, `${registry} knows no network of the address.`)
  }
  if (answer.is === 'later') return laterOf(answer, registry)
  const found = answer.is === 'json' ? readNetwork(answer.json, address) : undefined
  if (!found) {
    const why = answer.is === 'unusable' ? answer.why : 'the answer is not about the address'
    const retryAt = new Date(tools.clock().getTime() + UNUSABLE_MS)
    return { is: 'later', retryAt, why: `${registry} cannot be understood: ${why}.` }
  }
  const { cidrs, name, country } = found
  const contacts = await contactsOf(found, address, base, deadline, tools)
  if ('is' in contacts) return laterOf(contacts, registry)
  if (contacts.length === 0) {
    const network = { cidrs, holdsFor: silenceAround(address, found), name, country, registry }
    return { is: 'none', network, why: nobodyNamed(found) }
  }
  const holdsFor = cidrs.filter((cidr) => !isWiderThanAnyHolding(cidr))
  return { is: 'found', network: { cidrs, holdsFor, name, country, registry }, contacts }
}

/** Of a registry's own block nothing follows for the networks in it. */
function silenceAround(address: IpAddress, { cidrs, own }: NetworkAnswer): string[] {
  const length = isWiderThanAnyHolding(own)
    ? { 4: 32, 6: 128 }[address.family]
    : silentPrefix[address.family]
  const around = `${address.text}/${length}`
  return cidrs.map((cidr) => commonBlock(cidr, around)).filter((block) => block !== undefined)
}

type Later = Followed & { is: 'later' }

/**
 * The contacts of a network: its own, else those of an entity that was told in part, else those
 * of the networks around it, else what its remarks say.
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

/** Climbs to the networks around, each wider than the one before, short of a registry's own. */
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
  return { is: 'later', retryAt, why: `${registry} cannot be asked now: ${why}.` }
}

function nobodyNamed({ cidrs, name, isRedacted }: NetworkAnswer): string {
  const network = name === null ? `${cidrs[0]}` : `${cidrs[0]} (${name})`
  const held = isRedacted ? ' The registry holds contacts back.' : ''
  return `No abuse contact is registered for ${network}.${held}`
}
