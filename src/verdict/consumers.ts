import { domainToASCII } from 'node:url'
import { isPublicName, registrableDomain } from '../mail/address.ts'
import {
  blocksOfRange,
  isWiderThanAnyHolding,
  parseBlock,
  prefixLength,
} from '../mail/ip-blocks.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import { storableText } from '../mail/text.ts'
import { readAsn } from '../origin/network-tables/text-tables.ts'
import { mergeLayers, type NetworkLayer } from '../origin/networks.ts'
import { type FeedbackTopic, feedbackTopics, type ScopeMatch } from './choose-contact.ts'

/** One thing that a consumer wants to be told of. */
export type ConsumerScope = Pick<ScopeMatch, 'kind' | 'value'>

/** So many of them one consumer may have. */
const SCOPES_MAX = 100

const CHARS_MAX = 20_000

/**
 * Reads scopes as people write them, between commas, semicolons, blanks and line ends: CIDR blocks
 * and ranges (`192.0.2.0-192.0.2.255`), `AS64496`, domains. Gives the first words that are none, at
 * most three of them, when there are any.
 */
export function readScopes(text: string): ConsumerScope[] | { faults: string[] } {
  const words = text.slice(0, CHARS_MAX).split(/[\s,;]+/)
  const given = words.filter((word) => word !== '')
  const scopes = new Map<string, ConsumerScope>()
  const faults: string[] = []
  for (const word of given.slice(0, SCOPES_MAX + 1)) {
    const read = readScope(word)
    if (!read) faults.push(word)
    for (const scope of read ?? []) scopes.set(`${scope.kind} ${scope.value}`, scope)
  }
  if (faults.length > 0) return { faults: faults.slice(0, 3) }
  if (given.length > SCOPES_MAX || scopes.size > SCOPES_MAX) return { faults: ['…'] }
  return [...scopes.values()]
}

/** A scope as people write it. */
export function scopeText({ kind, value }: ConsumerScope): string {
  return kind === 'as' ? `AS${value}` : value
}

function readScope(word: string): ConsumerScope[] | undefined {
  const asn = /^as/i.test(word) ? readAsn(word) : undefined
  if (asn) return [{ kind: 'as', value: String(asn) }]
  const [first = '', last] = word.split('-')
  const range = last === undefined ? undefined : blocksOfRange(first, last)
  const block = parseBlock(word)
  const blocks = range ?? (block === undefined ? undefined : [block])
  if (blocks) {
    if (blocks.length > SCOPES_MAX || blocks.some(isWiderThanAnyHolding)) return undefined
    return blocks.map((value) => ({ kind: 'range', value }))
  }
  const domain = domainToASCII(word.toLowerCase())
  const isName = isPublicName(domain) || isReservedName(domain)
  return isName && registrableDomain(domain) !== undefined
    ? [{ kind: 'domain', value: domain }]
    : undefined
}

/** Names that nobody has, for examples and for networks of their own (RFC 2606). */
function isReservedName(domain: string): boolean {
  return /^(?:[a-z0-9-]{1,63}\.){1,8}(?:example|test|invalid)$/.test(domain)
}

/** How a consumer wants to be told. */
export type TellingWish = {
  format: 'arf' | 'xarf'
  form: 'whole' | 'headers'
  pace: 'at-once' | 'campaign' | 'digest'
  /** Null: all. */
  takes: FeedbackTopic[] | null
}

/** The choices there are. */
export const tellingChoices = {
  format: ['arf', 'xarf'],
  form: ['whole', 'headers'],
  pace: ['at-once', 'campaign', 'digest'],
} as const

/** What is so when nothing is said. */
export const usualTelling: TellingWish = {
  format: 'arf',
  form: 'whole',
  pace: 'at-once',
  takes: null,
}

/** The same as a form or a command line has it; absent is as usual. */
export type TellingFields = {
  format?: string | undefined
  form?: string | undefined
  pace?: string | undefined
  takes?: readonly string[] | undefined
}

/** Reads a wish; undefined when any part of it is none of the choices. */
export function readTelling(fields: TellingFields): TellingWish | undefined {
  const format = oneOf(tellingChoices.format, fields.format ?? usualTelling.format)
  const form = oneOf(tellingChoices.form, fields.form ?? usualTelling.form)
  const pace = oneOf(tellingChoices.pace, fields.pace ?? usualTelling.pace)
  const given = fields.takes ?? feedbackTopics
  const takes = feedbackTopics.filter((topic) => given.includes(topic))
  if (!format || !form || !pace || takes.length === 0) return undefined
  if (new Set(given).size !== takes.length) return undefined
  return { format, form, pace, takes: takes.length === feedbackTopics.length ? null : takes }
}

/** The one of the choices that a text is; undefined when it is none. */
export function oneOf<Choice extends string>(
  choices: readonly Choice[],
  text: string | null | undefined,
): Choice | undefined {
  return choices.find((choice) => choice === text)
}

/** What a person may set of a consumer; null limits are those of the program. */
export type ConsumerLimits = {
  hourlyMax: number | null
  connectionsMax: number | null
  note: string | null
}

const HOURLY_MAX = 1_000_000
const CONNECTIONS_MAX = 50
const NOTE_CHARS_MAX = 500

/** Reads limits as people write them: empty is null. Undefined when one is none. */
export function readLimits(fields: {
  hourlyMax: string
  connectionsMax: string
  note: string
}): ConsumerLimits | undefined {
  const hourlyMax = readCount(fields.hourlyMax, HOURLY_MAX)
  const connectionsMax = readCount(fields.connectionsMax, CONNECTIONS_MAX)
  if (hourlyMax === undefined || connectionsMax === undefined) return undefined
  const note = storableText(fields.note.trim(), NOTE_CHARS_MAX) || null
  return { hourlyMax, connectionsMax, note }
}

function readCount(text: string, max: number): number | null | undefined {
  if (text.trim() === '') return null
  const count = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0
  return count >= 1 && count <= max ? count : undefined
}

/**
 * Whether an abuse address answers for all of a block, as far as tables, registries and
 * administrators say: for the block as a whole it is a registered contact, and nothing inside is
 * said to be anybody else's. `layers` are all around the block and in it. In doubt it does not.
 */
export function answersForBlock(
  address: string,
  cidr: string,
  layers: readonly NetworkLayer[],
): boolean {
  const start = parseIp(cidr.slice(0, cidr.indexOf('/')))
  if (!start || parseBlock(cidr) !== cidr) return false
  const around = layers.filter(
    (layer) =>
      prefixLength(layer.cidr) <= prefixLength(cidr) && networkSet([layer.cidr]).has(start),
  )
  const network = mergeLayers(around)?.network
  if (!network || network.isMuted || !names(network.contacts, address)) return false
  return layers
    .filter((layer) => !around.includes(layer))
    .every(
      (layer) =>
        !layer.isMuted &&
        (layer.asn === null || layer.asn === network.asn) &&
        (layer.contacts.length === 0 || names(layer.contacts, address)),
    )
}

function names(contacts: readonly string[], address: string): boolean {
  return contacts.some((contact) => contact.toLowerCase() === address.toLowerCase())
}
