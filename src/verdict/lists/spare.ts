import { freeHosting } from '../../analysis/features/known-hosts.ts'
import { providerProfiles } from '../../analysis/whence/provider-profiles.ts'
import { isSharedSuffix, registrableDomain } from '../../mail/domain.ts'
import { isRoutable, parseIp } from '../../mail/ip.ts'
import type { ListName } from './list.ts'
import { mailboxDomains, platformDomains, shortenerDomains } from './shared-names.ts'

/** Why a name is never listed, whatever is said of it. */
export type Spared =
  | 'no such name'
  | 'no public address'
  | 'reserved name'
  | 'mailbox provider'
  | 'public suffix'
  | 'shared platform'
  | 'link shortener'
  | 'our own'

/** Names under which we are met ourselves, in lower case. */
export type OwnNames = readonly string[]

const houses = new Set(
  providerProfiles
    .flatMap(({ hosts, borders, outboundHosts = [] }) => [...hosts, ...borders, ...outboundHosts])
    .map((end) => registrableDomain(end.replace(/^\./, '')))
    .filter((house) => house !== undefined),
)

/**
 * Why this name must not be listed, although it may well be in spam: too many who did nothing
 * would be hit, or it can be nobody's. An accusation of the wrong one is worse than none. Undefined
 * when nothing speaks against it.
 */
export function whySpared(list: ListName, name: string, own: OwnNames): Spared | undefined {
  return list === 'addresses' ? whyAddressSpared(name) : whyNameSpared(list, name, own)
}

function whyAddressSpared(name: string): Spared | undefined {
  const address = parseIp(name)
  if (address?.text !== name) return 'no such name'
  if (!isRoutable(address)) return 'no public address'
  const isProvider = providerProfiles.some(
    ({ relays, outbound }) => outbound.has(address) || relays.has(address),
  )
  return isProvider ? 'mailbox provider' : undefined
}

function whyNameSpared(list: 'domains' | 'hosts', name: string, own: OwnNames): Spared | undefined {
  if (!hostName.test(name) || name.length > NAME_CHARS_MAX) return 'no such name'
  const domain = registrableDomain(name)
  if (reservedEnds.test(name)) return 'reserved name'
  if (domain === undefined || isSharedSuffix(name)) return 'public suffix'
  if (list === 'domains' && domain !== name) return 'no such name'
  if (own.some((one) => isWithin(one, name) || isWithin(name, one))) return 'our own'
  if (shortenerDomains.has(domain)) return 'link shortener'
  if (mailboxDomains.has(domain) || houses.has(domain)) return 'mailbox provider'
  const isHoster = freeHosting.has(domain) && (name === domain || name === `www.${domain}`)
  if (isHoster) return 'shared platform'
  // Below a suffix of its own, such as pages.example, each name is somebody else's.
  const isCustomer = name !== domain && isSharedSuffix(name.slice(name.indexOf('.') + 1))
  return platformDomains.has(domain) && !isCustomer ? 'shared platform' : undefined
}

const NAME_CHARS_MAX = 180
const hostName = /^(?=.*[a-z])[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})+$/
/** RFC 2606, 6761, 6762, 8375, 9476 and what networks use inside. */
const reservedEnds =
  /\.(alt|arpa|corp|home|internal|invalid|lan|local|localdomain|localhost|onion|test)$/

function isWithin(name: string, domain: string): boolean {
  return name === domain || name.endsWith(`.${domain}`)
}
