import type { AskedPiece } from '../../analysis/questions/asked-pieces.ts'
import { pairTypes, type PairType } from '../../analysis/shingles/pair-types.ts'
import { pieceTypes } from '../../analysis/shingles/piece-types.ts'
import type { Db } from '../../db/pool.ts'
import type { Clock } from '../../world.ts'
import { type Prefix, prefixes } from '../keys.ts'
import { wholePairKey } from '../pair-key.ts'
import { type CounterReader, createCounterReader } from '../reader.ts'
import { GATE_TIMES_MIN } from '../run-roll-ups.ts'
import { type Counts, type Point, windowNames, type WindowsByPrefix } from '../windows.ts'
import { countDifferent, type Different } from './count-different.ts'
import type { Question, ReadQuestion } from './question.ts'

/** All of a question is asked anew; between its windows and its series nothing changes. */
const memory = { keysMax: 4_000, freshMs: 10_000 }

/** The name of a window. */
export type WindowName = (typeof windowNames)[number]

/** What was counted in one window or bucket. */
export type Sums = Omit<Counts, 'unique'>

/** A value for each window, of each prefix under which anything is counted. */
export type ByWindow<T> = Partial<Record<Prefix, Record<WindowName, T>>>

/** With how many different others a piece was seen. */
export type KnownUnique = {
  /** Name of the type of pairs. */
  type: string
  meaning: string
  /** Exact in a bucket; a window of several buckets has their sum. */
  counts: ByWindow<number>
  /** Of two weeks, each once; absent where they are too many to be looked at. */
  different: Different
}

/** All that is known of one piece; it can be sent as JSON. */
export type KnownPiece = {
  /** Name and meaning of its type, and what is hashed; null when only the hash was given. */
  type: string | null
  meaning: string | null
  piece: string | null
  hash: string
  /** The time that is counted first of mail that is only checked; reports always count at once. */
  countedFrom: number
  counts: ByWindow<Sums>
  uniques: KnownUnique[]
  /** Buckets that are not empty, oldest first; absent where they were not asked for. */
  series?: Partial<Record<Prefix, { tenMinutes: Drawn[]; days: Drawn[] }>>
}

/** A bucket for drawing. */
export type Drawn = { startsAt: Date } & Sums

/** What is known of what somebody asked about. */
export type Known = {
  question: Question
  /** The most telling first. */
  pieces: KnownPiece[]
  /**
   * The place of the most telling piece of which anything is counted in two weeks; null if of none.
   * It is wider than what was asked only if nothing is counted of just that.
   */
  told: number | null
}

/** Reads all that is counted of a question; series of the piece that is told, or of all. */
export async function lookUp(
  { pool, clock }: { pool: Db; clock: Clock },
  { question, pieces }: Exclude<ReadQuestion, { fault: string }>,
  series: 'told' | 'all',
): Promise<Known> {
  const reader = createCounterReader({ pool, clock }, memory)
  const asked = pieces.map((piece) => {
    const own = keyOf(piece.hash)
    const pairs = pairsOf(piece).map((pair) => ({ pair, key: wholePairKey(pair.number, own) }))
    return { piece, own, pairs }
  })
  const keys = asked.flatMap(({ own, pairs }) => [own, ...pairs.map(({ key }) => key)])
  const found = await reader.readWindows(keys)
  const windows = new Map(keys.map((key, place) => [key, found[place] ?? {}]))
  const pairKeys = asked.flatMap(({ pairs }) => pairs.map(({ key }) => key))
  const seen = pairKeys.filter((key) => Object.keys(windows.get(key) ?? {}).length > 0)
  const different = await countDifferent(pool, seen, clock())
  const known = asked.map(({ piece, own, pairs }) => {
    const uniques = pairs.map(({ pair, key }): KnownUnique => ({
      type: pair.name,
      meaning: pair.meaning,
      counts: byWindow(windows.get(key), ({ unique }) => unique),
      different: different.get(key) ?? {},
    }))
    return describe(piece, byWindow(windows.get(own), sumsOf), uniques)
  })
  const told = placeOfMostTelling(known)
  for (const [place, one] of known.entries()) {
    if (place === told || (series === 'all' && isCounted(one))) {
      one.series = await readSeries(reader, one)
    }
  }
  return { question, pieces: known, told: told < 0 ? null : told }
}

/** Just what was asked, in whatever role; before anything wider. -1 when nothing is counted. */
function placeOfMostTelling(pieces: readonly KnownPiece[]): number {
  const asked = pieces[0]?.piece
  const exact = pieces.findIndex((one) => one.piece === asked && isCounted(one))
  return exact < 0 ? pieces.findIndex(isCounted) : exact
}

/** Whether anything is counted of a piece under any prefix in two weeks. */
export function isCounted({ counts }: KnownPiece): boolean {
  return Object.values(counts).some(({ twoWeeks }) =>
    Object.values(twoWeeks).some((amount) => amount !== 0),
  )
}

function keyOf(hash: string): bigint {
  return BigInt(`0x${hash}`)
}

/** The kinds of pairs that a piece can have; of a hash alone, all. */
function pairsOf(piece: AskedPiece | { hash: string }): readonly PairType[] {
  if (!('name' in piece)) return pairTypes
  return pairTypes.filter(({ counted }) => counted === piece.name)
}

function byWindow<T>(
  windows: WindowsByPrefix | undefined,
  read: (counts: Counts) => T,
): ByWindow<T> {
  const result: ByWindow<T> = {}
  for (const prefix of prefixes) {
    const own = windows?.[prefix]
    if (!own) continue
    const entries = windowNames.map((name) => [name, read(own[name])])
    result[prefix] = Object.fromEntries(entries) as Record<WindowName, T>
  }
  return result
}

function sumsOf({ ham, spam, complaint, redeemed }: Counts): Sums {
  return { ham, spam, complaint, redeemed }
}

function describe(
  piece: AskedPiece | { hash: string },
  counts: KnownPiece['counts'],
  uniques: KnownUnique[],
): KnownPiece {
  if (!('name' in piece)) {
    // Of a piece whose type is not known, only those pairs are told that there are.
    const present = uniques.filter((unique) => Object.keys(unique.counts).length > 0)
    const { hash } = piece
    return {
      type: null,
      meaning: null,
      piece: null,
      hash,
      countedFrom: 1,
      counts,
      uniques: present,
    }
  }
  const { meaning, admission } = pieceTypes[piece.name]
  const countedFrom = admission === 'gated' ? GATE_TIMES_MIN : 1
  const { name: type, piece: text, hash } = piece
  return { type, meaning, piece: text, hash, countedFrom, counts, uniques }
}

async function readSeries(reader: CounterReader, { hash, counts }: KnownPiece) {
  const series: NonNullable<KnownPiece['series']> = {}
  const drawn = ({ startsAt, ...all }: Point): Drawn => ({ startsAt, ...sumsOf(all) })
  for (const prefix of prefixes) {
    if (!counts[prefix]) continue
    const { tenMinutes, days } = await reader.readSeries(keyOf(hash), prefix)
    series[prefix] = { tenMinutes: tenMinutes.map(drawn), days: days.map(drawn) }
  }
  return series
}
