import { GENERATION_DAYS } from '../../src/db/partitions.ts'
import type { Db, Pool } from '../../src/db/pool.ts'
import { rollUp } from '../../src/counting/roll-up.ts'
import { REPORTS } from '../../src/db/counter-rows.ts'
import { type Model, modelOfContent } from './counter-model.ts'

/** Returns all stored counts in the form of the model, from the newest row of each key. */
export async function storedModel(db: Db): Promise<Model> {
  const { rows } = await db.query<{ shingle: string; content: Buffer }>(
    `select distinct on (shingle) shingle::text, content from counters
     order by shingle, generation desc`,
  )
  const stored: Model = new Map()
  for (const { shingle, content } of rows) {
    const key = BigInt.asUintN(64, BigInt(shingle))
    for (const [bucket, counts] of modelOfContent(key, content)) stored.set(bucket, counts)
  }
  return stored
}

/** Rolls up until no delta is left. */
export async function rollUpAll(pool: Pool, now: Date): Promise<void> {
  for (let shard = 0; shard <= REPORTS; shard++) {
    while (((await rollUp(pool, [shard], now))?.entries ?? 0) > 0);
  }
}

/** Returns the first day of the next generation. */
export function nextGeneration(now: Date): Date {
  const lengthMs = GENERATION_DAYS * 86_400_000
  return new Date((Math.floor(now.getTime() / lengthMs) + 1) * lengthMs)
}
