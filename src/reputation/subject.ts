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
} as const

export type SubjectKind = keyof typeof subjectKinds

/**
 * One thing that has a reputation. `name` is its normal form: an address without brackets, a
 * network as CIDR, a domain in lower-case ASCII, the SHA-256 of a file in hexadecimal.
 */
export type Subject = { kind: SubjectKind; name: string }
