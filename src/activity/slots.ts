import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'

/** A resolution: the length of its slots, and how long they are kept, in milliseconds. */
type Level = { stepMs: number; keepMs: number }

const [SECOND, MINUTE, HOUR, DAY] = [1_000, MINUTE_MS, HOUR_MS, DAY_MS]

/**
 * The resolutions, finest first. Slots begin at multiples of their length in UTC, and each length
 * divides the next one.
 */
export const levels: readonly Level[] = [
  { stepMs: 10 * SECOND, keepMs: 2 * HOUR },
  { stepMs: MINUTE, keepMs: 2 * DAY },
  { stepMs: 10 * MINUTE, keepMs: 14 * DAY },
  { stepMs: 2 * HOUR, keepMs: 92 * DAY },
  { stepMs: DAY, keepMs: 5 * 365 * DAY },
]

/** The length in milliseconds of the shortest slot, a tick. */
export const TICK_MS = 10 * SECOND

/** The start of the slot of a length that contains an instant. */
export function slotStart(atMs: number, stepMs: number): number {
  return Math.floor(atMs / stepMs) * stepMs
}

/** The values of a series in a slot: how many, the smallest, their mean, and the largest. */
type Point = { count: number; min: number; mean: number; max: number }

/** The numbers of durations in each class of a histogram; see `durationBounds`. */
export type Histogram = readonly number[]

/** The points of a family of series in one slot, by the ids of the series. */
export type Slot = {
  ticks: number
  /** Events per tick. A series without a point had none. */
  rates: ReadonlyMap<number, Point>
  /** States at the ends of ticks, such as lengths. A series without a point is unknown. */
  states: ReadonlyMap<number, Point>
  durations: ReadonlyMap<number, Histogram>
}

/**
 * The upper bounds of the classes of durations, in milliseconds; one more class has no bound. They
 * are the same for all series, because histograms with different classes cannot be added.
 */
export const durationBounds: readonly number[] = [
  ...[2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 30].map((seconds) => seconds * SECOND),
  ...[1, 5, 30].map((minutes) => minutes * MINUTE),
  ...[4 * HOUR, DAY],
]
const CLASSES = durationBounds.length + 1

/** The histogram of some durations in milliseconds. */
export function histogramOf(durationsMs: readonly number[]): number[] {
  const counts = new Array<number>(CLASSES).fill(0)
  for (const ms of durationsMs) {
    const found = durationBounds.findIndex((bound) => ms <= bound)
    const place = found < 0 ? CLASSES - 1 : found
    counts[place] = (counts[place] ?? 0) + 1
  }
  return counts
}

export function addHistograms(some: readonly Histogram[]): number[] {
  const sums = new Array<number>(CLASSES).fill(0)
  for (const one of some)
    for (let at = 0; at < CLASSES; at++) sums[at] = (sums[at] ?? 0) + (one[at] ?? 0)
  return sums
}

/**
 * The duration in milliseconds that the share `rank` of all durations does not exceed, interpolated
 * within its class; undefined without durations. A duration above all bounds counts as the last
 * bound.
 */
export function quantile(histogram: Histogram, rank: number): number | undefined {
  const total = histogram.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let before = 0
  for (const [place, count] of histogram.entries()) {
    if (count > 0 && before + count >= rank * total) {
      const upper = durationBounds[place] ?? DAY
      const lower = place === 0 ? 0 : (durationBounds[place - 1] ?? 0)
      return lower + (upper - lower) * Math.min(1, Math.max(0, (rank * total - before) / count))
    }
    before += count
  }
  return DAY
}

/**
 * Combines slots of one family that follow each other into one longer slot, or parts of the same
 * tick into one.
 */
export function mergeSlots(slots: readonly Slot[]): Slot {
  const merged = emptySlot()
  for (const { ticks, rates, states, durations } of slots) {
    merged.ticks += ticks
    for (const [id, { count, min, mean, max }] of rates)
      add(merged.rates, id, count, min, mean, max)
    for (const [id, { count, min, mean, max }] of states) {
      add(merged.states, id, count, min, mean, max)
    }
    for (const [id, histogram] of durations) addDurations(merged.durations, id, histogram)
  }
  return withIdleTicks(merged)
}

/** Adds slots of the same time: events, states and durations of several sources. */
export function addSlots(slots: readonly Slot[]): Slot {
  const sum = emptySlot()
  sum.ticks = Math.max(0, ...slots.map(({ ticks }) => ticks))
  for (const { rates, states, durations } of slots) {
    for (const [id, point] of rates) addEvents(sum.rates, id, point, sum.ticks)
    for (const [id, point] of states) addEvents(sum.states, id, point, point.count)
    for (const [id, histogram] of durations) addDurations(sum.durations, id, histogram)
  }
  return sum
}

function addEvents(points: Map<number, Point>, id: number, point: Point, ticks: number): void {
  const known = points.get(id)
  const mean = ticks === 0 ? 0 : (point.mean * point.count) / ticks
  if (!known) points.set(id, { ...point, mean, count: ticks })
  else
    points.set(id, {
      count: Math.max(known.count, ticks),
      min: known.min + point.min,
      mean: known.mean + mean,
      max: known.max + point.max,
    })
}

/** A slot to which others are added. */
type Sum = {
  ticks: number
  rates: Map<number, Point>
  states: Map<number, Point>
  durations: Map<number, Histogram>
}

function emptySlot(): Sum {
  return { ticks: 0, rates: new Map(), states: new Map(), durations: new Map() }
}

/** Adds a point to a sum, in place and without an object: a page reads 160,000 points. */
function add(
  points: Map<number, Point>,
  id: number,
  count: number,
  min: number,
  mean: number,
  max: number,
): void {
  const known = points.get(id)
  if (!known) {
    points.set(id, { count, min, mean, max })
    return
  }
  const sum = known.count + count
  known.mean = (known.mean * known.count + mean * count) / sum
  known.count = sum
  known.min = Math.min(known.min, min)
  known.max = Math.max(known.max, max)
}

function addDurations(durations: Map<number, Histogram>, id: number, histogram: Histogram): void {
  const known = durations.get(id)
  durations.set(id, known ? addHistograms([known, histogram]) : histogram)
}

/** In ticks without a point of a rate there were no events. */
function withIdleTicks(slot: Sum): Slot {
  const { ticks, rates } = slot
  for (const point of rates.values()) {
    if (point.count >= ticks) continue
    point.min = Math.min(0, point.min)
    point.mean = (point.mean * point.count) / ticks
    point.count = ticks
  }
  return slot
}

/**
 * The largest number of rates, of states, and of histograms in a slot; those with the largest means
 * are stored. All families together have some 250 series, so this limits only the abuse desks.
 */
export const SERIES_PER_SLOT_MAX = 80
const POINT_BYTES = 16

/** A slot as stored: 16 bytes for each rate and state, and 21 for each histogram. */
export function packSlot({ rates, states, durations }: Slot): Buffer {
  const [rate, state] = [largest(rates), largest(states)]
  const times = [...durations].slice(0, SERIES_PER_SLOT_MAX)
  const bytes = Buffer.alloc(
    3 + POINT_BYTES * (rate.length + state.length) + times.length * (2 + CLASSES),
  )
  let at = 0
  for (const some of [rate, state]) {
    at = bytes.writeUInt8(some.length, at)
    for (const [id, { count, min, mean, max }] of some) {
      at = bytes.writeUInt16LE(id, at)
      at = bytes.writeUInt16LE(count, at)
      for (const value of [min, mean, max]) at = bytes.writeFloatLE(value, at)
    }
  }
  at = bytes.writeUInt8(times.length, at)
  for (const [id, histogram] of times) {
    at = bytes.writeUInt16LE(id, at)
    for (let place = 0; place < CLASSES; place++)
      at = bytes.writeUInt8(packCount(histogram[place] ?? 0), at)
  }
  return bytes
}

function largest(points: ReadonlyMap<number, Point>): [number, Point][] {
  const all = [...points]
  if (all.length <= SERIES_PER_SLOT_MAX) return all
  return all.sort(([, one], [, other]) => other.mean - one.mean).slice(0, SERIES_PER_SLOT_MAX)
}

/** Reads what `packSlot` wrote, and combines it like `mergeSlots`. */
export function unpackSlots(stored: readonly { content: Buffer; ticks: number }[]): Slot {
  const merged = emptySlot()
  for (const { content, ticks } of stored) {
    merged.ticks += ticks
    // A view reads numbers several times faster than a buffer.
    const view = new DataView(content.buffer, content.byteOffset, content.byteLength)
    let at = 0
    for (const points of [merged.rates, merged.states]) {
      for (let left = view.getUint8(at++); left > 0; left--, at += POINT_BYTES) {
        add(
          points,
          view.getUint16(at, true),
          view.getUint16(at + 2, true),
          view.getFloat32(at + 4, true),
          view.getFloat32(at + 8, true),
          view.getFloat32(at + 12, true),
        )
      }
    }
    for (let left = view.getUint8(at++); left > 0; left--, at += 2 + CLASSES) {
      const histogram = [...content.subarray(at + 2, at + 2 + CLASSES)].map(unpackCount)
      addDurations(merged.durations, view.getUint16(at, true), histogram)
    }
  }
  return withIdleTicks(merged)
}

/** Counts up to this one are stored exactly. */
const EXACT = 16
const FACTOR = 1.0677

/** A count in one byte: exact up to 16, then within 3.4 %, up to a hundred million. */
function packCount(count: number): number {
  if (count <= EXACT) return Math.round(count)
  return Math.min(255, EXACT + Math.round(Math.log(count / EXACT) / Math.log(FACTOR)))
}

function unpackCount(byte: number): number {
  return byte <= EXACT ? byte : Math.round(EXACT * FACTOR ** (byte - EXACT))
}
