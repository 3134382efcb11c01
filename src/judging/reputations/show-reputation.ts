import type { Db } from '../../db/pool.ts'
import { findMarks, type ReputationMark } from '../../db/reputation-marks.ts'
import { findWholeReputations, searchReputations } from '../../db/reputations.ts'
import { type Detail, unpackDetail } from '../../reputation/detail.ts'
import { explainReputation } from '../../reputation/explain.ts'
import { type Reputation, reputationAt } from '../../reputation/reputation.ts'
import type { Subject, SubjectKind } from '../../reputation/subject.ts'
import { reputationKey } from '../reputation-reader.ts'

/** A mark as JSON can hold it: its key in decimal. */
export type ShownMark = Omit<ReputationMark, 'key'> & { key: string }

/** All that is known of a subject, for people. */
export type ShownReputation = {
  subject: Subject
  reputation: Reputation
  /** Null when nothing was reported, or it is forgotten. */
  detail: Detail | null
  /** Also one that holds no more. */
  mark: ShownMark | null
  why: string[]
}

/** All that is known of a subject at an instant. */
export async function showReputation(
  db: Db,
  subject: Subject,
  now: Date,
): Promise<ShownReputation> {
  const key = reputationKey(subject)
  const [[known], [mark]] = await Promise.all([
    findWholeReputations(db, [key]),
    findMarks(db, [key]),
  ])
  const holds = mark && (mark.untilAt === null || mark.untilAt > now) ? mark.mark : undefined
  const reputation = reputationAt(known?.base, now, holds)
  const detail = known && unpackDetail(known.detail)
  const why = explainReputation(reputation, detail, now)
  const shownMark = mark ? { ...mark, key: String(mark.key) } : null
  return { subject, reputation, detail: detail ?? null, mark: shownMark, why }
}

/** A subject in a list of what was found. */
export type FoundReputation = { subject: Subject; reputation: Reputation }

/** Subjects whose names begin so, in the order of the names; without the marks of people. */
export async function findReputationsByName(
  db: Db,
  search: { name: string; kind: SubjectKind | undefined; limit: number },
  now: Date,
): Promise<FoundReputation[]> {
  const { name, kind, limit } = search
  const rows = await searchReputations(db, { prefix: name, kind, limit })
  return rows.map((row) => ({
    subject: { kind: row.kind, name: row.name },
    reputation: reputationAt(row, now),
  }))
}
