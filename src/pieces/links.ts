import { registrableDomain } from '../mail/address.ts'
import type { MessageBody } from '../mail/message.ts'
import { storableText } from '../mail/text.ts'

const named = new Map<string, string>([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00A0'],
  ['shy', '\u00AD'],
  ['tab', '\t'],
  ['newline', '\n'],
  ['colon', ':'],
  ['sol', '/'],
  ['bsol', '\\'],
  ['period', '.'],
  ['comma', ','],
  ['quest', '?'],
  ['equals', '='],
  ['num', '#'],
  ['percnt', '%'],
  ['commat', '@'],
  ['lowbar', '_'],
  ['hyphen', '\u2010'],
  ['lpar', '('],
  ['rpar', ')'],
  ['semi', ';'],
  ['excl', '!'],
])

/**
 * Decodes HTML character references that occur in addresses: all numeric ones, and named ones for
 * punctuation. Others stay unchanged. Linear time.
 */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));?/gi,
    (written: string, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return fromName(name, written)
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD'
    },
  )
}

/** Only `&amp` and similar old references may lack the semicolon. */
function fromName(name: string, written: string): string {
  const text = named.get(name.toLowerCase())
  const isOld = /^(amp|lt|gt|quot)$/i.test(name)
  return text !== undefined && (written.endsWith(';') || isOld) ? text : written
}

export type HtmlLink = { url: string; isForm: boolean }

const HTML_LINKS_MAX = 1000
const tags = new Set(['a', 'area', 'base', 'form'])

/**
 * Returns the targets of links, areas and forms in HTML, decoded and resolved against `<base>`; at
 * most 1,000. Reads the text once; skips comments.
 */
export function htmlLinks(html: string): HtmlLink[] {
  const links: HtmlLink[] = []
  let base: string | undefined
  let at = html.indexOf('<')
  while (at >= 0 && links.length < HTML_LINKS_MAX) {
    if (html.startsWith('<!--', at)) {
      const end = html.indexOf('-->', at + 4)
      if (end < 0) break
      at = html.indexOf('<', end)
      continue
    }
    const name = mayMatter(html.charCodeAt(at + 1)) ? tagName(html, at + 1) : ''
    if (!tags.has(name)) {
      at = html.indexOf('<', at + 1)
      continue
    }
    const { target, end } = readTarget(html, at + 1 + name.length, name === 'form')
    if (target !== undefined) {
      if (name === 'base') base ??= target
      else links.push({ url: resolve(target, base), isForm: name === 'form' })
    }
    at = html.indexOf('<', end)
  }
  return links
}

/** Whether a tag that begins with this character may be relevant; most are not. */
function mayMatter(code: number): boolean {
  const small = code | 0x20
  return small === 0x61 || small === 0x62 || small === 0x66
}

function tagName(html: string, start: number): string {
  let end = start
  while (end < start + 6 && isLetter(html.charCodeAt(end))) end++
  return html.slice(start, end).toLowerCase()
}

/** Parses the attributes of a tag to its end; an unclosed quote extends to the end of the text. */
function readTarget(html: string, start: number, isForm: boolean) {
  const wanted = isForm ? 'action' : 'href'
  let target: string | undefined
  let at = start
  while (at < html.length && html[at] !== '>') {
    const nameStart = at
    while (at < html.length && isNamePart(html.charCodeAt(at))) at++
    const name = html.slice(nameStart, Math.min(at, nameStart + 10)).toLowerCase()
    const valueAt = name === '' ? undefined : valueStart(html, at)
    if (valueAt === undefined) {
      if (name === '') at++
      continue
    }
    const quote = html[valueAt]
    const end = quote === '"' || quote === "'" ? quoteEnd(html, valueAt) : bareEnd(html, valueAt)
    const from = quote === '"' || quote === "'" ? valueAt + 1 : valueAt
    if (name === wanted) target ??= cleanTarget(html.slice(from, Math.min(end, from + 8000)))
    at = end + (from > valueAt ? 1 : 0)
  }
  return { target, end: at }
}

function valueStart(html: string, from: number): number | undefined {
  let at = from
  while (isSpace(html.charCodeAt(at))) at++
  if (html[at] !== '=') return undefined
  at++
  while (isSpace(html.charCodeAt(at))) at++
  return at
}

function quoteEnd(html: string, open: number): number {
  const end = html.indexOf(html[open] ?? '"', open + 1)
  return end < 0 ? html.length : end
}

function bareEnd(html: string, start: number): number {
  let at = start
  while (at < html.length && html[at] !== '>' && !isSpace(html.charCodeAt(at))) at++
  return at
}

/**
 * Cleans a target as browsers do: decodes references, then removes line breaks, tabs and
 * surrounding white space.
 */
function cleanTarget(value: string): string {
  return decodeEntities(value)
    .replaceAll(/[\t\r\n]/g, '')
    .replace(/^[\0- ]+/, '')
    .trimEnd()
}

function resolve(target: string, base: string | undefined): string {
  if (base === undefined || /^[a-z][a-z0-9+.-]{0,20}:/i.test(target)) return target
  return URL.parse(target, base)?.href ?? target
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d)
}

function isNamePart(code: number): boolean {
  return isLetter(code) || code === 0x2d || code === 0x3a || code === 0x5f || code >= 0x80
}

/** A link that a reader could follow. */
export type Link = {
  /** As written, decoded, at most 2,000 characters. */
  url: string
  /** In lower case, internationalized names as Punycode. */
  host: string
  /** The registrable domain; null for IP addresses. */
  domain: string | null
  where: 'text' | 'html' | 'form'
}

const LINKS_MAX = 200
const urlCharsMax = 2000
const textCharsMax = 1024 * 1024

/**
 * Returns the links of a message in order, at most 200: targets of links and forms in its HTML, and
 * addresses in its text. A link occurs at most once for each place (`where`). Only http, https and
 * ftp; linear time.
 */
export function findLinks({ text, html }: Pick<MessageBody, 'text' | 'html'>): Link[] {
  const links = new Map<string, Link>()
  const add = (url: string, where: Link['where']) => {
    const link = links.size < LINKS_MAX ? readLink(url, where) : undefined
    if (link) links.getOrInsert(`${where} ${link.url}`, link)
  }
  for (const { url, isForm } of htmlLinks(html.slice(0, textCharsMax))) {
    add(url, isForm ? 'form' : 'html')
  }
  for (const url of textLinks(text.slice(0, textCharsMax))) add(url, 'text')
  return [...links.values()]
}

function readLink(written: string, where: Link['where']): Link | undefined {
  const url = written.slice(0, urlCharsMax)
  const parsed = URL.parse(
    url.startsWith('//') || url.startsWith('www.') ? `http:${slashed(url)}` : url,
  )
  if (!parsed || !/^(https?|ftp):$/.test(parsed.protocol) || parsed.hostname === '')
    return undefined
  const host = parsed.hostname
  return {
    url: storableText(url, urlCharsMax),
    host,
    domain: host.startsWith('[') ? null : (registrableDomain(host) ?? null),
    where,
  }
}

function slashed(url: string): string {
  return url.startsWith('//') ? url : `//${url}`
}

function* textLinks(text: string): Generator<string> {
  const found = /(?:https?:\/\/|\bwww\.)[^\s<>"'\\\0]{1,2000}/gi
  let count = 0
  for (const match of text.matchAll(found)) {
    if (++count > LINKS_MAX * 5) return
    yield withoutPunctuation(match[0])
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
