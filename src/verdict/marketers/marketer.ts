import type { MarketerMarks } from '../../analysis/marketer.ts'

/** The languages in which readers are advised. */
export const adviceLanguages = ['en', 'fr', 'ru'] as const

/** One of them. */
export type AdviceLanguage = (typeof adviceLanguages)[number]

/** Where a marketer stands: only who is confirmed is recognized. */
export const marketerStates = ['declared', 'confirmed', 'suspended'] as const

/** One of them. */
export type MarketerState = (typeof marketerStates)[number]

/** Who mails in bulk and says so. */
export type Marketer = MarketerMarks & {
  state: MarketerState
  /** How it says that it gets its addresses, and what it sends. */
  practice: string
  website: string | null
  /** How to unsubscribe, plain text. */
  advice: Readonly<Partial<Record<AdviceLanguage, string>>>
  /** Whom an administrator writes to. */
  contact: string | null
}

/** What a marketer may be at most. */
export const marketerBounds = {
  keyCharsMax: 60,
  nameCharsMax: 120,
  signersMax: 50,
  rangesMax: 200,
  listIdsMax: 100,
  authorsMax: 50,
  practiceCharsMax: 2_000,
  adviceCharsMax: 2_000,
  urlCharsMax: 300,
  addressCharsMax: 254,
  fileBytesMax: 16 * 1024 * 1024,
} as const

/** Whether two declarations say the same. */
export function isSameMarketer(one: Marketer, other: Marketer): boolean {
  return JSON.stringify(canonical(one)) === JSON.stringify(canonical(other))
}

/** What there is to say of a marketer in a file, in the order in which people read it. */
export function writtenMarketer(one: Marketer): Record<string, unknown> {
  const { key, name, state, signers, ranges, listIds, authors, practice, website } = one
  const advice = adviceLanguages.flatMap((language) =>
    one.advice[language] === undefined ? [] : [[language, one.advice[language]]],
  )
  const written = {
    ...{ key, name, state, signers, ranges, list_ids: listIds, authors },
    ...{ practice, website, advice: Object.fromEntries(advice) as object },
    ...{ contact: one.contact, feedback: one.feedback },
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
  })
}
