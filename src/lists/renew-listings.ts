import type { App } from '../app.ts'
import { createCounterReader } from '../counting/reader.ts'
import { reputationKey } from '../counting/reputation-reader.ts'
import { readVolumes } from '../counting/volumes.ts'
import { endListings, findExempted, findListings, keepListings } from '../db/listings.ts'
import type { Db } from '../db/pool.ts'
import {
  findMarks,
  findReputations,
  listReputations,
  type ReputationRow,
} from '../db/reputations.ts'
import { DAY_MS } from '../durations.ts'
import { registrableDomain } from '../mail/address.ts'
import { evidenceMin, judgeCandidate, whyEnded } from '../verdict/lists/judge-candidate.ts'
import {
  type ListCandidate,
  listedKinds,
  listForSubject,
  type Listing,
  type ListName,
  listNames,
} from '../verdict/lists/list.ts'
import type { OwnNames } from '../verdict/lists/spare.ts'
import {
  decayed,
  lastComplaintAt,
  SLOW_DAYS,
  sourcesAtLeast,
} from '../verdict/reputation/detail.ts'
import { dangerReporters, reputationAt, type Standing } from '../verdict/reputation/reputation.ts'
import { type Subject } from '../verdict/reputation/subject.ts'
import { blameShare } from '../verdict/reputation/volume.ts'

type Needs = Pick<App, 'pool'>

/** A page of candidates, and the last key of the page; undefined when there are no more. */
type CandidatePage = { candidates: ListCandidate[]; next: bigint | undefined }

/**
 * Returns a page of the subjects that may qualify for an entry, by key. Skips subjects whose bad
 * evidence is too little even without decay: an entry requires at least `evidenceMin.weight` of it.
 */
async function pageCandidates(
  { pool }: Needs,
  page: { after: bigint | undefined; limit: number; now: Date },
): Promise<CandidatePage> {
  const { after, limit, now } = page
  const kinds = Object.values(listedKinds)
  const rows = await listReputations(pool, { kinds, badMin: evidenceMin.weight, after, limit })
  const candidates = await candidatesOf(pool, rows, now)
  return { candidates, next: rows.length < limit ? undefined : rows.at(-1)?.key }
}

/** Returns what is known about the given subjects, unordered; unknown ones are absent. */
async function findCandidates(
  { pool }: Needs,
  subjects: readonly Subject[],
  now: Date,
): Promise<ListCandidate[]> {
  const rows = await findReputations(pool, subjects.map(reputationKey))
  return candidatesOf(pool, rows, now)
}

async function candidatesOf(
  pool: Needs['pool'],
  rows: readonly ReputationRow[],
  now: Date,
): Promise<ListCandidate[]> {
  if (rows.length === 0) return []
  const counters = createCounterReader({ pool, clock: () => now }, { keysMax: 1, freshMs: 0 })
  const keys = rows.map(({ key }) => key)
  const [marks, volumes] = await Promise.all([findMarks(pool, keys), readVolumes(counters, rows)])
  const holding = marks.filter(({ untilAt }) => untilAt === null || untilAt > now)
  const markOf = new Map(holding.map(({ key, mark }) => [key, mark]))
  return rows.map((row, index) => {
    return candidateOf(row, now, { mark: markOf.get(row.key), volume: volumes[index] })
  })
}

function candidateOf(row: ReputationRow, now: Date, standing: Standing): ListCandidate {
  const { score, weight, flags } = reputationAt(row, now, standing)
  const days = (now.getTime() - row.foldedAt.getTime()) / DAY_MS
  const bad = decayed(row.bad, days, SLOW_DAYS)
  const blame = blameShare(row.kind, standing.volume, bad)
  return {
    kind: row.kind,
    name: row.name,
    // List scores rise with bad evidence, while reputation scores fall.
    score: -score,
    weight,
    independentReporters: sourcesAtLeast(bad * blame),
    lastSeen: lastComplaintAt(row),
    flags,
    dangers: dangerReporters(row, now, blame),
  }
}

/** The parameters of one renewal of the lists. */
export type Renewal = { own: OwnNames; now: Date }

/** The number of subjects processed at once, which bounds the memory of a run. */
export const PAGE = 2_000

/** Examines all subjects once, and lists those that qualify. */
export async function addListings(app: Needs, renewal: Renewal): Promise<void> {
  let after: bigint | undefined
  do {
    const page = await pageCandidates(app, { after, limit: PAGE, now: renewal.now })
    for (const list of listNames) {
      const ofList = page.candidates.filter(({ kind }) => listForSubject(kind) === list)
      await addPage(app, list, ofList, renewal)
    }
    after = page.next
  } while (after !== undefined)
}

async function addPage(
  { pool }: Needs,
  list: ListName,
  page: readonly ListCandidate[],
  { own, now }: Renewal,
): Promise<void> {
  if (page.length === 0) return
  const names = page.map(({ name }) => name)
  const [former, exempted] = await Promise.all([
    findListings(pool, list, names),
    exemptedAmong(pool, names, now),
  ])
  const known = new Map(former.map((listing) => [listing.name, listing]))
  const changed = new Map<string, Listing>()
  for (const candidate of page) {
    const { name } = candidate
    const before = known.get(name)
    const isExempted = exempted(name)
    const judgment = judgeCandidate(candidate, before, { now, own, isExempted })
    if (typeof judgment === 'string' || judgment === before) continue
    known.set(name, judgment)
    changed.set(name, judgment)
  }
  await keepListings(pool, [...changed.values()])
}

/** Returns the entries of a page that stay listed, and ends the others. */
export async function keepDeserved(
  { pool }: Needs,
  list: ListName,
  page: readonly Listing[],
  { own, now }: Renewal,
): Promise<Listing[]> {
  const names = page.map(({ name }) => name)
  const subjects = names.map((name) => ({ kind: listedKinds[list], name }))
  const [found, exempted] = await Promise.all([
    findCandidates({ pool }, subjects, now),
    exemptedAmong(pool, names, now),
  ])
  const candidateOf = new Map(found.map((one) => [one.name, one]))
  const ended = names.filter((name) => {
    const circumstances = { now, own, isExempted: exempted(name) }
    return whyEnded({ list }, candidateOf.get(name), circumstances) !== undefined
  })
  if (ended.length === 0) return [...page]
  await endListings(pool, list, ended, now)
  const gone = new Set(ended)
  return page.filter(({ name }) => !gone.has(name))
}

/** Returns a function that says whether a name or its registrable domain is exempted. */
export async function exemptedAmong(
  db: Db,
  names: readonly string[],
  now: Date,
): Promise<(name: string) => boolean> {
  const domains = names.map((name) => registrableDomain(name)).filter((one) => one !== undefined)
  const exempted = await findExempted(db, [...new Set([...names, ...domains])], now)
  return (name) => exempted.has(name) || exempted.has(registrableDomain(name) ?? name)
}
