import { decodeEntities } from './entities.ts'

/** A link as an HTML text has it. */
export type HtmlLink = { url: string; isForm: boolean }

const linksMax = 1000
const tags = new Set(['a', 'area', 'base', 'form'])

/**
 * The targets of links, areas and forms of an HTML text, entities decoded, resolved against its
 * `<base>`; at most 1,000. Reads the text once from left to right; comments are passed over.
 */
export function htmlLinks(html: string): HtmlLink[] {
  const links: HtmlLink[] = []
  let base: string | undefined
  let at = html.indexOf('<')
  while (at >= 0 && links.length < linksMax) {
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

/** Most tags begin with none of the letters that ours do. */
function mayMatter(code: number): boolean {
  const small = code | 0x20
  return small === 0x61 || small === 0x62 || small === 0x66
}

function tagName(html: string, start: number): string {
  let end = start
  while (end < start + 6 && isLetter(html.charCodeAt(end))) end++
  return html.slice(start, end).toLowerCase()
}

/** Reads the attributes of a tag to its end; a quote that never closes takes the rest. */
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

/** As browsers do: entities, then no line breaks or tabs, and no blanks around it. */
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
