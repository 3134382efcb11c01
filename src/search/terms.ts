import type { SearchMaterial } from '../db/search.ts'
import { parseMailboxes } from '../mail/address.ts'
import { blocksInside, parseBlock, prefixLength } from '../mail/ip-blocks.ts'
import { parseIp } from '../mail/ip.ts'
import type { PlainAnalysis } from '../pieces/analyze.ts'
import { wordPairsIn } from './words.ts'

/**
 * The terms of a report: short texts like `from:shop.example`, some of them several times. A search
 * compares them for equality only, so each way in which something can be named is a term of its
 * own: an address, its domain, the domains above, and its words.
 */
export type Terms = readonly string[]

/** What is read from the stored analysis. */
export type AnalyzedParts = Partial<
  Pick<PlainAnalysis, 'links' | 'attachments' | 'sha256' | 'cc'> & {
    headers: Pick<PlainAnalysis['headers'], 'from' | 'to'>
  }
>

/** Bounds of what is indexed of one report. */
const SUBJECT_WORDS_MAX = 40
const TEXT_WORDS_MAX = 400
const DIFFERENT_WORDS_MAX = 160
const LINKS_MAX = 40
const FILES_MAX = 20
/** Maximum number of words of a name that are indexed. */
export const NAME_WORDS_MAX = 12
const COMMENT_WORDS_MAX = 100
const RECIPIENTS_MAX = 20
const DESKS_MAX = 10

/** Returns the terms of a report; `text` is the beginning of its message's text. */
export function termsOf(report: SearchMaterial, analyzed: AnalyzedParts, text: string): Terms {
  // Not a set: to hash each term takes longer than all else, and the database leaves out doubles.
  const terms: string[] = []
  const add: AddTerm = (field, value) => void terms.push(`${field}:${value}`)
  const addIfKnown = (field: string, value: string | number | null) => {
    if (value !== null) add(field, value)
  }
  add('state', report.state)
  add('kind', report.kind)
  add('channel', report.channel)
  add('reporter', report.reporterId)
  addIfKnown('verdict', report.verdictClass)
  addIfKnown('campaign', report.campaignId)
  addIfKnown('as', report.networkAsn)
  addIfKnown('country', report.networkCountry?.toLowerCase() ?? null)
  addIfKnown('network', report.networkCidr && (parseBlock(report.networkCidr) ?? null))
  addName(add, 'network', report.networkName ?? '')
  for (const name of report.symbols) add('symbol', name)
  for (const address of report.desks.slice(0, DESKS_MAX)) addAddress(add, 'desk', address)
  if (report.author !== null) addAddress(add, 'from', report.author)
  addName(add, 'from', analyzed.headers?.from ?? '')
  addRecipients(add, [analyzed.headers?.to ?? '', analyzed.cc ?? ''])
  if (report.messageId !== null) addAddress(add, 'messageid', bareId(report.messageId))
  addWords(add, 'comment', wordPairsIn(report.comment ?? '', COMMENT_WORDS_MAX))
  if (report.originIp !== null) addOrigin(add, report.originIp)
  const subjectWords = wordPairsIn(report.subject ?? '', SUBJECT_WORDS_MAX)
  addSubject(add, subjectWords)
  addLinks(add, analyzed.links ?? [])
  addFiles(add, analyzed.attachments ?? [])
  addIfKnown('file', analyzed.sha256 ?? null)
  for (const word of differentWords(subjectWords, wordPairsIn(text, TEXT_WORDS_MAX))) {
    add('text', word)
  }
  return terms
}

function differentWords(subject: WordPairs, text: WordPairs): string[] {
  const words = new Set<string>()
  for (const { written, read } of [...subject, ...text]) {
    words.add(written)
    if (read !== written) words.add(read)
    if (words.size >= DIFFERENT_WORDS_MAX) break
  }
  return [...words].slice(0, DIFFERENT_WORDS_MAX)
}

type AddTerm = (field: string, value: string | number) => void
type WordPairs = ReturnType<typeof wordPairsIn>

/** Adds each word as it is written, and as people read it. */
function addWords(add: AddTerm, field: string, words: WordPairs): void {
  for (const { written, read } of words) {
    add(field, written)
    if (read !== written) add(field, read)
  }
}

/** Adds a name by its first words. */
function addName(add: AddTerm, field: string, text: string): void {
  addWords(add, field, wordPairsIn(text, NAME_WORDS_MAX))
}

/** Adds the words of a subject, and each pair of words that follow each other. */
function addSubject(add: AddTerm, words: WordPairs): void {
  addWords(add, 'subject', words)
  for (const [index, { written, read }] of words.entries()) {
    const before = words[index - 1]
    if (!before) continue
    add('subject', pairOf(before.written, written))
    add('subject', pairOf(before.read, read))
  }
}

/** Adds the recipients that a message names: their addresses and names. */
function addRecipients(add: AddTerm, lists: readonly string[]): void {
  const recipients = lists.flatMap((list) => parseMailboxes(list)).slice(0, RECIPIENTS_MAX)
  for (const { name, address } of recipients) {
    if (/^\S+$/.test(address)) addAddress(add, 'to', address)
    addName(add, 'to', name)
  }
}

/** A Message-ID without angle brackets and white space. */
export function bareId(messageId: string): string {
  return messageId.replaceAll(/[<>\s]/g, '')
}

/** The terms of words that follow each other in a subject. */
export function pairTerms(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `subject:${pairOf(words[index] ?? '', word)}`)
}

function pairOf(one: string, next: string): string {
  return `${one} ${next}`
}

/** Adds an address by itself, its domain, the domains above it, and its words. */
function addAddress(add: AddTerm, field: string, address: string): void {
  const plain = address.toLowerCase()
  const at = plain.lastIndexOf('@')
  add(field, plain)
  if (at >= 0) {
    add(field, plain.slice(0, at))
    addDomains(add, field, plain.slice(at + 1))
  }
  addName(add, field, plain)
}

/** Adds a domain and those above it. */
function addDomains(add: AddTerm, field: string, domain: string): void {
  const labels = domain.split('.').slice(-NAME_WORDS_MAX)
  for (const index of labels.keys()) add(field, labels.slice(index).join('.'))
}

function addLinks(add: AddTerm, links: NonNullable<AnalyzedParts['links']>): void {
  for (const host of new Set(links.slice(0, LINKS_MAX).map((link) => link.host))) {
    if (parseIp(host)) add('link', host)
    else addDomains(add, 'link', host)
    addName(add, 'link', host)
  }
}

function addFiles(add: AddTerm, attachments: NonNullable<AnalyzedParts['attachments']>): void {
  for (const { name, sha256 } of attachments.slice(0, FILES_MAX)) {
    add('file', sha256)
    addName(add, 'file', name ?? '')
  }
}

/** Prefix lengths of the blocks by which an origin is found. */
const levels = {
  4: [4, 8, 12, 16, 20, 24, 28, 32],
  6: [16, 24, 32, 40, 48, 56, 64, 128],
} as const
/** The planner expects each further term to match more, and then does not use the index. */
const BLOCKS_MAX = 256

function addOrigin(add: AddTerm, ip: string): void {
  const family = ip.includes(':') ? 6 : 4
  for (const length of levels[family]) add('origin', parseBlock(`${ip}/${length}`) ?? ip)
}

/**
 * The terms of which an origin inside a block has one. Undefined if the block cannot be composed of
 * the blocks that are indexed: if it is narrower than an IPv6 /64, or no block at all.
 */
export function blockTerms(text: string): string[] | undefined {
  const block = parseBlock(text)
  if (block === undefined) return undefined
  const wide = prefixLength(block)
  const length = levels[block.includes(':') ? 6 : 4].find((level) => level >= wide)
  const inside = length === undefined ? undefined : blocksInside(block, length, BLOCKS_MAX)
  return inside?.map((one) => `origin:${one}`)
}
