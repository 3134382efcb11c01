import { type History, emptyHistory, readHistory } from '../../src/counting/packed/history.ts'
import {
  countedSlot,
  dayOf,
  oldestDayKept,
  oldestSlotKept,
  prefixes,
  slotOf,
} from '../../src/counting/keys.ts'
import type { Increment } from './increments.ts'

/** Counts of one bucket: ham, spam, complaint, redeemed, unique. */
type ModelCounts = [bigint, bigint, bigint, bigint, bigint]

/** The expected content of the database: buckets by `shingle/prefix/granularity/period`. */
export type Model = Map<string, ModelCounts>

/** Sums of members, by bucket and member. */
type Members = Map<string, Map<bigint, bigint>>

/**
 * Computes the state after increments in the simplest way: a map of buckets and a map of members.
 * `now` decides what has expired.
 */
export function modelOf(increments: Iterable<Increment>, now: Date): Model {
  const buckets: Model = new Map()
  const members: Members = new Map()
  const present = slotOf(now)
  for (const one of increments) {
    const slot = countedSlot(slotOf(one.at), present)
    const amounts = [one.ham ?? 0, one.spam ?? 0, one.complaint ?? 0, one.redeemed ?? 0]
    const weight = (one.ham ?? 0) + (one.spam ?? 0) + (one.complaint ?? 0)
    const names: string[] = []
    if (dayOf(slot) >= oldestDayKept(present)) names.push(`day/${dayOf(slot)}`)
    if (slot >= oldestSlotKept(present)) names.push(`slot/${slot}`)
    for (const name of names) {
      const bucket = `${one.shingle}/${one.prefix}/${name}`
      const counts = buckets.get(bucket) ?? [0n, 0n, 0n, 0n, 0n]
      buckets.set(bucket, counts)
      for (const [kind, amount] of amounts.entries())
        counts[kind] = at(counts, kind) + BigInt(amount)
      if (one.unique === undefined) continue
      const sums = members.get(bucket) ?? new Map<bigint, bigint>()
      members.set(bucket, sums)
      sums.set(one.unique, (sums.get(one.unique) ?? 0n) + BigInt(weight))
    }
  }
  for (const [bucket, sums] of members) {
    const counts = buckets.get(bucket)
    if (counts) counts[4] = BigInt([...sums.values()].filter((sum) => sum > 0n).length)
  }
  for (const [bucket, counts] of buckets)
    if (counts.every((one) => one === 0n)) buckets.delete(bucket)
  return buckets
}

function at(counts: ModelCounts, kind: number): bigint {
  return counts[kind] ?? 0n
}

/** Returns the content of a packed history in the form of the model. */
export function modelOfContent(shingle: bigint, content: Buffer): Model {
  const history: History = emptyHistory()
  readHistory(content, history)
  const buckets: Model = new Map()
  for (const [name, { places, counts }] of [
    ['day', history.days],
    ['slot', history.slots],
  ] as const) {
    for (const [index, place] of places.entries()) {
      const bucket = `${shingle}/${prefixes[place & 3]}/${name}/${place >> 2}`
      const five = counts.slice(index * 5, index * 5 + 5).map(BigInt)
      buckets.set(bucket, five as ModelCounts)
    }
  }
  return buckets
}

/** Formats a model as sorted lines, for comparison. */
export function linesOf(model: Model): string[] {
  return [...model].map(([bucket, counts]) => `${bucket}: ${counts.join(' ')}`).toSorted()
}

/**
 * Removes buckets that have expired at `now`, which remain in rows until the rows are written
 * again.
 */
export function liveAt(model: Model, now: Date): Model {
  const present = slotOf(now)
  const isLive = (bucket: string) => {
    const [, , granularity, period] = bucket.split('/')
    const oldest = granularity === 'day' ? oldestDayKept(present) : oldestSlotKept(present)
    return Number(period) >= oldest
  }
  return new Map([...model].filter(([bucket]) => isLive(bucket)))
}
