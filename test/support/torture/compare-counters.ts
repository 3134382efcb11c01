import type { Pool } from '../../../src/db/pool.ts'
import { type Model, modelOf, type ModelCounts } from '../counter-model.ts'
import { storedModel } from '../counter-rows.ts'
import type { PlainCounting } from './plain-counting.ts'

/** How many buckets and keys were compared in each way, and those that differ. */
export type Comparison = { compared: Record<string, number>; faults: string[] }

/** Keys that may be held back have a counter from the third time on. */
const GATE_TIMES_MIN = 3

/**
 * Compares what is stored with what was counted plainly, bucket by bucket. Keys that the gate may
 * hold back are compared to the digit where all of their sightings are alike; where they are not,
 * what the gate credits depends on which came last, and may be off by what it held back.
 */
export async function compareCounters(
  pool: Pool,
  counting: PlainCounting,
  { isOneSlot }: { isOneSlot: boolean },
): Promise<Comparison> {
  const stored = await storedModel(pool)
  const expected = modelOf(counting.increments, new Date())
  const { sightings } = counting
  const loose = looseKeys(counting)
  const isHeldBack = (key: bigint) => timesOf(sightings.get(key)) < GATE_TIMES_MIN
  const wanted = linesOf(expected, isOneSlot, (key) => !loose.has(key) && !isHeldBack(key))
  const found = linesOf(stored, isOneSlot, (key) => !loose.has(key))
  const faults: string[] = []
  for (const name of new Set([...wanted.keys(), ...found.keys()])) {
    const [want = 'nothing', have = 'nothing'] = [wanted.get(name), found.get(name)]
    if (want !== have) faults.push(`${name}: is ${have}, should be ${want}`)
  }
  faults.push(...looseFaults(expected, stored, { loose, sightings }))
  const of = (granularity: string) =>
    [...wanted.keys()].filter((name) => name.includes(`/${granularity}/`)).length
  const compared = { slots: of('slot'), days: of('day'), looseKeys: loose.size }
  return { compared, faults }
}

/** Of a key that is never held back: often enough. */
function timesOf(seen: ReadonlyMap<string, number> | undefined): number {
  if (!seen) return GATE_TIMES_MIN
  return [...seen.values()].reduce((sum, times) => sum + times, 0)
}

/** Gated keys whose sightings are not all of one kind and slot, or were not all left to stand. */
function looseKeys({ sightings, unsettled }: PlainCounting): Set<bigint> {
  const mixed = [...sightings].flatMap(([key, seen]) =>
    seen.size > 1 && timesOf(seen) >= GATE_TIMES_MIN ? [key] : [],
  )
  return new Set([...unsettled, ...mixed])
}

/**
 * The buckets of keys as lines. Redemptions stand apart: the moment of one is known to a slot only
 * while the whole run is in one.
 */
function linesOf(
  model: Model,
  isOneSlot: boolean,
  isWanted: (key: bigint) => boolean,
): Map<string, string> {
  const lines = new Map<string, string>()
  const redeemed = new Map<string, bigint>()
  for (const [bucket, [ham, spam, complaint, redemptions, unique]] of model) {
    if (!isWanted(keyOf(bucket))) continue
    const counts = [ham, spam, complaint, unique]
    if (counts.some((count) => count !== 0n)) lines.set(bucket, counts.join(' '))
    const place = isOneSlot ? bucket : bucket.slice(0, bucket.lastIndexOf('/') + 1)
    if (redemptions !== 0n) redeemed.set(place, (redeemed.get(place) ?? 0n) + redemptions)
  }
  for (const [place, count] of redeemed) lines.set(`${place} redeemed`, String(count))
  return lines
}

/**
 * Of each loose key every day's counts are within what the gate may have held back. None is below
 * zero, unless ham may have been credited as spam, or spam as ham, and then was taken back.
 */
function looseFaults(
  expected: Model,
  stored: Model,
  { loose, sightings }: { loose: ReadonlySet<bigint> } & Pick<PlainCounting, 'sightings'>,
): string[] {
  const zero: ModelCounts = [0n, 0n, 0n, 0n, 0n]
  const buckets = new Set([...expected.keys(), ...stored.keys()])
  return [...buckets].flatMap((bucket) => {
    const key = keyOf(bucket)
    if (!bucket.includes('/day/') || !loose.has(key)) return []
    const [want, have] = [expected.get(bucket) ?? zero, stored.get(bucket) ?? zero]
    const isMixed = (sightings.get(key)?.size ?? 0) > 1
    const isNear = have.every(
      (count, index) =>
        distance(count, want[index] ?? 0n) < GATE_TIMES_MIN && (isMixed || count >= 0n),
    )
    if (isNear) return []
    return [`${bucket} (gated): is ${have.join(' ')}, should be about ${want.join(' ')}`]
  })
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b
}

function keyOf(bucket: string): bigint {
  return BigInt(bucket.slice(0, bucket.indexOf('/')))
}
