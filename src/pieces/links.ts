import { publicDomain, registrableDomain } from '../mail/address.ts'
import type { MessageBody } from '../mail/message-body.ts'
import { storableText } from '../mail/text.ts'
import { disguisedLinks } from './disguise/disguised-links.ts'
import { readableLink } from './disguise/plain-link.ts'
import type { HtmlPlace } from './html-links.ts'
import { htmlView, type HtmlView } from './html-view.ts'
import { CANDIDATES_MAX, withoutPunctuation, writtenLinks } from './written-links.ts'

/**
 * Where a link was found: in a place of the HTML part, as an address in the shown text or the
 * text/plain part (`text`), in an attached file, or a file inside it (`attachment`), in an attached
 * PDF file (`pdf`), or in a QR code (`qr`).
 */
export type LinkPlace = HtmlPlace | 'text' | FileLinks['where']

/**
 * Links in an attached file: its targets, the most clickable first, a text in which addresses may
 * be, and how many more targets it has.
 */
export type FileLinks = {
  where: 'attachment' | 'pdf' | 'qr'
  urls: string[]
  text: string
  more?: number
}

/** A link that a reader could follow, or that a program could open. */
export type Link = {
  /** As written, decoded, at most 2,000 characters; a disguised one as a browser would write it. */
  url: string
  /** In lower case, internationalized names as Punycode. */
  host: string
  /** The registrable domain; null for IP addresses. */
  domain: string | null
  where: LinkPlace
}

/**
 * Whether a link leads a reader somewhere. A remote picture does not: messages of all kinds load
 * pictures of well-known companies from their hosts, which must not be blamed for the message.
 */
export function leadsSomewhere({ where }: Pick<Link, 'where'>): boolean {
  return where !== 'image'
}

/**
 * Maximum number of links by place. Each place has its own, so that a flood of links in one place
 * does not hide those in the others.
 */
const placeMax: Readonly<Partial<Record<LinkPlace, number>>> = { html: 100, text: 60 }
const OTHER_PLACE_MAX = 20
const urlCharsMax = 2000

/** The links of a message that are kept, and how many more there are. */
export type FoundLinks = { links: Link[]; more: number }

/**
 * Returns the links of a message in order, at most 100 in HTML, 60 in text and 20 in each other
 * place: targets in its HTML part, addresses in its text, both in attached files, and one remote
 * picture of each host. If there are more, those to new domains are kept, and of these the ones
 * that a reader can click. A link occurs at most once for each place. Only http, https and ftp;
 * linear time.
 */
export function findLinks(
  { text, html }: Pick<MessageBody, 'text' | 'html'>,
  page: HtmlView = htmlView(html),
  files: readonly FileLinks[] = [],
): FoundLinks {
  const found: Link[] = []
  const faint = new Set<Link>()
  const seen = new Map<LinkPlace, Set<string>>()
  const add = (url: string, where: LinkPlace, isFaint = false) => {
    const urls = seen.getOrInsertComputed(where, () => new Set())
    if (urls.has(url)) return
    urls.add(url)
    const link = readLink(url, where)
    if (!link) return
    found.push(link)
    if (isFaint) faint.add(link)
  }
  const known = new Map<LinkPlace, { addresses: Set<string | undefined>; read: number }>()
  // A program may have found a disguised address, too.
  const isKnown = (url: string, where: LinkPlace) => {
    const its = known.getOrInsertComputed(where, () => ({ addresses: new Set(), read: 0 }))
    for (; its.read < found.length; its.read++) {
      const link = found[its.read]
      if (link?.where === where) its.addresses.add(withoutScheme(readableLink(link.url)))
    }
    return its.addresses.has(withoutScheme(url))
  }
  const addDisguised = (shown: string, where: LinkPlace) => {
    for (const url of undisguised(shown)) if (!isKnown(url, where)) add(url, where)
  }
  for (const { url, where, isFaint } of page.links) add(url, where, isFaint)
  for (const url of linksInText(page.dotted)) add(url, 'text')
  for (const url of html === '' ? linksInText(text) : writtenLinks(text)) add(url, 'text')
  for (const shown of [page.text, text]) addDisguised(shown, 'text')
  for (const { where, urls, text: its } of files) {
    for (const url of urls) add(url, where)
    for (const url of linksInText(its)) add(url, where)
    addDisguised(its, where)
  }
  for (const url of oneOfEachHost(page.images)) add(url, 'image')
  const links = keptOf(found, faint)
  const unseen = files.reduce((sum, { more = 0 }) => sum + more, page.more)
  return { links, more: found.length - links.length + unseen }
}

function keptOf(found: Link[], faint: ReadonlySet<Link>): Link[] {
  const counts = new Map<LinkPlace, number>()
  for (const { where } of found) counts.set(where, (counts.get(where) ?? 0) + 1)
  const maxOf = (place: LinkPlace) => placeMax[place] ?? OTHER_PLACE_MAX
  const full = [...counts].filter(([place, count]) => count > maxOf(place))
  if (full.length === 0) return found
  const kept = full.flatMap(([place]) => {
    const its = found.filter(({ where }) => where === place)
    return mostTelling(its, maxOf(place), (link) => faint.has(link))
  })
  const places = new Set(full.map(([place]) => place))
  const chosen = new Set(kept)
  return found.filter((link) => !places.has(link.where) || chosen.has(link))
}

/**
 * Returns at most `max` of the given links, in their order: first those to new domains, then those
 * to new hosts; of each, those that are not faint before the others.
 */
export function mostTelling(
  links: readonly Link[],
  max: number,
  isFaint: (link: Link) => boolean = () => false,
): readonly Link[] {
  if (links.length <= max) return links
  const names = new Set<string>()
  const isNew = (name: string) => names.size < names.add(name).size
  const ranks = new Map<Link, number>()
  const clear = links.filter((link) => !isFaint(link))
  for (const link of [...clear, ...links.filter(isFaint)]) {
    const isNewHost = isNew(`host ${link.host}`)
    const rank = isNew(link.domain ?? link.host) ? 0 : isNewHost ? 2 : 4
    ranks.set(link, rank + Number(isFaint(link)))
  }
  const rankOf = (link: Link) => ranks.get(link) ?? 0
  const chosen = new Set(links.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, max))
  return links.filter((link) => chosen.has(link))
}

function readLink(written: string, where: LinkPlace): Link | undefined {
  const url = wholeAddress(written.slice(0, urlCharsMax))
  const host = ordinaryHost(url) ?? parsedHost(withScheme(url, where))
  if (host === undefined) return undefined
  return {
    url: storableText(url, urlCharsMax),
    host,
    domain: host.startsWith('[') ? null : (registrableDomain(host) ?? null),
    where,
  }
}

function withoutScheme(url: string | undefined): string | undefined {
  return url?.replace(/^[a-z]+:/, '')
}

/**
 * Returns an address with two slashes after the scheme, as browsers read any number of them, and
 * without brackets around the dots of the host.
 */
function wholeAddress(url: string): string {
  if (/^https?:\/\/[^/?#]*[[({](?:\.|dot)[\])}]/i.test(url)) return readableLink(url) ?? url
  return url.replace(/^(https?:)(?:[\\/]|[\\/]{3,})(?=[^\\/])/i, '$1//')
}

/** Returns the host of an ordinary address, which need not be parsed: a tenth of the time. */
function ordinaryHost(url: string): string | undefined {
  const host = ordinary.exec(url)?.[1]?.toLowerCase()
  return host?.includes('xn--') ? undefined : host
}

const ordinary = /^https?:\/\/((?:[a-z\d_-]{1,63}\.){1,8}[a-z]{2,24})(?:[/?#]|$)/i

function parsedHost(url: string): string | undefined {
  const parsed = URL.parse(url)
  const isWeb = parsed !== null && /^(https?|ftp):$/.test(parsed.protocol)
  return isWeb && parsed.hostname !== '' ? parsed.hostname : undefined
}

/** Places in which a host without a scheme is a link. */
const inText = new Set<LinkPlace>(['text', 'attachment', 'pdf', 'qr'])
/** Places in which mail programs take what looks like a host for one, and not for a file. */
const inPages = new Set<LinkPlace>(['html', 'form'])

function withScheme(url: string, where: LinkPlace): string {
  if (/^[\\/]{2}/.test(url)) return `http:${url}`
  const isBare = !/^[a-z]{3,10}:/i.test(url)
  const isHost = /^www\./i.test(url) || (isBare && (inText.has(where) || isBareHost(url, where)))
  return isHost ? `http://${url}` : url
}

function isBareHost(url: string, where: LinkPlace): boolean {
  if (!inPages.has(where) || !url.includes('.')) return false
  const [address = '', name = ''] = bareAddress.exec(url) ?? []
  return name !== '' && isHost(name, address.length > name.length)
}

/** Returns the addresses in a text that mail programs turn into links, also without a scheme. */
function* linksInText(text: string): Generator<string> {
  yield* writtenLinks(text)
  let count = 0
  for (const token of tokensWithDot(text)) {
    if (++count > CANDIDATES_MAX) return
    const [address = '', name = ''] = bareAddress.exec(token) ?? []
    const hasMore = /^(?::\d|[/#]|\?\w)/.test(address.slice(name.length))
    if (name !== '' && isHost(name, hasMore)) yield withoutPunctuation(address)
  }
}

/** Returns the disguised addresses in a text as a browser would write them. */
function* undisguised(text: string): Generator<string> {
  if (text === '') return
  for (const written of disguisedLinks(text)) {
    const url = readableLink(written)
    const parsed = url === undefined ? null : URL.parse(url)
    if (url === undefined || !parsed) continue
    const hasScheme = /^[a-z*_]{3,6}\s{0,2}[[({]?\s{0,2}:/i.test(written)
    const name = parsed.hostname.replace(/^www\./, '')
    const hasPath = parsed.pathname !== '/'
    if (hasScheme || isHost(name, hasPath) || (hasPath && /\.[a-z]{2,24}$/.test(name))) yield url
  }
}

/** Returns the words that contain a dot between two other characters. */
function* tokensWithDot(text: string): Generator<string> {
  let done = 0
  let at = text.indexOf('.')
  while (at >= 0) {
    let end = at + 1
    let start = at
    while (start > done && isToken(text.charCodeAt(start - 1))) start--
    while (end < text.length && isToken(text.charCodeAt(end))) end++
    if (start < at && end > at + 2 && end - start <= urlCharsMax) {
      const token = text.slice(start, end)
      if (!token.includes('@') && !token.includes('://')) yield token
    }
    done = end
    at = text.indexOf('.', end)
  }
}

/** Whether a character can be part of an address: no blank, bracket, quote or comma. */
function isToken(code: number): boolean {
  return code < 0x80 ? inToken[code] === 1 : code !== 0xa0 && code !== 0x3000
}

const inToken = Uint8Array.from({ length: 0x80 }, (_, code) =>
  Number(code > 0x20 && !'"\'()<>[]{}|,;\\'.includes(String.fromCharCode(code))),
)

const label = String.raw`[\p{L}\d](?:[\p{L}\d-]{0,61}[\p{L}\d])?`
const ending = String.raw`(?:\p{L}{2,24}|xn--[a-z\d-]{2,50})`
const rest = String.raw`(?:(?::\d{1,5})?(?:[/?#]\S*|[.:!?]*$))`
/** A host, and what follows it, from the start of a text. */
const bareAddress = new RegExp(`^((?:${label}\\.){1,8}${ending})${rest}`, 'iu')

/** Generic top-level domains that people recognize, so that a name without a path is a link. */
const commonSuffixes = new Set(
  (
    'com net org info biz edu gov mil int pro mobi xyz top online site shop store icu vip club ' +
    'live click link'
  ).split(' '),
)
/** Country codes that are also words or extensions of files. */
const words = new Set(
  'ai am as at be cc do hm id in is it la md me ml mm my no pl pm ps py rs sh so st to us'.split(
    ' ',
  ),
)

/**
 * Whether a name in a text is meant as a host. With a path, any public name is one. Without, only a
 * name that nobody writes by mistake: a missing blank after a full stop must not become a link.
 */
function isHost(name: string, hasMore: boolean): boolean {
  const suffix = name.slice(name.lastIndexOf('.') + 1)
  const isOneCase = suffix === suffix.toLowerCase() || suffix === suffix.toUpperCase()
  const last = suffix.toLowerCase()
  const isCountry = last.length === 2 && !words.has(last)
  const isLikely = hasMore || isCountry || commonSuffixes.has(last)
  if (!isLikely || !isOneCase || /^www\./i.test(name)) return false
  const domain = publicDomain(URL.parse(`http://${name}`)?.hostname ?? '')
  return domain !== undefined && (!isCountry || hasMore || domain.indexOf('.') >= 4)
}

/** Returns one remote picture of each host. */
function oneOfEachHost(sources: readonly string[]): string[] {
  const byHost = new Map<string, string>()
  for (const source of sources) {
    const host = /^(?:https?:)?\/\/([^/?#]{1,255})/i.exec(source)?.[1]?.toLowerCase()
    if (host !== undefined) byHost.getOrInsert(host, source)
  }
  return [...byHost.values()]
}
