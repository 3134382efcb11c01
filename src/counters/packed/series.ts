import { type Count, add, kinds } from './count.ts'
import { type Cursor, ensureRoom, readSmall, readVarint, unzigzag } from './cursor.ts'
import { writeVarint, zigzag } from './cursor.ts'

/**
 * The buckets of one granularity, newest first. A bucket's place is `period * 4 + prefix`; its
 * counts are the next five of `counts`, in the order of `kinds`.
 */
export type Series = { places: number[]; counts: Count[] }

const WIDTH = kinds.length
const PREFIX_BITS = 3
const KIND_SHIFT = 2
const SIGNED = 128
const BUCKET_BYTES_MAX = 64

/** Adds to a count, making its bucket where it lacks. */
export function addCount(
  series: Series,
  { period, prefix }: { period: number; prefix: number },
  kind: number,
  amount: Count,
): void {
  addAt(series, placeOf(series, period, prefix), kind, amount)
}

/** Where the counts of a bucket begin, which is made where it lacks. */
export function placeOf({ places, counts }: Series, period: number, prefix: number): number {
  const place = period * 4 + prefix
  let index = 0
  while (index < places.length && (places[index] ?? 0) > place) index++
  if (places[index] !== place) {
    places.splice(index, 0, place)
    counts.splice(index * WIDTH, 0, 0, 0, 0, 0, 0)
  }
  return index * WIDTH
}

/** Adds to a count of the bucket whose counts begin there. */
export function addAt({ counts }: Series, place: number, kind: number, amount: Count): void {
  counts[place + kind] = add(counts[place + kind] ?? 0, amount)
}

/** Forgets buckets before `oldest` and those that came to nothing. */
export function prune(series: Series, oldest: number): void {
  const { places, counts } = series
  let kept = 0
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? 0
    if (place >> 2 < oldest || isBlank(counts, index)) continue
    places[kept] = place
    if (kept !== index) counts.copyWithin(kept * WIDTH, index * WIDTH, (index + 1) * WIDTH)
    kept++
  }
  places.length = kept
  counts.length = kept * WIDTH
}

function isBlank(counts: readonly Count[], index: number): boolean {
  for (let at = index * WIDTH; at < (index + 1) * WIDTH; at++) if (counts[at] !== 0) return false
  return true
}

/**
 * Writes a series: how many buckets, then for each how many periods it is older than the one
 * before it (the first: than `newest`), a byte (0-1: prefix, 2-6: which counts follow, 7: they are
 * zigzag, since one is negative) and those counts.
 */
export function writeSeries(cursor: Cursor, { places, counts }: Series, newest: number): void {
  writeVarint(cursor, places.length)
  let before = newest
  for (const [index, place] of places.entries()) {
    const period = place >> 2
    writeVarint(cursor, before - period)
    before = period
    ensureRoom(cursor, BUCKET_BYTES_MAX)
    writeBucket(cursor, place & PREFIX_BITS, counts, index * WIDTH)
  }
}

function writeBucket(cursor: Cursor, prefix: number, counts: readonly Count[], from: number): void {
  let head = prefix
  for (let kind = 0; kind < WIDTH; kind++) {
    const count = counts[from + kind] ?? 0
    if (count !== 0) head |= 1 << (kind + KIND_SHIFT)
    if (count < 0) head |= SIGNED
  }
  cursor.bytes[cursor.at++] = head
  for (let kind = 0; kind < WIDTH; kind++) {
    const count = counts[from + kind] ?? 0
    if (count !== 0) writeVarint(cursor, head & SIGNED ? zigzag(count) : count)
  }
}

/** Reads what `writeSeries` wrote, into a series that is emptied first. */
export function readSeries(cursor: Cursor, { places, counts }: Series, newest: number): void {
  places.length = 0
  counts.length = 0
  let period = newest
  for (let left = readSmall(cursor); left > 0; left--) {
    period -= readSmall(cursor)
    const head = cursor.bytes[cursor.at++] ?? 0
    places.push(period * 4 + (head & PREFIX_BITS))
    for (let kind = 0; kind < WIDTH; kind++) {
      if (!(head & (1 << (kind + KIND_SHIFT)))) counts.push(0)
      else counts.push(head & SIGNED ? unzigzag(readVarint(cursor)) : readVarint(cursor))
    }
  }
}
