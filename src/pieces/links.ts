import { publicDomain, registrableDomain } from '../mail/address.ts'
import type { BodyAttachment, MessageBody } from '../mail/message-body.ts'
import { storableText } from '../mail/text.ts'
import type { HtmlPlace } from './html-links.ts'
import { htmlView, type HtmlView } from './html-view.ts'

/**
 * Where a link was found: in a place of the HTML part, as an address in the shown text or the
 * text/plain part (`text`), in an attached page or drawing (`attachment`), in an attached PDF file
 * (`pdf`), or in a QR code in a picture (`qr`).
 */
export type LinkPlace = HtmlPlace | 'text' | 'attachment' | FileLinks['where']

/** Links in an attached file: its targets, and a text in which addresses may be. */
export type FileLinks = { where: 'pdf' | 'qr'; urls: string[]; text: string }

/** A link that a reader could follow, or that a program could open. */
export type Link = {
  /** As written, decoded, at most 2,000 characters. */
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
const PAGES_MAX = 10
const urlCharsMax = 2000

/**
 * Returns the links of a message in order, at most 100 in HTML, 60 in text and 20 in each other
 * place: targets in its HTML part, addresses in its text, both in attached pages, and one remote
 * picture of each host. A link occurs at most once for each place. Only http, https and ftp; linear
 * time.
 */
export function findLinks(
  { text, html, attachments }: MessageBody,
  page: HtmlView = htmlView(html),
  files: readonly FileLinks[] = [],
): Link[] {
  const links: Link[] = []
  const seen = new Map<LinkPlace, { urls: Set<string>; count: number }>()
  const add = (url: string, where: LinkPlace) => {
    const its = seen.getOrInsertComputed(where, () => ({ urls: new Set(), count: 0 }))
    if (its.count >= (placeMax[where] ?? OTHER_PLACE_MAX) || its.urls.has(url)) return
    its.urls.add(url)
    const link = readLink(url, where)
    if (!link) return
    its.count++
    links.push(link)
  }
  const addPage = (its: HtmlView, within?: LinkPlace) => {
    for (const { url, where } of its.links) add(url, within ?? where)
    for (const url of linksInText(its.dotted)) add(url, within ?? 'text')
  }
  addPage(page)
  for (const url of html === '' ? linksInText(text) : writtenLinks(text)) add(url, 'text')
  for (const content of attachments.filter(isPage).slice(0, PAGES_MAX)) {
    const its = htmlView(pageText(content))
    addPage(its, 'attachment')
    for (const url of linksInScript(its.script)) add(url, 'attachment')
  }
  for (const { where, urls, text: its } of files) {
    for (const url of urls) add(url, where)
    for (const url of linksInText(its)) add(url, where)
  }
  for (const url of oneOfEachHost(page.images)) add(url, 'image')
  return links
}

function readLink(written: string, where: LinkPlace): Link | undefined {
  const url = written.slice(0, urlCharsMax)
  const host = ordinaryHost(url) ?? parsedHost(withScheme(url, where))
  if (host === undefined) return undefined
  return {
    url: storableText(url, urlCharsMax),
    host,
    domain: host.startsWith('[') ? null : (registrableDomain(host) ?? null),
    where,
  }
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

function withScheme(url: string, where: LinkPlace): string {
  if (/^[\\/]{2}/.test(url)) return `http:${url}`
  const isHost = /^www\./i.test(url) || (!/^[a-z]{3,10}:/i.test(url) && inText.has(where))
  return isHost ? `http://${url}` : url
}

const pageTypes = /^(?:text\/x?html?|application\/xhtml\+xml|image\/svg\+xml)\b/i

/** Whether a browser opens the attachment as a page or a drawing. */
function isPage({ type, name = '', content }: BodyAttachment): boolean {
  return (
    pageTypes.test(type) ||
    /\.(?:[sx]?html?|svgz?|mht(?:ml)?)\s*$/i.test(name) ||
    /^\s*<(?:!doctype html|html|svg)\b/i.test(content.toString('latin1', 0, 100))
  )
}

/** Decodes an attached page. Names in other charsets than UTF-8 and UTF-16 may be garbled. */
function pageText({ content }: BodyAttachment): string {
  const start = content.length < 2 ? 0 : content.readUInt16BE(0)
  if (start === 0xfffe) return content.toString('utf16le', 2)
  if (start === 0xfeff) return new TextDecoder('utf-16be').decode(content)
  return content.toString()
}

const CANDIDATES_MAX = 1000

/** Returns the addresses with `http:`, `https:` or `www.` in a text. */
function* writtenLinks(text: string): Generator<string> {
  const found = /(?:https?:\/\/|\bwww\.)[^\s<>"'\\\0]{1,2000}/gi
  for (const [url] of text.matchAll(found).take(CANDIDATES_MAX)) yield withoutPunctuation(url)
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

/** Returns the addresses in a script, also those in base64 and with percent-encoding. */
function* linksInScript(script: string): Generator<string> {
  if (script === '') return
  yield* writtenLinks(script.replaceAll('\\/', '/'))
  for (const [found] of script.matchAll(/aHR0c[\w+/-]{4,2700}/g).take(CANDIDATES_MAX)) {
    yield* writtenLinks(Buffer.from(found, 'base64').toString())
  }
  if (/%3a%2f%2f/i.test(script)) {
    yield* writtenLinks(script.replaceAll(/%3a/gi, ':').replaceAll(/%2f/gi, '/'))
  }
}

function withoutPunctuation(url: string): string {
  let end = url.length
  while (end > 0 && '.,;:!?)]}*_'.includes(url[end - 1] ?? '')) {
    if (url[end - 1] === ')' && url.lastIndexOf('(', end) > 0) break
    end--
  }
  return url.slice(0, end)
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
