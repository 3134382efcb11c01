import type { Pool } from '../../../src/db/pool.ts'
import { type Model, modelOf } from '../counter-model.ts'
import { storedModel } from '../counter-rows.ts'
import type { PlainCounting } from './plain-counting.ts'

/** The number of compared buckets of each length, and those that differ. */
export type Comparison = { compared: { slots: number; days: number }; faults: string[] }

/**
 * Compares the stored counts with the results of the simple computation, bucket by bucket, exactly.
 */
export async function compareCounters(
  pool: Pool,
  { increments }: PlainCounting,
  { isOneSlot }: { isOneSlot: boolean },
): Promise<Comparison> {
  const wanted = linesOf(modelOf(increments, new Date()), isOneSlot)
  const found = linesOf(await storedModel(pool), isOneSlot)
  const faults: string[] = []
  for (const name of new Set([...wanted.keys(), ...found.keys()])) {
    const [want = 'nothing', have = 'nothing'] = [wanted.get(name), found.get(name)]
    if (want !== have) faults.push(`${name}: is ${have}, should be ${want}`)
  }
  const of = (granularity: string) =>
    [...wanted.keys()].filter((name) => name.includes(`/${granularity}/`)).length
  return { compared: { slots: of('slot'), days: of('day') }, faults }
}

/**
 * Formats buckets as lines. Redemptions have lines of their own, which name a period only if the
 * whole run was in one slot, because their time is not known exactly.
 */
function linesOf(model: Model, isOneSlot: boolean): Map<string, string> {
  const lines = new Map<string, string>()
  const redeemed = new Map<string, bigint>()
  for (const [bucket, [ham, spam, complaint, redemptions, unique]] of model) {
    const counts = [ham, spam, complaint, unique]
    if (counts.some((count) => count !== 0n)) lines.set(bucket, counts.join(' '))
    const place = isOneSlot ? bucket : bucket.slice(0, bucket.lastIndexOf('/') + 1)
    if (redemptions !== 0n) redeemed.set(place, (redeemed.get(place) ?? 0n) + redemptions)
  }
  for (const [place, count] of redeemed) lines.set(`${place} redeemed`, String(count))
  return lines
}
