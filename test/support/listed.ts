import { reputationKey } from '../../src/counting/reputation-reader.ts'
import { upsertReputations } from '../../src/db/reputations.ts'
import type { Db } from '../../src/db/pool.ts'
import type { SubjectKind } from '../../src/verdict/reputation/subject.ts'

/** A subject with its evidence at the time `at`. */
export type Known = {
  kind: SubjectKind
  name: string
  bad: number
  good?: number
  /** Defaults to `bad`. */
  recentBad?: number
  /** The parts of `bad` that are evidence of phishing or malware, and of malware. */
  phishing?: number
  malware?: number
  at: Date
}

const MONTH_MS = 30 * 86_400_000

/** Writes the reputations of subjects, as if their reports had been counted. */
export async function know(db: Db, known: readonly Known[]): Promise<void> {
  const rows = known.map(({ kind, name, bad, good = 0, recentBad = bad, at, ...more }) => ({
    base: {
      key: reputationKey({ kind, name }),
      ...{ kind, name, good, bad },
      ...{ recentGood: good, recentBad, phishing: more.phishing ?? null },
      malware: more.malware ?? null,
      ...{
        firstSeenAt: new Date(at.getTime() - MONTH_MS),
        lastSeenAt: at,
        wokeAt: null,
        jumpedAt: null,
        foldedAt: at,
      },
    },
    detail: Buffer.alloc(0),
  }))
  rows.sort((a, b) => (a.base.key < b.base.key ? -1 : 1))
  await upsertReputations(db, rows)
}
