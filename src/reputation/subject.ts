/** What a message can be blamed on, or praised for; numbers are stored. */
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

/** One of them. */
export type SubjectKind = keyof typeof subjectKinds

/**
 * One thing that has a reputation. `name` is its normal form: an address without brackets, a
 * network as CIDR, a number of an AS in decimal, a domain in lower-case ASCII, the SHA-256 of a
 * file in hexadecimal, the id of a campaign. An author whose domain does not stand behind the
 * message is only claimed: what is known of a claimed one says nothing of who has the address.
 */
export type Subject = { kind: SubjectKind; name: string }

const names = new Map(Object.entries(subjectKinds).map(([name, number]) => [number, name]))

/** The kind of a stored number; undefined for one that there is not. */
export function subjectKindOf(number: number): SubjectKind | undefined {
  return names.get(number as never) as SubjectKind | undefined
}

/** Whether a text is the name of a kind. */
export function isSubjectKind(text: string): text is SubjectKind {
  return Object.hasOwn(subjectKinds, text)
}
