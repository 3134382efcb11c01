/**
 * The keys of advisory locks, all different. Locks about one row have the hash of a word and its id
 * as their key, such as that of `pace ID`.
 */
export const lockKeys = {
  models: 1_015_001,
  activity: 1_016_001,
  reporterDays: 20_828,
  searchNews: 20_829,
  migrations: 7_305_091_331,
  backend: 7_305_091_332,
} as const

/** The first keys of advisory locks that have two; the second is a part of the data. */
export const lockClasses = {
  counters: 20_813,
  campaigns: 20_814,
  evidence: 20_815,
  listings: 0x6c697374,
} as const
