import cdns from './cdns.json' with { type: 'json' }
import type { FoundPage } from './find-pages.ts'
import { findPlatform, type Platform } from './platforms.ts'
import type { ContactOverride, StopperRole } from '../mail/page-notice.ts'

/**
 * Who can stop a page: the platform on which it is published, one that redirects to it, the network
 * of its host, a CDN in front of the host, or the registrar of its domain.
 */
export type Stopper = {
  role: StopperRole
  name: string
  /** For abuse reports, the best first; empty when only a form is known, or nothing. */
  addresses: readonly string[]
  form?: string
  /** Whether the sources of the addresses are weak: an operator writes there, not the program. */
  isUnconfirmed?: true
  /** What operators set in place of the addresses of registries and of our tables. */
  override?: 'contacts' | 'muted'
  /** Of a network: the addresses of the host in it. */
  ips?: readonly string[]
}

/** A network in which addresses of the page's host are. */
export type HostNetwork = {
  asn: number | null
  name: string | null
  contacts: readonly string[]
  /** The address that was looked up. */
  ip?: string
}

/** The registrar of the page's domain. */
export type DomainRegistrar = { registrar: string | null; contacts: readonly string[] }

/** What was looked up about a page; nothing for what is not known. */
export type LookedUp = {
  networks: readonly HostNetwork[]
  registrar: DomainRegistrar | undefined
}

/** Whom to look up for a page: only those who can do something about it alone. */
export function isLookedUp(
  page: Pick<FoundPage, 'accused'>,
): Record<'host' | 'registrar', boolean> {
  const { platform, scope } = page.accused
  // Where a platform is known, its network and its domain are those of all its customers.
  const isOfOwner = platform === undefined || platform.kind === 'dns'
  return { host: isOfOwner, registrar: platform === undefined && scope === 'host' }
}

const byAsn = new Map(cdns.flatMap((cdn) => cdn.asns.map((asn) => [asn, cdn] as const)))

/**
 * Returns who can stop a page, in the order in which they are to be asked. A platform is asked
 * instead of networks and registrars; the registrar is not asked about a page on the site of
 * somebody else, because it could only stop the whole site.
 */
export function stoppersOf(
  page: Pick<FoundPage, 'accused' | 'through'>,
  { networks, registrar }: LookedUp,
): Stopper[] {
  const { platform } = page.accused
  const wanted = isLookedUp(page)
  const redirecting = page.through.flatMap((hostname) => {
    return findPlatform({ hostname, pathname: '/-' })?.platform ?? []
  })
  const hosts = wanted.host ? networks.map(hostOf) : []
  return merged([
    ...(platform ? [ofPlatform(platform, 'platform')] : []),
    ...redirecting.map((one) => ofPlatform(one, 'redirector')),
    ...hosts,
    ...(wanted.registrar && registrar ? [ofRegistrar(registrar)] : []),
  ])
}

function ofPlatform(platform: Platform, role: 'platform' | 'redirector'): Stopper {
  const { name, email, form, unconfirmed } = platform
  const addresses = email === undefined ? [] : [email]
  return {
    ...{ role, name, addresses },
    ...(form !== undefined && { form }),
    ...(unconfirmed === true && { isUnconfirmed: true }),
  }
}

function hostOf({ asn, name, contacts, ip }: HostNetwork): Stopper {
  const ips = ip === undefined ? [] : [ip]
  const cdn = asn === null ? namedCdn(name) : byAsn.get(asn)
  if (!cdn) return { role: 'host', name: name ?? 'unknown network', addresses: contacts, ips }
  const { email, form } = cdn
  const addresses = email === undefined ? contacts : [email]
  // A CDN with a form does not read mail.
  if (form !== undefined) return { role: 'cdn', name: cdn.name, addresses: [], form, ips }
  return { role: 'cdn', name: cdn.name, addresses, ips }
}

/** Registries name networks `CLOUDFLARENET`. */
function namedCdn(network: string | null) {
  return cdns.find(({ name }) => network?.toLowerCase().startsWith(name.toLowerCase()))
}

function ofRegistrar({ registrar, contacts }: DomainRegistrar): Stopper {
  return { role: 'registrar', name: registrar ?? 'unknown registrar', addresses: contacts }
}

/** Finds a CDN by its name in our table, in any case. */
export function findCdnNamed(name: string) {
  return cdns.find((cdn) => cdn.name.toLowerCase() === name.toLowerCase())
}

/** Finds the override of a registrar, platform or CDN. Registries differ in the case of names. */
export function overrideOf<Override extends ContactOverride>(
  { role, name }: Pick<Stopper, 'role' | 'name'>,
  overrides: readonly Override[],
): Override | undefined {
  const wanted = role === 'redirector' ? 'platform' : role
  const key = name.toLowerCase()
  return overrides.find((one) => one.role === wanted && one.name.toLowerCase() === key)
}

/** Replaces addresses by those that operators set. Muted ones stay, because pages show them. */
export function withOverrides(
  stoppers: readonly Stopper[],
  overrides: readonly ContactOverride[],
): Stopper[] {
  return stoppers.map((stopper) => {
    const override = overrideOf(stopper, overrides)
    if (!override) return stopper
    if (override.isMuted) return { ...stopper, override: 'muted' }
    const { isUnconfirmed: _, ...rest } = stopper
    return { ...rest, addresses: override.contacts, override: 'contacts' }
  })
}

/** Joins those with the same role and contacts: a host often has addresses in one network. */
function merged(stoppers: readonly Stopper[]): Stopper[] {
  const keyOf = ({ role, addresses, form }: Stopper) => [role, form, ...addresses].join(' ')
  return [...Map.groupBy(stoppers, keyOf).values()].flatMap(([first, ...others]) => {
    const ips = [first, ...others].flatMap((one) => one?.ips ?? [])
    return first ? [{ ...first, ...(ips.length > 0 && { ips }) }] : []
  })
}
