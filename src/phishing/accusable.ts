import { customersDomain, registrableDomain } from '../mail/address.ts'
import { isRoutable, parseIp } from '../mail/ip.ts'
import { type OwnNames, type Spared, whySpared } from '../verdict/lists/spare.ts'
import { isKnownSite } from './known-sites.ts'
import { findPlatform, type Platform } from './platforms.ts'

/**
 * What can be accused for a page: its host, or, if others have pages on the host too, host and
 * path.
 */
export type Accusable = { scope: 'host' | 'path'; name: string; platform?: Platform }

/** Paths to which nobody links: there, an intruder left files on the site of somebody else. */
const internals =
  /^\/(?:.{0,200}\/)?(?:wp-(?:includes|admin)\/|wp-content\/(?!uploads\b)|\.well-known\/)/
/** Suffixes of public institutions: the site of one is never accused as a whole. */
const institutions = /\.(?:gov|mil|edu|int|gouv|govt|gob)(?:\.[a-z]{2})?$|\.gouv\.fr$/

/**
 * Returns what can be accused for a page, or why nothing can: the page belongs to a well-known site
 * or to a platform as a whole, or the host is no public name. `url` is in its normal form.
 */
export function accusable(url: URL, own: OwnNames): Accusable | { spared: Spared | 'known site' } {
  const host = url.hostname.replace(/\.$/, '')
  const page = `${host}${url.pathname}`
  const address = parseIp(host)
  if (address) {
    return isRoutable(address) ? { scope: 'host', name: host } : { spared: 'no public address' }
  }
  if (own.some((name) => host === name || host.endsWith(`.${name}`))) return { spared: 'our own' }
  const match = findPlatform({ hostname: host, pathname: url.pathname })
  if (match) {
    const { platform, scope } = match
    return { scope, name: scope === 'host' ? host : page, platform }
  }
  const isCustomer = customersDomain(host) !== registrableDomain(host)
  if (!isCustomer && isKnownSite(host)) return { spared: 'known site' }
  const spared = whySpared('hosts', host, own)
  if (spared !== undefined) return { spared }
  const isPart = internals.test(url.pathname) || institutions.test(host)
  return isPart ? { scope: 'path', name: page } : { scope: 'host', name: host }
}

/**
 * Whom the pages of a host belong to: the customer of a platform, or the owner of the domain. The
 * host itself if it has no domain.
 */
export function ownerOf(host: string): string {
  return customersDomain(host) ?? registrableDomain(host) ?? host
}
