import type { IpAddress } from '../../mail/ip.ts'
import type { Clock } from '../../world.ts'
import { entityContacts } from './contacts.ts'
import type { Followed } from './follow-url.ts'
import { objectOf } from './json-members.ts'
import { type NetworkAnswer, readNetwork } from './network-answer.ts'
import { type RegistryAnswer, unknownNetwork } from './registry-answer.ts'

/** Blocks as wide as these were given to registries: no network of a customer is wider. */
const registryPrefix = { 4: 8, 6: 12 } as const
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
  const network = { cidrs: found.cidrs, name: found.name, country: found.country, registry }
  const contacts = await contactsOf(found, address, base, deadline, tools)
  if ('is' in contacts) return laterOf(contacts, registry)
  if (contacts.length > 0) return { is: 'found', network, contacts }
  return { is: 'none', network, why: nobodyNamed(found) }
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
  if (found.prefix < registryPrefix[address.family]) return []
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
    if (!outer || outer.prefix >= inner.prefix) return []
    if (outer.prefix <= registryPrefix[address.family]) return []
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
