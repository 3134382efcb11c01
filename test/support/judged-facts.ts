import type { Estimate } from '../../src/verdict/model/model.ts'
import type { Db } from '../../src/db/pool.ts'

/** The stored data of an analysis, as far as rules are tested on it. */
export type KeptFacts = { id: string; at: Date; facts: Buffer; estimate?: Estimate }

/** Stores analyses that have only facts and a model result. */
export async function keepJudgedFacts(db: Db, kept: readonly KeptFacts[]): Promise<void> {
  for (const { id, at, facts, estimate } of kept) {
    const verdict = { class: 'undecided', confidence: 0, score: 0, symbols: [], estimate }
    const judgment = { verdict, consequence: { action: 'keep' } }
    await db.query(
      `insert into analyses (id, shard, analyzed_at, verdict_class, verdict_score,
         judgment, encoding, content, facts)
       values ($1, shard_of($1), $2, 'undecided', 0, $3, 'identity', '', $4)`,
      [id, at, JSON.stringify(judgment), facts],
    )
  }
}
