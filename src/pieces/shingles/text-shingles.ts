import { registrableDomain } from '../../mail/address.ts'
import { block24Or48 } from '../../mail/ip-blocks.ts'
import { parseIp } from '../../mail/ip.ts'
import { type BodyView, findBankAccounts, findMailAddresses, findTelephones } from '../body-view.ts'
import { findCryptoAddresses } from '../crypto-addresses.ts'
import { pathPattern, type PlainLink, plainLinks } from '../disguise/plain-link.ts'
import {
  lineWordsMax,
  plainLine,
  type PlainText,
  wordCharsMax,
  wordsBetween,
} from '../disguise/plain-text.ts'
import type { HtmlView } from '../html-view.ts'
import { type Link, mostTelling } from '../links.ts'
import type { ShingleList } from './shingle-list.ts'

/**
 * Maximum number of links and images that are processed. Further links of a message seldom differ.
 */
const linksMax = 40
const imagesMax = 10

/** Adds links, forms and remote pictures. */
export function addLinks(list: ShingleList, links: readonly Link[], view: BodyView): void {
  const organizations = new Set<string>()
  const seen = new Set<string>()
  const add = (written: string, where: Link['where']) => {
    if (seen.has(written) || seen.size >= linksMax) return
    seen.add(written)
    for (const link of plainLinks(written)) {
      addLink(list, link)
      if (link.organization !== null) organizations.add(link.organization)
      if (where === 'form') list.add('form-organization', link.organization ?? link.host)
    }
  }
  for (const { url, where } of mostTelling(links, linksMax)) add(url, where)
  list.add('link-set', [...organizations].sort().join(' '))
  for (const source of view.html.images.slice(0, imagesMax)) addImage(list, source)
}

/** Adds means of contact and payment, and returns the telephone numbers. */
export function addContacts(list: ShingleList, { text }: BodyView): string[] {
  const telephones = findTelephones(text)
  for (const number of telephones) list.add('telephone', number)
  for (const address of findCryptoAddresses(text)) list.add('cryptocurrency-address', address)
  for (const account of findBankAccounts(text)) list.add('bank-account', account)
  for (const address of findMailAddresses(text)) {
    list.add('body-address', address)
    const domain = registrableDomain(address.slice(address.lastIndexOf('@') + 1))
    list.add('body-address-organization', domain)
  }
  return telephones
}

function addLink(list: ShingleList, link: PlainLink): void {
  list.add('link', link.full)
  list.add('link-path', `${link.host}${link.path}`)
  list.add('link-host', link.host)
  list.add('link-organization', link.organization)
  list.add('redirector', link.wrappedBy)
  const pattern = pathPattern(link.path)
  if (pattern.length > 1) list.add('link-pattern', pattern)
  if (link.parameters !== '') list.add('link-parameters', `${pattern}?${link.parameters}`)
  const address = link.isIp ? parseIp(link.host) : undefined
  if (!address) return
  list.add('link-ip', address.text)
  list.add('link-network', block24Or48(address))
}

function addImage(list: ShingleList, source: string): void {
  if (!/^(?:https?:)?\/\//i.test(source)) return
  const [link] = plainLinks(source)
  if (!link) return
  list.add('image-link', `${link.host}${link.path}`)
  list.add('image-link-organization', link.organization)
}

const passageWordsMin = 5
const passageWordsMax = 200
const passagesMax = 6
const edgeWords = 12
const edgesWordsMin = 30
const longWords = 10
const longWordCharsMin = 8
const longWordsAmong = 150
const runWords = 5
const runsMax = 8
const startTags = 40

export function addWholeText(list: ShingleList, { shown, hidden, html }: BodyView): void {
  list.add('text', shown.line)
  list.add('text-letters', lettersOf(shown.line))
  list.add('text-plain-part', hidden)
  if (html.tags.length > 0) addHtml(list, html)
}

function addHtml(list: ShingleList, html: HtmlView): void {
  list.add('html-structure', html.tags.join(' '))
  if (html.tags.length > startTags) list.add('html-start', html.tags.slice(0, startTags).join(' '))
  list.add('html-counts', countsOf(html.tags))
  list.add('html-title', plainLine(html.title))
  for (const comment of html.comments.slice(0, 4)) list.add('html-comment', plainLine(comment))
  list.add('html-style-sheet', html.styleSheet.slice(0, 4000).replaceAll(/\s+/g, ''))
}

/**
 * Returns how often each element occurs, rounded down to a power of two, so that one more table row
 * seldom makes a difference.
 */
function countsOf(tags: readonly string[]): string {
  const counts = new Map<string, { count: number }>()
  for (const tag of tags) {
    const known = counts.get(tag)
    if (known) known.count++
    else counts.set(tag, { count: 1 })
  }
  const sizes: string[] = []
  for (const [tag, { count }] of counts) sizes.push(`${tag}${31 - Math.clz32(count)}`)
  return sizes.sort().join(' ')
}

/** Removes blanks and numbers from a line. */
function lettersOf(line: string): string {
  letters.write(line, 0, 'utf16le')
  let end = 0
  for (let at = 0; at < line.length; at++) {
    const code = letterUnits[at] ?? 0
    if (code !== 0x20 && code !== 0x30) letterUnits[end++] = code
  }
  return letters.toString('utf16le', 0, end * 2)
}

const letterUnits = new Uint16Array((lineWordsMax + 1) * (wordCharsMax + 1))
const letters = Buffer.from(letterUnits.buffer)

/** Adds passages of the text, and a sample of its runs of words. */
export function addTextShingles(list: ShingleList, { shown }: BodyView): void {
  const { hashes, paragraphEnds, sentenceEnds } = shown
  const count = hashes.length
  if (count < passageWordsMin) return
  if (count >= edgesWordsMin) {
    list.add('text-start', wordsBetween(shown, 0, edgeWords))
    list.add('text-end', wordsBetween(shown, count - edgeWords, count))
  }
  list.add('long-words', longestWords(shown))
  addEach(list, 'paragraph', shown, paragraphEnds)
  addEach(list, 'sentence', shown, sentenceEnds)
  for (const at of sampledRuns(hashes)) {
    list.add('words', wordsBetween(shown, at, at + runWords))
  }
}

function longestWords({ line, wordEnds }: PlainText): string | undefined {
  const among = Math.min(longWordsAmong, wordEnds.length)
  const longest: string[] = []
  let start = 0
  for (let word = 0; word < among; word++) {
    const end = wordEnds[word] ?? 0
    const least = longest.length < longWords ? longWordCharsMin : (longest.at(-1)?.length ?? 0)
    if (end - start >= least) insertLong(longest, line.slice(start, end))
    start = end + 1
  }
  return longest.length < longWords ? undefined : longest.sort().join(' ')
}

/**
 * Inserts a word into the list of the longest words, without duplicates; words of equal length are
 * in alphabetical order.
 */
function insertLong(longest: string[], word: string): void {
  let at = longest.length
  for (; at > 0; at--) {
    const before = longest[at - 1] ?? ''
    if (before.length > word.length || (before.length === word.length && before < word)) break
    if (before === word) return
  }
  if (at >= longWords) return
  longest.splice(at, 0, word)
  if (longest.length > longWords) longest.pop()
}

function addEach(
  list: ShingleList,
  name: 'paragraph' | 'sentence',
  shown: PlainText,
  ends: readonly number[],
): void {
  const count = shown.wordEnds.length
  let start = 0
  let passages = 0
  for (let index = 0; index <= ends.length && passages < passagesMax; index++) {
    const end = ends[index] ?? count
    if (end - start >= passageWordsMin) {
      passages++
      list.add(name, wordsBetween(shown, start, Math.min(end, start + passageWordsMax)))
    }
    start = end
  }
}

/**
 * Returns the starts of the runs with the smallest hashes, at most eight. Messages with many common
 * runs therefore have common samples.
 */
function sampledRuns(hashes: Int32Array): number[] {
  const places: number[] = []
  const least: number[] = []
  for (let at = 0; at + runWords <= hashes.length; at++) {
    let hash = 0
    for (let next = at; next < at + runWords; next++) {
      hash = Math.imul(hash ^ (hashes[next] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    hash >>>= 0
    let place = least.length
    if (place === runsMax && hash >= (least[runsMax - 1] ?? 0)) continue
    if (place < runsMax) place++
    while (--place > 0 && hash < (least[place - 1] ?? 0)) {
      least[place] = least[place - 1] ?? 0
      places[place] = places[place - 1] ?? 0
    }
    least[place] = hash
    places[place] = at
  }
  return places
}
