import type { SubjectKind } from '../../reputation/subject.ts'

/** The lists that are given out. */
export const listNames = ['addresses', 'domains', 'hosts'] as const

export type ListName = (typeof listNames)[number]

/** Why something is listed, the worst last. */
export const listCategories = ['spam', 'phishing', 'malware'] as const

export type ListCategory = (typeof listCategories)[number]

/**
 * What the zones answer for each category. 127.0.0.2 is also what RFC 5782 §2.1 wants of an entry
 * that says nothing more.
 */
export const listCodes: Readonly<Record<ListCategory, string>> = {
  spam: '127.0.0.2',
  phishing: '127.0.0.4',
  malware: '127.0.0.5',
}

/** What is known of a subject, as far as a list is concerned. */
export type ListCandidate = {
  kind: SubjectKind
  name: string
  /** From -1, nothing but good, to +1, nothing but bad: shrunken and decayed. */
  score: number
  /** How much evidence there still is, decayed, in reports of reporters of full karma. */
  weight: number
  /** Different reporters who complained and have nothing but the complaint in common. */
  independentReporters: number
  firstSeen: Date
  lastSeen: Date
  /** `exempt` spares it; `phishing` and `malware` say what it is, else it is spam. */
  flags: readonly string[]
}

/** An entry of a list. It is listed while `until` is to come, and remembered for a while after. */
export type Listing = {
  list: ListName
  name: string
  /** The kind of subject that put it there. */
  kind: SubjectKind
  category: ListCategory
  since: Date
  until: Date
  /** How often it was listed, this time included. */
  times: number
  /** A round number, see `roundedReporters`. */
  reportersAtLeast: number
  lastSeen: Date
  /** When it was last taken off on request; null: never. */
  pardonedAt: Date | null
  /** How many reporters had complained when it was; rounded down. */
  pardonedReporters: number | null
}

/**
 * Which list a kind of subject belongs on. Undefined for most: networks, because one customer is
 * not all; authors and return paths, because anybody may write them; links, files and phones,
 * because no list of names holds them.
 */
export function listOf(kind: SubjectKind): ListName | undefined {
  if (kind === 'address') return 'addresses'
  if (kind === 'signer' || kind === 'link-domain') return 'domains'
  return kind === 'link-host' ? 'hosts' : undefined
}

/** The kinds that may be listed, for who reads them from a table. */
export const listableKinds: readonly SubjectKind[] = [
  'address',
  'signer',
  'link-host',
  'link-domain',
]

/** Whether it is listed at an instant. */
export function isLive({ until }: Pick<Listing, 'until'>, now: Date): boolean {
  return until > now
}
