import { domainToASCII } from 'node:url'
import { registrableDomain } from '../../mail/address.ts'
import { parseIp } from '../../mail/ip.ts'
import { isLive, type Listing, type ListName } from './list.ts'

/** What somebody asks about: the names to look for, each on its list, the closest first. */
export type ListQuestion = {
  /** As it is shown: an address, or a host name in lower-case ASCII. */
  name: string
  asks: readonly { list: ListName; name: string }[]
}

const CHARS_MAX = 2_048
const NAME_CHARS_MAX = 253

/**
 * Reads an address, a domain, a host, a link or a mail address, as people write them: in any case
 * and script, and made harmless (`hxxp://bad[.]example`, `bad (dot) example`). Undefined when
 * nothing of it could be on a list.
 */
export function readListQuestion(text: string): ListQuestion | undefined {
  if (text.length > CHARS_MAX) return undefined
  const bare = armed(text.trim())
  const direct = parseIp(bare)
  if (direct) return addressQuestion(direct.text)
  const host = hostOf(bare)
  if (host === undefined) return undefined
  const address = parseIp(host)
  if (address) return addressQuestion(address.text)
  if (host.length > NAME_CHARS_MAX || !/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(host)) return undefined
  const domain = registrableDomain(host)
  const hosts = [{ list: 'hosts', name: host } as const]
  return { name: host, asks: domain ? [...hosts, { list: 'domains', name: domain }] : hosts }
}

function addressQuestion(name: string): ListQuestion {
  return { name, asks: [{ list: 'addresses', name }] }
}

/** Undoes what is done so that nobody follows a link by accident. */
function armed(text: string): string {
  return text
    .replace(/^h(xx|\*\*|__|tt)p(s?)(?=\W)/i, 'http$2')
    .replaceAll(/\[(?=:?\/\/)|(?<=:?\/\/)\]|\[:\]/g, (bracket) => (bracket === '[:]' ? ':' : ''))
    .replaceAll(/\s*[[({](?:\.|dot|punkt|point)[\])}]\s*|\s+dot\s+/gi, '.')
    .replaceAll(/\s*[[({](?:@|at)[\])}]\s*/gi, '@')
    .replaceAll(/\\\./g, '.')
}

function hostOf(text: string): string | undefined {
  if (text === '' || /\s/.test(text)) return undefined
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return nameOf(hostnameOfUrl(text))
  const afterAt = text.slice(text.lastIndexOf('@') + 1)
  const isLink = /[/?#]/.test(text) || /:\d{1,5}$/.test(afterAt)
  return nameOf(isLink ? hostnameOfUrl(`http://${text}`) : afterAt)
}

/** Of any scheme, read as a browser reads http. */
function hostnameOfUrl(text: string): string {
  const url = URL.parse(text.replace(/^[a-z][a-z0-9+.-]*:/i, 'http:'))
  return url?.hostname ?? ''
}

function nameOf(host: string): string | undefined {
  const trimmed = host.replace(/^[.*]*\.|\.$/g, '')
  const name = host.startsWith('[') ? host : domainToASCII(trimmed)
  return name === '' ? undefined : name.toLowerCase()
}

/** What becomes of a wish to be taken off. */
export type DelistingCourse = 'at once' | 'to administrators' | 'not listed'

const DAY_MS = 86_400_000
/** Evidence that is so old or so little may be wiped off by who asks, once. */
const OLD_DAYS = 3
const FEW_REPORTERS = 20

/**
 * Who may take a name off a list: who asks, once in the memory of the list, when what is known is
 * old or little and is neither phishing nor malware; else an administrator. What was taken off at
 * once comes back only by what is reported afterwards.
 */
export function delistingCourse(listing: Listing | undefined, now: Date): DelistingCourse {
  if (!listing || !isLive(listing, now)) return 'not listed'
  if (listing.category !== 'spam' || listing.pardonedAt !== null) return 'to administrators'
  const isOld = now.getTime() - listing.lastSeen.getTime() >= OLD_DAYS * DAY_MS
  return isOld || listing.reportersAtLeast < FEW_REPORTERS ? 'at once' : 'to administrators'
}
