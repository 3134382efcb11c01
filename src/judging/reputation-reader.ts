import { textHash } from '../analysis/shingles/hash.ts'
import type { Pool } from '../db/pool.ts'
import { findMarks } from '../db/reputation-marks.ts'
import { findReputations } from '../db/reputations.ts'
import {
  type Mark,
  type Reputation,
  reputationAt,
  type StoredReputation,
} from '../reputation/reputation.ts'
import type { Subject } from '../reputation/subject.ts'
import type { Clock } from '../world.ts'
import { type MemoryLimits, remembering } from './remembering.ts'

/** Answers what is known of subjects: the base part only. */
export type ReputationReader = {
  /**
   * The reputations of subjects, in their order; `unknownReputation` of whom nothing is known. One
   * journey to the database for all of them; what was read within `freshMs` is not read again.
   */
  read: (subjects: readonly Subject[]) => Promise<Reputation[]>
}

type MarkUntil = { mark: Mark; untilAt: Date | null }
type Known = { stored: StoredReputation | undefined; mark: MarkUntil | undefined }

const usualLimits: MemoryLimits = { keysMax: 20_000, freshMs: 1_000 }

/** The key of a subject, as the tables of reputations have it: 64 bits, signed. */
export function reputationKey({ kind, name }: Subject): bigint {
  return BigInt.asIntN(64, textHash(`${kind}\0${name}`))
}

/** A reader with a memory of its own; what it remembers costs some 500 bytes a subject. */
export function createReputationReader(
  { pool, clock }: { pool: Pool; clock: Clock },
  limits: MemoryLimits = usualLimits,
): ReputationReader {
  async function learn(keys: readonly bigint[]): Promise<Known[]> {
    const [found, marks] = await Promise.all([findReputations(pool, keys), findMarks(pool, keys)])
    const storedOf = new Map(found.map((row) => [row.key, row]))
    const markOf = new Map(marks.map((row) => [row.key, row]))
    return keys.map((key) => ({ stored: storedOf.get(key), mark: markOf.get(key) }))
  }

  const know = remembering<bigint, Known, bigint>(learn, clock, limits)
  return {
    async read(subjects) {
      const now = clock()
      const keys = subjects.map(reputationKey)
      const known = await know(keys.map((key) => ({ key, question: key })))
      return known.map(({ stored, mark }) => reputationAt(stored, now, holding(mark, now)))
    },
  }
}

function holding(mark: MarkUntil | undefined, now: Date): Mark | undefined {
  return mark && (mark.untilAt === null || mark.untilAt > now) ? mark.mark : undefined
}
