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

/** Answers what is known of subjects: the base part only. */
export type ReputationReader = {
  /**
   * The reputations of subjects, in their order; `unknownReputation` of whom nothing is known. One
   * journey to the database for all of them; what was read within `freshMs` is not read again.
   */
  read: (subjects: readonly Subject[]) => Promise<Reputation[]>
}

/** How much is remembered, and for how long. */
export type ReaderLimits = { keysMax: number; freshMs: number }

type MarkUntil = { mark: Mark; untilAt: Date | null }
type Known = {
  readAt: number
  stored: StoredReputation | undefined
  mark: MarkUntil | undefined
}

const usualLimits: ReaderLimits = { keysMax: 20_000, freshMs: 1_000 }

/** The key of a subject, as the tables of reputations have it: 64 bits, signed. */
export function reputationKey({ kind, name }: Subject): bigint {
  return BigInt.asIntN(64, textHash(`${kind}\0${name}`))
}

/** A reader with a memory of its own; what it remembers costs some 500 bytes a subject. */
export function createReputationReader(
  { pool, clock }: { pool: Pool; clock: Clock },
  { keysMax, freshMs }: ReaderLimits = usualLimits,
): ReputationReader {
  const memory = new Map<bigint, Known>()

  async function learn(keys: readonly bigint[], readAt: number): Promise<[bigint, Known][]> {
    const [found, marks] = await Promise.all([findReputations(pool, keys), findMarks(pool, keys)])
    const storedOf = new Map(found.map((row) => [row.key, row]))
    const markOf = new Map(marks.map((row) => [row.key, row]))
    return keys.map((key) => [key, { readAt, stored: storedOf.get(key), mark: markOf.get(key) }])
  }

  function remember(learned: readonly [bigint, Known][]): void {
    for (const [key, known] of learned) {
      // What is written anew stands at the end: the oldest are forgotten first.
      memory.delete(key)
      memory.set(key, known)
    }
    for (const key of memory.keys()) {
      if (memory.size <= keysMax) return
      memory.delete(key)
    }
  }

  return {
    async read(subjects) {
      const now = clock()
      const keys = subjects.map(reputationKey)
      const known = new Map<bigint, Known>()
      for (const key of keys) {
        const old = memory.get(key)
        if (old && Math.abs(now.getTime() - old.readAt) < freshMs) known.set(key, old)
      }
      const asked = [...new Set(keys)].filter((key) => !known.has(key))
      if (asked.length > 0) {
        const learned = await learn(asked, now.getTime())
        for (const [key, one] of learned) known.set(key, one)
        remember(learned)
      }
      return keys.map((key) => {
        const { stored, mark } = known.get(key) ?? {}
        return reputationAt(stored, now, holding(mark, now))
      })
    },
  }
}

function holding(mark: MarkUntil | undefined, now: Date): Mark | undefined {
  return mark && (mark.untilAt === null || mark.untilAt > now) ? mark.mark : undefined
}
