import { registrableDomain } from '../mail/address.ts'
import { isRoutable, parseIp } from '../mail/ip.ts'
import { type Resolve, systemRandom } from '../world.ts'
import { askableHost } from './askable-host.ts'
import type { FoundPage } from './find-pages.ts'
import {
  type DomainRegistrar,
  type HostNetwork,
  isLookedUp,
  type Stopper,
  stoppersOf,
} from './stoppers.ts'

/** The sources of what is looked up about a page. */
export type PageSources = {
  resolve: Resolve
  /** The network of an address, with its abuse contacts; undefined when it is not known now. */
  networkOf: (ip: string) => Promise<HostNetwork | undefined>
  /** The registrar of a registrable domain; undefined when it is not known now. */
  registrarOf: (domain: string) => Promise<DomainRegistrar | undefined>
  /** Whether independent reporters received this label of a host. */
  isShared: (label: string) => boolean
}

/** Maximum number of addresses of a host that are looked up. */
const ADDRESSES_MAX = 4

/**
 * Looks up who can stop a page. Asks nobody about parts of a host that may identify the recipient,
 * and the page itself is never requested.
 */
export async function lookUpPage(page: FoundPage, sources: PageSources): Promise<Stopper[]> {
  const wanted = isLookedUp(page)
  const { hostname } = new URL(page.url)
  const host = askableHost(hostname, sources.isShared)
  // A wildcard gives the same address to any label as to one that may be a token. The domain may
  // have another address, for example if somebody else added names to it.
  const asked = host === hostname ? host : `${systemRandom(6).toString('hex')}.${host}`
  const domain = registrableDomain(host)
  const [networks, registrar] = await Promise.all([
    wanted.host ? networksOf(asked, sources) : [],
    wanted.registrar && domain !== undefined ? sources.registrarOf(domain) : undefined,
  ])
  return stoppersOf(page, { networks, registrar })
}

async function networksOf(host: string, sources: PageSources): Promise<HostNetwork[]> {
  const { resolve, networkOf } = sources
  const own = parseIp(host)
  const answers = own ? [] : await Promise.all([resolve(host, 'A'), resolve(host, 'AAAA')])
  const records = answers.flatMap((answer) => (answer.is === 'found' ? answer.records : []))
  const addresses = [own?.text ?? [], records].flat().flatMap((text) => {
    const address = parseIp(text)
    return address && isRoutable(address) ? [address.text] : []
  })
  const some = [...new Set(addresses)].slice(0, ADDRESSES_MAX)
  const found = await Promise.all(some.map(networkOf))
  return found.filter((network) => network !== undefined)
}
