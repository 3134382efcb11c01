import type { App } from '../../app.ts'
import { findExempted } from '../../db/list-exemptions.ts'
import { endListings, findListings, keepListings } from '../../db/listings.ts'
import { registrableDomain } from '../../mail/domain.ts'
import {
  type ListCandidate,
  type Listing,
  type ListName,
  listNames,
  listOf,
} from '../../verdict/lists/list.ts'
import { judgeCandidate, whyEnded } from '../../verdict/lists/judge-candidate.ts'
import type { OwnNames } from '../../verdict/lists/spare.ts'
import type { CandidateReader } from './candidates.ts'

type Needs = Pick<App, 'pool'>

/** What a run judges by. */
export type Renewal = { candidates: CandidateReader; own: OwnNames; now: Date }

/** How many are looked at in one go: what a run holds in memory. */
export const PAGE = 2_000

/** Goes once through what is known, and lists what deserves it. */
export async function addListings(app: Needs, renewal: Renewal): Promise<void> {
  let after: ListCandidate | undefined
  for (;;) {
    const page = await renewal.candidates.page(after, PAGE)
    for (const list of listNames) {
      await addPage(
        app,
        list,
        page.filter(({ kind }) => listOf(kind) === list),
        renewal,
      )
    }
    after = page.at(-1)
    if (!after || page.length < PAGE) return
  }
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

/** Of a page of entries those that stay; the others are ended. */
export async function keepDeserved(
  { pool }: Needs,
  list: ListName,
  page: readonly Listing[],
  { candidates, own, now }: Renewal,
): Promise<Listing[]> {
  const names = page.map(({ name }) => name)
  const [found, exempted] = await Promise.all([
    candidates.find(page.map(({ kind, name }) => ({ kind, name }))),
    exemptedAmong(pool, names, now),
  ])
  const candidateOf = new Map(found.map((one) => [`${one.kind} ${one.name}`, one]))
  const ended = page.filter(({ kind, name }) => {
    const circumstances = { now, own, isExempted: exempted(name) }
    return whyEnded({ list }, candidateOf.get(`${kind} ${name}`), circumstances) !== undefined
  })
  if (ended.length === 0) return [...page]
  const gone = ended.map(({ name }) => name)
  await endListings(pool, list, gone, now)
  const endedNames = new Set(gone)
  return page.filter(({ name }) => !endedNames.has(name))
}

/** Whether a name is exempted, itself or with the domain it belongs to. */
async function exemptedAmong(
  pool: Needs['pool'],
  names: readonly string[],
  now: Date,
): Promise<(name: string) => boolean> {
  const domains = names.map((name) => registrableDomain(name)).filter((one) => one !== undefined)
  const exempted = await findExempted(pool, [...new Set([...names, ...domains])], now)
  return (name) => exempted.has(name) || exempted.has(registrableDomain(name) ?? name)
}
