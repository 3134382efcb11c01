import type { SubjectKind } from '../../reputation/subject.ts'

/** The lists that are given out. */
export const listNames = ['addresses', 'domains', 'hosts'] as const

/** One of them. */
export type ListName = (typeof listNames)[number]

/** Why something is listed, the worst last. */
export const listCategories = ['spam', 'phishing', 'malware'] as const

/** One of these. */
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
  /**
   * At least so many reporters complained who have nothing but the complaint in common; decayed as
   * `weight` is, so not a whole number.
   */
  independentReporters: number
  /** When somebody proven last complained. */
  lastSeen: Date
  /** `exempt` and `welcome` spare it; `phishing` and `malware` say what it is, else it is spam. */
  flags: readonly string[]
}

/** An entry of a list. It is listed while `until` is to come, and remembered for a while after. */
export type Listing = {
  list: ListName
  name: string
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
  /** The independent reporters there were then, rounded up. */
  pardonedReporters: number | null
}

/**
 * The kind of subject that a list is made of. Not of networks, because one customer is not all; nor
 * of signers, authors and return paths, because domains that send are shared by many or written by
 * anybody. A domain is listed for what is linked to.
 */
export const listedKinds = {
  addresses: 'address',
  domains: 'link-domain',
  hosts: 'link-host',
} as const satisfies Record<ListName, SubjectKind>

/** Which list a kind of subject belongs on; undefined for most. */
export function listOf(kind: SubjectKind): ListName | undefined {
  return listNames.find((list) => listedKinds[list] === kind)
}

/** Whether it is listed at an instant. */
export function isLive({ until }: Pick<Listing, 'until'>, now: Date): boolean {
  return until > now
}
