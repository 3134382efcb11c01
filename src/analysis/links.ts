import { registrableDomain } from '../mail/domain.ts'
import type { MessageBody } from '../mail/body.ts'
import { storableText } from '../mail/storable-text.ts'
import { htmlLinks } from './html-links.ts'

/** A link a reader could follow. */
export type Link = {
  /** As written, entities decoded, at most 2,000 characters. */
  url: string
  /** In lower case, internationalized names as Punycode. */
  host: string
  /** The registrable domain; null for addresses. */
  domain: string | null
  where: 'text' | 'html' | 'form'
}

const linksMax = 200
const urlCharsMax = 2000
const textCharsMax = 1024 * 1024

/**
 * The links of a message, each once per place, in order, at most 200: hrefs and form actions of
 * its HTML, addresses in its text. Only http, https and ftp; linear in the text.
 */
export function findLinks({ text, html }: Pick<MessageBody, 'text' | 'html'>): Link[] {
  const links = new Map<string, Link>()
  const add = (url: string, where: Link['where']) => {
    const link = links.size < linksMax ? readLink(url, where) : undefined
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
    if (++count > linksMax * 5) return
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
