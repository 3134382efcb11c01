import { domainToASCII } from 'node:url'
import { isPublicName, registrableDomain } from '../mail/address.ts'
import { type FeedbackFormat, feedbackFormats } from '../mail/feedback-format.ts'
import {
  blocksOfRange,
  containsBlock,
  isWiderThanAnyHolding,
  parseBlock,
} from '../mail/ip-blocks.ts'
import { storableText } from '../mail/text.ts'
import { readAsn } from '../origin/network-tables/text-tables.ts'
import { mergeLayers, type NetworkLayer } from '../origin/networks.ts'
import {
  type FeedbackTopic,
  feedbackTopics,
  type RecipientRole,
  type ScopeMatch,
} from './choose-contact.ts'

/** A block, autonomous system or domain for which a consumer enrolled. */
export type ConsumerScope = Pick<ScopeMatch, 'kind' | 'value'>

/** Maximum number of scopes of one consumer. */
const SCOPES_MAX = 100

const CHARS_MAX = 20_000

/**
 * Parses scopes separated by commas, semicolons, white space or line breaks: CIDR blocks and ranges
 * (`192.0.2.0-192.0.2.255`), `AS64496`, domains. On invalid input returns the first invalid words,
 * at most three.
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

/** Whether a domain is reserved for examples or for private networks (RFC 2606). */
function isReservedName(domain: string): boolean {
  return /^(?:[a-z0-9-]{1,63}\.){1,8}(?:example|test|invalid)$/.test(domain)
}

export type FeedbackSettings = {
  format: FeedbackFormat
  form: 'whole' | 'headers'
  pace: 'at-once' | 'campaign' | 'digest'
  /** Null: all topics. */
  takes: FeedbackTopic[] | null
}

export const feedbackChoices = {
  format: feedbackFormats,
  form: ['whole', 'headers'],
  pace: ['at-once', 'campaign', 'digest'],
} as const

/** The settings of a consumer that has not chosen any. */
export const defaultFeedbackSettings: FeedbackSettings = {
  format: 'arf',
  form: 'whole',
  pace: 'at-once',
  takes: null,
}

/**
 * The settings for feedback reports as text, from a form or a command line; absent means the
 * default.
 */
export type FeedbackSettingFields = {
  format?: string | undefined
  form?: string | undefined
  pace?: string | undefined
  takes?: readonly string[] | undefined
}

/** Parses the settings; undefined when any value is not allowed. */
export function parseFeedbackSettings(fields: FeedbackSettingFields): FeedbackSettings | undefined {
  const format = oneOf(feedbackChoices.format, fields.format ?? defaultFeedbackSettings.format)
  const form = oneOf(feedbackChoices.form, fields.form ?? defaultFeedbackSettings.form)
  const pace = oneOf(feedbackChoices.pace, fields.pace ?? defaultFeedbackSettings.pace)
  const given = fields.takes ?? feedbackTopics
  const takes = feedbackTopics.filter((topic) => given.includes(topic))
  if (!format || !form || !pace || takes.length === 0) return undefined
  if (new Set(given).size !== takes.length) return undefined
  return { format, form, pace, takes: takes.length === feedbackTopics.length ? null : takes }
}

/** Returns the text if it is one of the choices; undefined otherwise. */
function oneOf<Choice extends string>(
  choices: readonly Choice[],
  text: string | null | undefined,
): Choice | undefined {
  return choices.find((choice) => choice === text)
}

/** Limits that a person may set for a consumer; null means the program's default. */
export type ConsumerLimits = {
  hourlyMax: number | null
  connectionsMax: number | null
  note: string | null
}

const NOTE_CHARS_MAX = 500

/** Parses a note; null without text. */
export function readNote(text: string): string | null {
  return storableText(text.trim(), NOTE_CHARS_MAX) || null
}

/** Parses a number from 1 to `max`: null without text, undefined for other text. */
export function readCount(text: string, max: number): number | null | undefined {
  if (text.trim() === '') return null
  const count = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0
  return count >= 1 && count <= max ? count : undefined
}

/**
 * Whether an abuse address is responsible for a whole block, according to tables, registries and
 * administrators: it is a registered contact of the block as a whole, and no part of the block is
 * assigned to anybody else. `layers` are all layers around and inside the block. False in doubt.
 */
export function answersForBlock(
  address: string,
  cidr: string,
  layers: readonly NetworkLayer[],
): boolean {
  if (parseBlock(cidr) !== cidr) return false
  const around = layers.filter((layer) => containsBlock(layer.cidr, cidr))
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

export function hasContract(
  { originalsSince, originalsUntil }: { originalsSince: Date | null; originalsUntil: Date | null },
  now: Date,
): boolean {
  return originalsSince !== null && (originalsUntil === null || originalsUntil > now)
}

/**
 * Whether a desk can ask for the original of what a feedback report describes, or for the exact
 * address of a page. The desk of a network and those who can stop the page only: the sender of the
 * message names other recipients.
 */
export function isOriginalAskable(feedback: {
  kind: string
  recipientRole: RecipientRole
  hasOriginal: boolean
}): boolean {
  const { kind, recipientRole, hasOriginal } = feedback
  const isAskable = recipientRole === 'network' || recipientRole === 'page'
  return kind === 'complaint' && isAskable && !hasOriginal
}
