import { seedShingles } from '../../src/pieces/shingles/hash.ts'
import { findShingleSeed } from '../../src/db/installation.ts'
import { inTransaction, type Pool } from '../../src/db/pool.ts'
import { setMark } from '../../src/db/reputations.ts'
import { reputationKey } from '../../src/counting/reputation-reader.ts'
import type { Subject } from '../../src/verdict/reputation/subject.ts'

/** Lists a subject manually, as an administrator does, using the hash seed of the database. */
export async function listByHand(pool: Pool, subject: Subject): Promise<void> {
  seedShingles((await findShingleSeed(pool)) ?? 0n)
  const key = reputationKey(subject)
  const mark = { key, ...subject, mark: 'listed', reason: 'A test.' } as const
  const when = { setAt: new Date(), untilAt: null }
  await inTransaction(pool, (tx) => setMark(tx, { ...mark, ...when, reporterId: null }))
}
