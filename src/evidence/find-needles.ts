import { type Skeleton, skeletonOf } from './skeleton.ts'

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
  rule: 'anywhere' | 'word' | 'name' | 'capital'
}

const INITIALS_MAX = 2

/** Where a needle was found in a text. */
export type Place = { start: number; end: number; owner: string; isProven: boolean }

/** Finds needles in a text, in order, without overlaps; `isAnyCase`: names count in any case. */
export type Finder = (text: string, isAnyCase?: boolean) => Place[]

const SLOTS = 1 << 14

/**
 * Creates a search for any number of needles in one pass over the skeleton of a text. Of two
 * needles at the same place, the longer one is found.
 */
export function createFinder(needles: readonly Needle[]): Finder {
  const bySlot = new Map<number, Bucket>()
  const marked = new Uint8Array(SLOTS)
  const known = new Set<string>()
  for (const needle of needles.toSorted((one, other) => lengthOf(other) - lengthOf(one))) {
    const key = `${needle.rule} ${needle.text} ${needle.then ?? ''}`
    if (known.has(key)) continue
    known.add(key)
    const slot = slotOf(needle.text, 0)
    marked[slot] = 1
    const bucket = bySlot.getOrInsertComputed(slot, () => ({ needles: [], byText: new Map() }))
    bucket.needles.push(needle)
    bucket.byText.getOrInsertComputed(needle.text, () => []).push(needle)
  }
  return (text, isAnyCase = false) => {
    const places = placesIn(skeletonOf(text), isAnyCase)
    // `=40` may be a sign in quoted-printable, and the value 40.
    if (!/=[\dA-F]{2}/.test(text)) return places
    return joined([...places, ...placesIn(skeletonOf(text, true), isAnyCase)])
  }

  function placesIn(skeleton: Skeleton, isAnyCase: boolean): Place[] {
    const places: Place[] = []
    const { starts, ends, capitals } = skeleton
    const letters = skeleton.text
    const isBreak = (at: number) =>
      at === 0 ||
      at >= letters.length ||
      starts[at] !== ends[at - 1] ||
      (capitals[at] === 1 && capitals[at - 1] === 0) ||
      kindOf(letters.charCodeAt(at)) !== kindOf(letters.charCodeAt(at - 1))
    const isAllowed = ({ rule, text: its }: Needle, start: number, end: number) => {
      if (rule === 'anywhere') return true
      // A name may be repeated without a blank.
      const begins =
        isBreak(start) || (start >= its.length && letters.startsWith(its, start - its.length))
      if (!begins || !(isBreak(end) || letters.startsWith(its, end))) return false
      return rule === 'word' || (rule === 'name' && isAnyCase) || capitals[start] === 1
    }
    for (let at = 0; at + 1 < letters.length; at++) {
      const slot = slotOf(letters, at)
      if (marked[slot] !== 1) continue
      for (const needle of candidatesAt(bySlot.get(slot), letters, at)) {
        const end = endOf(needle, letters, at)
        if (end === undefined || !isAllowed(needle, at, end)) continue
        const { owner, isProven = false } = needle
        places.push({ start: starts[at] ?? 0, end: ends[end - 1] ?? 0, owner, isProven })
        at = end - 1
        break
      }
    }
    return places
  }
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

function slotOf(text: string, at: number): number {
  return (Math.imul(text.charCodeAt(at), 0x9e37) ^ text.charCodeAt(at + 1)) & (SLOTS - 1)
}

/** Needles with the same first letters, the longest first, and the same by their texts. */
type Bucket = { needles: Needle[]; byText: Map<string, Needle[]>; lengths?: number[] }

/** Above this number, needles are looked up by their text instead of one after the other. */
const ONE_BY_ONE_MAX = 16

function candidatesAt(bucket: Bucket | undefined, letters: string, at: number): Needle[] {
  if (bucket === undefined) return []
  const { needles, byText } = bucket
  if (needles.length <= ONE_BY_ONE_MAX) return needles
  bucket.lengths ??= [...new Set([...byText.keys()].map(({ length }) => length))].sort(
    (one, other) => other - one,
  )
  return bucket.lengths.flatMap((length) => byText.get(letters.slice(at, at + length)) ?? [])
}

function lengthOf({ text, then = '' }: Needle): number {
  return text.length + then.length
}

/** Where a needle that begins at a position ends; undefined if it is not there. */
function endOf({ text, then }: Needle, letters: string, at: number): number | undefined {
  if (!letters.startsWith(text, at)) return undefined
  const end = at + text.length
  if (then === undefined) return end
  for (let gap = 0; gap <= INITIALS_MAX; gap++) {
    if (letters.startsWith(then, end + gap)) return end + gap + then.length
  }
  return undefined
}

/** Words end where digits, or letters of a script without words, begin. */
function kindOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return 0
  return code < 0x2e80 ? 1 : 2
}
