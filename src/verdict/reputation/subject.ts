/**
 * Kinds of subjects, with their stored numbers. A subject is a part or property of a message that
 * can have a reputation.
 */
export const subjectKinds = {
  address: 1,
  network: 2,
  'autonomous-system': 3,
  author: 4,
  'author-domain': 5,
  signer: 6,
  'return-path-domain': 7,
  'link-host': 8,
  'link-domain': 9,
  link: 10,
  file: 11,
  phone: 12,
  'claimed-author': 13,
  'claimed-author-domain': 14,
  campaign: 15,
} as const

export type SubjectKind = keyof typeof subjectKinds

/**
 * A subject of a reputation. `name` is its normal form: an IP address without brackets, a network
 * as CIDR, an AS number in decimal, a domain in lower-case ASCII, the SHA-256 of a file in
 * hexadecimal, the id of a campaign. An author whose domain did not authenticate the message is a
 * claimed author: its reputation says nothing about the owner of the address.
 */
export type Subject = {
  kind: SubjectKind
  name: string
  /**
   * The share of a complaint that counts against a relay, such as the machine of a mailing list.
   * Absent for other subjects, against which all of it counts.
   */
  answers?: number
}

const names = new Map(Object.entries(subjectKinds).map(([name, number]) => [number, name]))

/** Returns the kind with a stored number; undefined for an unknown number. */
export function subjectKindOf(number: number): SubjectKind | undefined {
  return names.get(number as never) as SubjectKind | undefined
}

export function isSubjectKind(text: string): text is SubjectKind {
  return Object.hasOwn(subjectKinds, text)
}

/** The base part as stored: effective evidence as of `foldedAt`. */
export type StoredReputation = {
  kind: SubjectKind
  name: string
  good: number
  bad: number
  recentGood: number
  recentBad: number
  /** The part of `bad` from messages that are phishing or malware; null: none. */
  phishing: number | null
  /** The part of `phishing` from messages that are malware; null: none. */
  malware: number | null
  firstSeenAt: Date
  lastSeenAt: Date
  /** When an awakening or a change was last detected. */
  wokeAt: Date | null
  jumpedAt: Date | null
  foldedAt: Date
}
