import { domainToASCII } from 'node:url'
import { DAY_MS } from '../../durations.ts'
import { registrableDomain } from '../../mail/address.ts'
import { parseIp } from '../../mail/ip.ts'
import { isLive, type Listing, type PublicListing } from './list.ts'

/**
 * A parsed list query: the names to look up, each on its list, the most specific first. That of a
 * page is a link to it.
 */
export type ListQuestion = {
  /** The name to display: an address, or a host name in lower-case ASCII. */
  name: string
  asks: readonly Pick<PublicListing, 'list' | 'name'>[]
}

const CHARS_MAX = 2_048
const NAME_CHARS_MAX = 253

/**
 * Parses an address, a domain, a host, a link or a mail address in any case and script, also when
 * defanged (`hxxp://bad[.]example`, `bad (dot) example`). Undefined when it contains no name that a
 * list could hold.
 */
export function readListQuestion(text: string): ListQuestion | undefined {
  if (text.length > CHARS_MAX) return undefined
  const bare = refanged(text.trim())
  const direct = parseIp(bare)
  if (direct) return addressQuestion(direct.text)
  const host = hostOf(bare)
  if (host === undefined) return undefined
  const address = parseIp(host)
  if (address) return addressQuestion(address.text)
  if (host.length > NAME_CHARS_MAX || !/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host)) return undefined
  const domain = registrableDomain(host)
  const asks: ListQuestion['asks'] = [
    ...(/[^/:]\//.test(bare) ? [{ list: 'pages', name: bare } as const] : []),
    { list: 'hosts', name: host },
    ...(domain ? [{ list: 'domains', name: domain } as const] : []),
  ]
  return { name: host, asks }
}

function addressQuestion(name: string): ListQuestion {
  return { name, asks: [{ list: 'addresses', name }] }
}

/** Reverses defanging, which makes a link unusable so that people do not open it by accident. */
function refanged(text: string): string {
  return text
    .replace(/^h(xx|\*\*|__|tt)p(s?)(?=\W)/i, 'http$2')
    .replaceAll(/\[(?=:?\/\/)|(?<=:?\/\/)\]|\[:\]/g, (bracket) => (bracket === '[:]' ? ':' : ''))
    .replaceAll(/\s*[[({](?:\.|dot|punkt|point)[\])}]\s*|\s+dot\s+/gi, '.')
    .replaceAll(/\s*[[({](?:@|at)[\])}]\s*/gi, '@')
    .replaceAll(/\\\./g, '.')
}

function hostOf(text: string): string | undefined {
  if (text === '' || /\s/.test(text)) return undefined
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return hostNameOf(hostnameOfUrl(text))
  const afterAt = text.slice(text.lastIndexOf('@') + 1)
  const isLink = /[/?#]/.test(text) || /:\d{1,5}$/.test(afterAt)
  return hostNameOf(isLink ? hostnameOfUrl(`http://${text}`) : afterAt)
}

/** Returns the host name of a URL with any scheme, parsed as a browser parses http URLs. */
function hostnameOfUrl(text: string): string {
  const url = URL.parse(text.replace(/^[a-z][a-z0-9+.-]*:/i, 'http:'))
  return url?.hostname ?? ''
}

function hostNameOf(host: string): string | undefined {
  const trimmed = host.replace(/^[.*]*\.|\.$/g, '')
  const name = host.startsWith('[') ? host : domainToASCII(trimmed)
  return name === '' ? undefined : name.toLowerCase()
}

export type DelistingCourse = 'at once' | 'to administrators' | 'not listed'

/** Age in days from which evidence is old: one delisting on request is possible. */
const OLD_DAYS = 3
/** With fewer reporters than this, one delisting on request is possible too. */
const FEW_REPORTERS = 20

/** The number of days within which a person decides about a delisting request. */
export const DECISION_DAYS = 3

/** Returns when a person must have decided about a request of a given time. */
export function decisionDue(askedAt: Date): Date {
  return new Date(askedAt.getTime() + DECISION_DAYS * DAY_MS)
}

/**
 * Decides who may delist a name. An administrator decides about phishing, malware, and an entry
 * that was delisted before. Otherwise, the requester may delist the name if its last complaint is
 * old or it has few reporters. After an immediate delisting, only new reports count for another
 * listing.
 */
export function delistingCourse(
  listing: Omit<Listing, 'list'> | undefined,
  now: Date,
): DelistingCourse {
  if (!listing || !isLive(listing, now)) return 'not listed'
  if (listing.category !== 'spam' || listing.delistedAt !== null) return 'to administrators'
  const isOld = now.getTime() - listing.lastSeen.getTime() >= OLD_DAYS * DAY_MS
  return isOld || listing.reportersAtLeast < FEW_REPORTERS ? 'at once' : 'to administrators'
}
