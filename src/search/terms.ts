import type { SearchMaterial } from '../db/search.ts'
import { parseMailboxes } from '../mail/address.ts'
import { blocksInside, parseBlock, prefixLength } from '../mail/ip-blocks.ts'
import { parseIp } from '../mail/ip.ts'
import type { PlainAnalysis } from '../pieces/analyze.ts'
import { wordPairsIn } from './words.ts'

/**
 * The terms of a report: short texts like `from:shop.example`. A search compares them for equality
 * only, so each way in which something can be named is a term of its own: an address, its domain,
 * the domains above, and its words.
 */
export type Terms = ReadonlySet<string>

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
  const terms = new Set<string>([
    `state:${report.state}`,
    `kind:${report.kind}`,
    `channel:${report.channel}`,
    `reporter:${report.reporterId}`,
    ...present('verdict', report.verdictClass),
    ...present('campaign', report.campaignId),
    ...present('as', report.networkAsn === null ? null : String(report.networkAsn)),
    ...present('country', report.networkCountry?.toLowerCase() ?? null),
    ...present('network', report.networkCidr && (parseBlock(report.networkCidr) ?? null)),
    ...namedTerms('network', report.networkName ?? ''),
    ...report.symbols.map((name) => `symbol:${name}`),
    ...report.desks.slice(0, DESKS_MAX).flatMap((address) => addressTerms('desk', address)),
    ...(report.author === null ? [] : addressTerms('from', report.author)),
    ...namedTerms('from', analyzed.headers?.from ?? ''),
    ...recipientTerms([analyzed.headers?.to ?? '', analyzed.cc ?? '']),
    ...(report.messageId === null ? [] : addressTerms('messageid', bareId(report.messageId))),
    ...wordTerms('comment', report.comment ?? '', COMMENT_WORDS_MAX),
    ...(report.originIp === null ? [] : originTerms(report.originIp)),
    ...subjectTerms(report.subject ?? ''),
    ...linkTerms(analyzed.links ?? []),
    ...fileTerms(analyzed.attachments ?? []),
    ...present('file', analyzed.sha256 ?? null),
  ])
  const words = new Set([
    ...bothWords(report.subject ?? '', SUBJECT_WORDS_MAX),
    ...bothWords(text, TEXT_WORDS_MAX),
  ])
  for (const word of [...words].slice(0, DIFFERENT_WORDS_MAX)) terms.add(`text:${word}`)
  return terms
}

function present(field: string, value: string | null): string[] {
  return value === null ? [] : [`${field}:${value}`]
}

/** Each word of a text as it is written, and as people read it. */
function bothWords(text: string, max: number): string[] {
  return wordPairsIn(text, max).flatMap(({ written, read }) => [written, read])
}

function wordTerms(field: string, text: string, max: number): string[] {
  return bothWords(text, max).map((word) => `${field}:${word}`)
}

/** A name by its first words. */
function namedTerms(field: string, text: string): string[] {
  return wordTerms(field, text, NAME_WORDS_MAX)
}

/** The words of a subject, and each pair of words that follow each other. */
function subjectTerms(subject: string): string[] {
  const words = wordPairsIn(subject, SUBJECT_WORDS_MAX)
  return [words.map(({ written }) => written), words.map(({ read }) => read)].flatMap((one) => [
    ...one.map((word) => `subject:${word}`),
    ...pairTerms(one),
  ])
}

/** The recipients that a message names: their addresses and names. */
function recipientTerms(lists: readonly string[]): string[] {
  const recipients = lists.flatMap((list) => parseMailboxes(list)).slice(0, RECIPIENTS_MAX)
  return recipients.flatMap(({ name, address }) => [
    ...(/^\S+$/.test(address) ? addressTerms('to', address) : []),
    ...namedTerms('to', name),
  ])
}

/** A Message-ID without angle brackets and white space. */
export function bareId(messageId: string): string {
  return messageId.replaceAll(/[<>\s]/g, '')
}

/** The terms of words that follow each other in a subject. */
export function pairTerms(words: readonly string[]): string[] {
  return words.slice(1).map((word, index) => `subject:${words[index]} ${word}`)
}

/** An address by itself, its domain, the domains above it, and its words. */
function addressTerms(field: string, address: string): string[] {
  const plain = address.toLowerCase()
  const at = plain.lastIndexOf('@')
  const parts = at < 0 ? [] : [plain.slice(0, at), ...domainsOf(plain.slice(at + 1))]
  return [...[plain, ...parts].map((name) => `${field}:${name}`), ...namedTerms(field, plain)]
}

/** A domain and those above it. */
function domainsOf(domain: string): string[] {
  const labels = domain.split('.').slice(-NAME_WORDS_MAX)
  return labels.map((_, index) => labels.slice(index).join('.'))
}

function linkTerms(links: NonNullable<AnalyzedParts['links']>): string[] {
  const hosts = new Set(links.slice(0, LINKS_MAX).map(({ host }) => host))
  return [...hosts].flatMap((host) => [
    ...(parseIp(host) ? [host] : domainsOf(host)).map((name) => `link:${name}`),
    ...namedTerms('link', host),
  ])
}

function fileTerms(attachments: NonNullable<AnalyzedParts['attachments']>): string[] {
  return attachments.slice(0, FILES_MAX).flatMap(({ name, sha256 }) => {
    return [`file:${sha256}`, ...namedTerms('file', name ?? '')]
  })
}

/** Prefix lengths of the blocks by which an origin is found. */
const levels = {
  4: [4, 8, 12, 16, 20, 24, 28, 32],
  6: [16, 24, 32, 40, 48, 56, 64, 128],
} as const
/** The planner expects each further term to match more, and then does not use the index. */
const BLOCKS_MAX = 256

function originTerms(ip: string): string[] {
  const family = ip.includes(':') ? 6 : 4
  return levels[family].map((length) => `origin:${parseBlock(`${ip}/${length}`) ?? ip}`)
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
