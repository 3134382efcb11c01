import { isSharedSuffix } from '../../mail/address.ts'
import { firstAddress, prefixLength } from '../../mail/ip-blocks.ts'
import { refusal } from '../../phrase.ts'
import type { MarketerMarks } from '../../pieces/marketer.ts'
import { type OwnNames, type Spared, whySpared } from '../lists/spare.ts'

const adviceLanguages = ['en', 'fr', 'ru'] as const

export type AdviceLanguage = (typeof adviceLanguages)[number]

/** States of a marketer. Only mail of `confirmed` marketers is recognized. */
export const marketerStates = ['declared', 'confirmed', 'suspended'] as const

type MarketerState = (typeof marketerStates)[number]

export const marketerKinds = ['marketer', 'service'] as const satisfies MarketerMarks['kind'][]

/** A sender of bulk mail that has declared itself, or a service that sends for such senders. */
export type Marketer = MarketerMarks & {
  state: MarketerState
  /** Domains of its links, bounces and website. They prove nothing. */
  hosts: readonly string[]
  /** The marketer's description of how it collects addresses and what it sends. */
  practice: string
  website: string | null
  /** How to unsubscribe, as plain text. */
  advice: Readonly<Partial<Record<AdviceLanguage, string>>>
  /** The contact whom administrators can reach. */
  contact: string | null
  /** The public pages that state its domains, with the day on which each was read. */
  sources: Readonly<Record<string, string>>
}

/** Upper limits for a marketer. */
export const marketerBounds = {
  keyCharsMax: 60,
  nameCharsMax: 120,
  signersMax: 50,
  rangesMax: 200,
  listIdsMax: 100,
  authorsMax: 50,
  hostsMax: 50,
  sourcesMax: 20,
  practiceCharsMax: 2_000,
  adviceCharsMax: 2_000,
  urlCharsMax: 300,
  addressCharsMax: 254,
  fileBytesMax: 16 * 1024 * 1024,
} as const

export function isSameMarketer(one: Marketer, other: Marketer): boolean {
  return JSON.stringify(canonical(one)) === JSON.stringify(canonical(other))
}

/** Returns the fields of a marketer for a file, in reading order. */
export function writtenMarketer(one: Marketer): Record<string, unknown> {
  const { key, kind, name, state, signers, ranges, listIds, authors, hosts } = one
  const advice = adviceLanguages.flatMap((language) =>
    one.advice[language] === undefined ? [] : [[language, one.advice[language]]],
  )
  const written = {
    ...{ key, ...(kind === 'service' && { kind }), name, state },
    ...{ signers, ranges, list_ids: listIds, authors, hosts },
    ...{ practice: one.practice, website: one.website },
    ...{ advice: Object.fromEntries(advice) as object },
    ...{ contact: one.contact, feedback: one.feedback, sources: one.sources },
  }
  const isThere = (value: unknown) =>
    value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0)
  return Object.fromEntries(Object.entries(written).filter(([, value]) => isThere(value)))
}

function canonical(one: Marketer): unknown {
  const sorted = (names: readonly string[]) => [...names].sort()
  return writtenMarketer({
    ...one,
    signers: sorted(one.signers),
    ranges: sorted(one.ranges),
    listIds: sorted(one.listIds),
    authors: sorted(one.authors),
    hosts: sorted(one.hosts),
    sources: Object.fromEntries(Object.entries(one.sources).sort()),
  })
}

/**
 * An error in the marks of a declaration: mail of others would be attributed to the marketer.
 * `field` is named as in a file.
 */
export type MarksFault = { field: 'signers' | 'ranges' | 'list_ids' | 'authors'; reason: string }

type Marks = Pick<MarketerMarks, 'kind' | 'signers' | 'ranges' | 'listIds' | 'authors'>

/** Minimum prefix length by IP version. Wider blocks belong to whole providers. */
const prefixMin = { 4: 16, 6: 32 } as const

/**
 * Returns all errors in the identifying marks of a marketer: names and ranges from which others
 * also send. A mailing service may sign for thousands of customers, so for one of them its
 * signature needs a List-Id or an author as well.
 */
export function marksFaults(marks: Marks, own: OwnNames): MarksFault[] {
  const isNarrowed = marks.listIds.length + marks.authors.length > 0
  const mayBeShared = isNarrowed || marks.kind === 'service'
  const faults = [
    ...marks.signers.flatMap((name) => signerFault(name, mayBeShared, own)),
    ...marks.authors.flatMap((name) => authorFault(name, own)),
    ...marks.listIds.flatMap(listIdFault),
    ...marks.ranges.flatMap((cidr) => rangeFault(cidr, isNarrowed)),
  ]
  if (marks.signers.length + marks.ranges.length > 0) return faults
  return [...faults, { field: 'signers', reason: refusal('refused.marks-none') }]
}

function signerFault(written: string, mayBeShared: boolean, own: OwnNames): MarksFault[] {
  const name = bare(written)
  const spared = whyShared(name, own)
  const fault = (reason: string): MarksFault[] => [{ field: 'signers', reason }]
  if (spared === undefined) return []
  if (spared !== 'shared platform') return fault(refusal(spareCodes[spared], { name: written }))
  if (mayBeShared) return []
  return fault(refusal('refused.marks-signer', { name: written }))
}

function authorFault(written: string, own: OwnNames): MarksFault[] {
  const spared = whyShared(bare(written), own)
  if (spared === undefined) return []
  return [{ field: 'authors', reason: refusal(spareCodes[spared], { name: written }) }]
}

/**
 * Returns an error for a List-Id that covers a whole mailing service, because it would not identify
 * one customer.
 */
function listIdFault(written: string): MarksFault[] {
  if (!written.startsWith('*.')) return []
  const name = bare(written)
  const isShared = isSharedSuffix(name) || whySpared('hosts', name, []) === 'shared platform'
  if (!isShared && name.includes('.')) return []
  return [
    {
      field: 'list_ids',
      reason: refusal('refused.marks-list', { name: written }),
    },
  ]
}

function rangeFault(cidr: string, isNarrowed: boolean): MarksFault[] {
  const family = cidr.includes(':') ? 6 : 4
  const fault = (reason: string): MarksFault[] => [{ field: 'ranges', reason }]
  if (prefixLength(cidr) < prefixMin[family]) {
    return fault(refusal('refused.marks-wide', { range: cidr, prefix: prefixMin[family] }))
  }
  const spared = whySpared('addresses', plainAddress(cidr), [])
  if (spared === 'no public address')
    return fault(refusal('refused.marks-private', { range: cidr }))
  if (spared === undefined || spared === 'no such name' || isNarrowed) return []
  return fault(refusal('refused.marks-provider', { range: cidr }))
}

/** The sentences about names that belong to many people, to nobody, or to us. */
export const spareCodes = {
  'no such name': 'refused.no-such-name',
  'no public address': 'refused.no-public-address',
  'known site': 'refused.known-site',
  'reserved name': 'refused.reserved-name',
  'public suffix': 'refused.public-suffix',
  'mailbox provider': 'refused.mailbox-provider',
  'shared platform': 'refused.shared-platform',
  'link shortener': 'refused.link-shortener',
  'our own': 'refused.our-own',
} as const satisfies Record<Spared | 'known site', string>

/** Why a name does not identify a single marketer; undefined when it does. */
function whyShared(name: string, own: OwnNames) {
  const spared = whySpared('hosts', name, own)
  return spared === 'no public address' ? 'no such name' : spared
}

function bare(written: string): string {
  return written.startsWith('*.') ? written.slice(2) : written
}

/** Returns the first address of a block, in the notation of the lists. */
function plainAddress(cidr: string): string {
  return firstAddress(cidr)?.text ?? ''
}
