import { ascii, isHexPair, type Skeleton, skeletonOf } from './skeleton.ts'

/**
 * A text to search for, as a skeleton, and the person whose it is. `anywhere`: also in words;
 * `word`: as a whole word; `capital`: as a whole word with a capital letter; `name`: the same, but
 * in links in any case.
 */
export type Needle = {
  text: string
  /** What follows the text, after at most two more letters: `Jane Q. Roe`. */
  then?: string
  owner: string
  /** Whether it is an address of the reporter that no sender chose. */
  isProven?: boolean
  /** Whether it is the reporter's domain. */
  isDomain?: boolean
  rule: 'anywhere' | 'word' | 'name' | 'capital'
}

const INITIALS_MAX = 2

/** Where a needle was found in a text. */
export type Place = { start: number; end: number; owner: string; isProven: boolean }

/**
 * `keepsDomain`: the reporter's domain is not searched, because the text states who sent the
 * message. `isLink`: first names count in any case.
 */
export type FindOptions = { keepsDomain?: boolean; isLink?: boolean }

/** Finds needles in a text, in order, without overlaps. */
export type Finder = (text: string, options?: FindOptions) => Place[]

const NO_PLACES: Place[] = []

/**
 * Creates a search for any number of needles in one pass over the skeleton of a text. Of two
 * needles at the same place, the longer one is found.
 */
export function createFinder(needles: readonly Needle[]): Finder {
  const index = indexOf(needles)
  return (text, options = {}) => {
    if (!mayHaveAny(text, index)) return NO_PLACES
    const places = placesIn(skeletonOf(text), index, options)
    // `=40` may be a sign in quoted-printable, and the value 40.
    if (!/=[\dA-F]{2}/.test(text)) return places
    return joined([...places, ...placesIn(skeletonOf(text, true), index, options)])
  }
}

/** Needles by their first three units, or two if they have no more. */
type Index = {
  buckets: Map<number, Bucket>
  /** 1 for each slot that has a bucket. */
  marked: Uint8Array
  /** Whether a needle has only two units. */
  hasPairs: boolean
}

const SLOTS = 1 << 12

function slotOf(first: number, second: number, third: number): number {
  return (Math.imul(first, 0x9e37) ^ Math.imul(second, 0x3f1) ^ third) & (SLOTS - 1)
}

function indexOf(needles: readonly Needle[]): Index {
  const index: Index = { buckets: new Map(), marked: new Uint8Array(SLOTS), hasPairs: false }
  const known = new Set<string>()
  for (const needle of needles) {
    const { text, then = '', rule } = needle
    const key = `${rule} ${text} ${then}`
    if (known.has(key)) continue
    known.add(key)
    const slot = slotOf(text.charCodeAt(0), text.charCodeAt(1), text.charCodeAt(2))
    if (text.length === 2) index.hasPairs = true
    index.marked[slot] = 1
    index.buckets.getOrInsertComputed(slot, () => ({ needles: [] })).needles.push(needle)
  }
  for (const bucket of index.buckets.values()) {
    if (bucket.needles.length > 1) bucket.needles.sort(longestFirst)
  }
  return index
}

/**
 * Whether a text may have a needle: a check that is much faster than the search, and rules out most
 * texts.
 */
function mayHaveAny(text: string, { marked, hasPairs }: Index): boolean {
  const chars = text.length
  let first = 0
  let second = 0
  for (let at = 0; at < chars; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80) return true
    const unit = ascii[code] ?? 0
    if (unit > 1) {
      if (marked[slotOf(first, second, unit)] === 1) return true
      if (hasPairs && marked[slotOf(second, unit, 0)] === 1) return true
      first = second
      second = unit
    } else if (unit === 1 && mayBeEscape(text, at, code)) return true
  }
  return false
}

/** Whether a sign may begin what the skeleton decodes. */
function mayBeEscape(text: string, at: number, code: number): boolean {
  if (code === 0x3d) return isHexPair(text, at + 1)
  return code !== 0x26 || text[at + 1] === '#' || text.includes(';', at)
}

function placesIn(skeleton: Skeleton, index: Index, { keepsDomain, isLink }: FindOptions): Place[] {
  const places: Place[] = []
  const { units, starts, ends, capitals, length } = skeleton
  const { marked, hasPairs } = index
  const isAllowed = ({ rule, text, isDomain }: Needle, start: number, end: number) => {
    if (isDomain === true && keepsDomain === true) return false
    if (rule === 'anywhere') return true
    // A name may be repeated without a blank.
    const begins = isBreak(skeleton, start) || isAt(skeleton, text, start - text.length)
    if (!begins || !(isBreak(skeleton, end) || isAt(skeleton, text, end))) return false
    return rule === 'word' || (rule === 'name' && isLink === true) || capitals[start] === 1
  }
  for (let at = 0; at + 1 < length; at++) {
    const first = units[at] ?? 0
    const second = units[at + 1] ?? 0
    const slot = slotOf(first, second, at + 2 < length ? (units[at + 2] ?? 0) : 0)
    const pair = hasPairs ? slotOf(first, second, 0) : slot
    if (marked[slot] !== 1 && marked[pair] !== 1) continue
    for (const needle of candidatesAt(skeleton, at, [
      index.buckets.get(slot),
      pair === slot ? undefined : index.buckets.get(pair),
    ])) {
      const end = endOf(needle, skeleton, at)
      if (end === undefined || !isAllowed(needle, at, end)) continue
      const { owner, isProven = false } = needle
      places.push({ start: starts[at] ?? 0, end: ends[end - 1] ?? 0, owner, isProven })
      at = end - 1
      break
    }
  }
  return places
}

/** Whether a text is at a position of a skeleton. */
function isAt({ units, length }: Skeleton, text: string, at: number): boolean {
  if (at < 0 || at + text.length > length) return false
  for (let next = 0; next < text.length; next++) {
    if (units[at + next] !== text.charCodeAt(next)) return false
  }
  return true
}

/** Whether a word begins or ends at a position. */
function isBreak({ units, starts, ends, capitals, length }: Skeleton, at: number): boolean {
  return (
    at === 0 ||
    at >= length ||
    starts[at] !== ends[at - 1] ||
    (capitals[at] === 1 && capitals[at - 1] === 0) ||
    kindOf(units[at] ?? 0) !== kindOf(units[at - 1] ?? 0)
  )
}

/** Places in order, without those that overlap an earlier or longer one. */
function joined(places: readonly Place[]): Place[] {
  const sorted = places.toSorted((one, other) => one.start - other.start || other.end - one.end)
  let end = 0
  return sorted.filter((place) => {
    const isFree = place.start >= end
    if (isFree) end = place.end
    return isFree
  })
}

/** Needles that begin alike, the longest first; if they are many, also by their texts. */
type Bucket = { needles: Needle[]; byText?: Map<string, Needle[]>; lengths?: number[] }

/** Above this number, needles are looked up by their text instead of one after the other. */
const ONE_BY_ONE_MAX = 16

function candidatesAt(
  skeleton: Skeleton,
  at: number,
  buckets: readonly (Bucket | undefined)[],
): Needle[] {
  const found = buckets.flatMap((bucket) =>
    bucket === undefined ? [] : [candidatesIn(bucket, skeleton, at)],
  )
  return found.length === 1 ? (found[0] ?? []) : found.flat().sort(longestFirst)
}

function candidatesIn(bucket: Bucket, { units, length }: Skeleton, at: number): Needle[] {
  const { needles } = bucket
  if (needles.length <= ONE_BY_ONE_MAX) return needles
  const byText = (bucket.byText ??= Map.groupBy(needles, ({ text }) => text))
  bucket.lengths ??= [...new Set(needles.map(({ text }) => text.length))].sort(
    (one, other) => other - one,
  )
  return bucket.lengths.flatMap((its) => {
    if (at + its > length) return []
    return byText.get(String.fromCharCode(...units.subarray(at, at + its))) ?? []
  })
}

function longestFirst(one: Needle, other: Needle): number {
  return lengthOf(other) - lengthOf(one)
}

function lengthOf({ text, then = '' }: Needle): number {
  return text.length + then.length
}

/** Where a needle that begins at a position ends; undefined if it is not there. */
function endOf({ text, then }: Needle, skeleton: Skeleton, at: number): number | undefined {
  if (!isAt(skeleton, text, at)) return undefined
  const end = at + text.length
  if (then === undefined) return end
  for (let gap = 0; gap <= INITIALS_MAX; gap++) {
    if (isAt(skeleton, then, end + gap)) return end + gap + then.length
  }
  return undefined
}

/** Words end where digits, or letters of a script without words, begin. */
function kindOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return 0
  return code < 0x2e80 ? 1 : 2
}
