import type { App } from '../../app.ts'
import { findMarks } from '../../db/reputation-marks.ts'
import { findReputations, listReputations, type ReputationRow } from '../../db/reputations.ts'
import { reputationKey } from '../../judging/reputation-reader.ts'
import { decayed, SLOW_DAYS } from '../../reputation/decay.ts'
import { lastComplaintAt } from '../../reputation/last-complaint.ts'
import { reputationAt } from '../../reputation/reputation.ts'
import { type ListCandidate, listedKinds } from '../../verdict/lists/list.ts'
import { evidenceMin } from '../../verdict/lists/judge-candidate.ts'
import { sourcesAtLeast } from '../../reputation/source-weight.ts'
import type { Subject } from '../../reputation/subject.ts'

type Needs = Pick<App, 'pool'>

const DAY_MS = 86_400_000

/** A page of candidates, and where the next begins; undefined after the last. */
export type CandidatePage = { candidates: ListCandidate[]; next: bigint | undefined }

/**
 * Those that may deserve an entry, in the order of their keys. What has too little evidence even
 * undecayed is not fetched: with the weight and the score that it takes, at least as much as the
 * weight speaks against it.
 */
export async function pageCandidates(
  { pool }: Needs,
  page: { after: bigint | undefined; limit: number; now: Date },
): Promise<CandidatePage> {
  const { after, limit, now } = page
  const kinds = Object.values(listedKinds)
  const rows = await listReputations(pool, { kinds, badMin: evidenceMin.weight, after, limit })
  const candidates = await candidatesOf(pool, rows, now)
  return { candidates, next: rows.length < limit ? undefined : rows.at(-1)?.key }
}

/** What is known of these subjects, in no order; those of whom nothing is known are missing. */
export async function findCandidates(
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
  const marks = await findMarks(
    pool,
    rows.map(({ key }) => key),
  )
  const holding = marks.filter(({ untilAt }) => untilAt === null || untilAt > now)
  const markOf = new Map(holding.map(({ key, mark }) => [key, mark]))
  return rows.map((row) => candidateOf(row, now, markOf.get(row.key)))
}

function candidateOf(
  row: ReputationRow,
  now: Date,
  mark: Parameters<typeof reputationAt>[2],
): ListCandidate {
  const { score, weight, flags } = reputationAt(row, now, mark)
  const days = (now.getTime() - row.foldedAt.getTime()) / DAY_MS
  return {
    kind: row.kind,
    name: row.name,
    // What is bad counts up here.
    score: -score,
    weight,
    independentReporters: sourcesAtLeast(decayed(row.bad, days, SLOW_DAYS)),
    lastSeen: lastComplaintAt(row),
    flags,
  }
}
