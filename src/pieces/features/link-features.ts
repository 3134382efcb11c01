import { domainToUnicode } from 'node:url'
import { registrableDomain } from '../../mail/address.ts'
import { mostTelling } from '../links.ts'
import { carriedTarget, redirectTarget } from '../disguise/redirectors.ts'
import { freeHosting, freePages, type Material, type People, shorteners } from './material.ts'
import { disguiseOf } from './text-features.ts'

const TARGETS_MAX = 100
const tagCharsMax = 3_000
const textCharsMax = 200

/**
 * Counts the links in HTML whose text shows the address of one organization and that lead to
 * another. Considers only texts that are a single address; at most 100 links, from the start.
 */
function countMisleading(html: string): number {
  let count = 0
  let at = html.indexOf('</a')
  for (let looked = 0; at >= 0 && looked < TARGETS_MAX; looked++) {
    const shown = shownHost(html, at)
    if (shown !== undefined && isElsewhere(shown, targetHost(html, at))) count++
    at = html.indexOf('</a', at + 3)
  }
  return count
}

/** Returns the host shown by the text before a closing tag, if that text is an address. */
function shownHost(html: string, close: number): string | undefined {
  const from = html.lastIndexOf('>', close - 1)
  if (from < 0 || close - from > textCharsMax) return undefined
  const text = html.slice(from + 1, close).trim()
  if (!text.includes('.') || text.includes('@')) return undefined
  const found = /^(?:https?:\/\/)?((?:[a-z\d-]{1,63}\.){1,8}[a-z]{2,24})(?:[/:?#]\S*)?$/i.exec(text)
  return found?.[1]?.toLowerCase()
}

function targetHost(html: string, close: number): string | undefined {
  const before = html.slice(Math.max(0, close - tagCharsMax), close)
  const open = Math.max(before.lastIndexOf('<a '), before.lastIndexOf('<A '))
  if (open < 0) return undefined
  const written = /\shref\s{0,5}=\s{0,5}["']?\s{0,5}https?:\/\/([^/?#"'\s>:]{1,253})/i.exec(
    before.slice(open),
  )?.[1]
  return written?.slice(written.lastIndexOf('@') + 1).toLowerCase()
}

/** Whether both hosts have registrable domains that differ. */
function isElsewhere(shown: string, target: string | undefined): boolean {
  const one = registrableDomain(shown)
  const other = target === undefined ? undefined : registrableDomain(target)
  return one !== undefined && other !== undefined && one !== other
}

const LINKS_MAX = 60
const htmlCharsMax = 64 * 1024
const activeCharsMax = 16 * 1024

/** Computes features of 60 links of a message: the first ones, but those to new domains before. */
export function linkFeatures(material: Material, { author, recipient }: People) {
  const { links, moreLinks = 0, body, view } = material
  const looked = mostTelling(links, LINKS_MAX)
  const found = newSums()
  const hosts = new Set<string>()
  const domains = new Set<string>()
  const address = recipient?.address ?? ''
  for (const { url, host, domain, where } of looked) {
    if (domain !== null) domains.add(domain)
    if (where === 'form') found.forms++
    if (domain !== null && domain === author?.organization) found.ofAuthor++
    addUrl(found, url, domain)
    if (address !== '' && !found.namesRecipient) found.namesRecipient = names(url, address)
    if (hosts.has(host)) continue
    hosts.add(host)
    addHost(found, host, domain)
  }
  const html = body.html.slice(0, htmlCharsMax)
  const { length } = looked
  const isLeft = found.hasUnsubscribe || leaves.test(view.shown.line.slice(-500))
  return {
    count: links.length + moreLinks,
    hosts: hosts.size,
    domains: domains.size,
    ...found.sums,
    forms: found.forms,
    places: [...new Set(links.map(({ where }) => where))].sort(),
    shown_differs: html === '' ? 0 : countMisleading(html),
    active: html === '' ? 0 : countActive(html.slice(0, activeCharsMax)),
    insecure_share: share(found.insecure, length),
    parameters_mean: length === 0 ? 0 : Math.round((found.parameters / length) * 10) / 10,
    author_share: share(found.ofAuthor, length),
    only_foreign_domain: domains.size === 1 && found.ofAuthor === 0,
    names_recipient: found.namesRecipient,
    has_unsubscribe: isLeft,
  }
}

function newSums() {
  return {
    sums: {
      ip_hosts: 0,
      odd_ports: 0,
      idn_hosts: 0,
      disguised_hosts: 0,
      user_infos: 0,
      shorteners: 0,
      free_hosting: 0,
      redirects: 0,
      executables: 0,
      site_internals: 0,
      chars_max: 0,
      labels_max: 0,
      host_digits_max: 0,
      host_hyphens_max: 0,
    },
    forms: 0,
    ofAuthor: 0,
    insecure: 0,
    parameters: 0,
    namesRecipient: false,
    hasUnsubscribe: false,
  }
}

type Sums = ReturnType<typeof newSums>

/** Paths that site owners do not link to. Files there were usually uploaded by an attacker. */
const internals = /\/(?:wp-(?:content|includes|admin)|\.well-known|cgi-bin|tmp|components\/com_)\//
const programs = /\.(?:exe|scr|apk|msi|jar|js|vbs|bat|cmd|ps1|iso|img|lnk|hta|zip|rar|7z)(?:[?#]|$)/
const leaves = new RegExp(
  [
    'unsub|opt-?out|remove-?me|d[eé]s(?:abonn|inscri)|abmeld|abbestell|cancelar|darse de baja',
    'disiscri|uitschrijv',
  ].join('|'),
)

function addUrl(found: Sums, url: string, domain: string | null): void {
  const { sums } = found
  const scheme = url.indexOf('://')
  const start = scheme < 0 ? 0 : scheme + 3
  const slash = url.indexOf('/', start)
  const authority = url.slice(start, slash < 0 ? url.length : slash)
  if (authority.includes('@') && !authority.includes('?')) sums.user_infos++
  const port = /:(\d{2,5})$/.exec(authority)?.[1]
  if (port !== undefined && port !== '80' && port !== '443') sums.odd_ports++
  if (url.length > sums.chars_max) sums.chars_max = url.length
  if (url.startsWith('http:')) found.insecure++
  const question = url.indexOf('?', start)
  if (question >= 0) found.parameters += url.slice(question).split('&').length
  const target = slash < 0 ? '' : url.slice(slash).toLowerCase()
  if (programs.test(target)) sums.executables++
  if (internals.test(target)) sums.site_internals++
  const pages = domain === null ? undefined : freePages.get(domain)
  if (pages?.some((page) => url.startsWith(page, start))) sums.free_hosting++
  if (!found.hasUnsubscribe) found.hasUnsubscribe = leaves.test(target)
  if (question >= 0 && mayRedirect(url, question)) {
    const parsed = URL.parse(url)
    if (parsed && (redirectTarget(parsed) ?? carriedTarget(parsed)) !== undefined) sums.redirects++
  }
}

function mayRedirect(url: string, from: number): boolean {
  return url.includes('http', from) || url.includes('aHR0c', from)
}

function addHost({ sums }: Sums, host: string, domain: string | null): void {
  if (domain === null) {
    if (host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host)) sums.ip_hosts++
    return
  }
  if (shorteners.has(domain)) sums.shorteners++
  if (freeHosting.has(domain) && host !== domain) sums.free_hosting++
  if (host.includes('xn--')) {
    sums.idn_hosts++
    if (disguiseOf(domainToUnicode(host)).lookAlikes > 0) sums.disguised_hosts++
  }
  let labels = 1
  let digits = 0
  let hyphens = 0
  for (let at = 0; at < host.length; at++) {
    const code = host.charCodeAt(at)
    if (code === 0x2e) labels++
    else if (code === 0x2d) hyphens++
    else if (code >= 0x30 && code <= 0x39) digits++
  }
  sums.labels_max = Math.max(sums.labels_max, labels)
  sums.host_digits_max = Math.max(sums.host_digits_max, digits)
  sums.host_hyphens_max = Math.max(sums.host_hyphens_max, hyphens)
}

function names(url: string, address: string): boolean {
  return url.includes(address) || url.includes(address.replace('@', '%40'))
}

/** Counts link targets that run code instead of opening a page. */
function countActive(html: string): number {
  const runs = html.includes('="javascript:')
  return Number(runs) + Number(html.includes('="data:text/html'))
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 100) / 100
}
