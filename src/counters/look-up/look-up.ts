import type { AskedPiece } from '../../analysis/questions/asked-pieces.ts'
import { pairTypes, type PairType } from '../../analysis/shingles/pair-types.ts'
import { pieceTypes } from '../../analysis/shingles/piece-types.ts'
import { halvesOf, type Prefix, prefixes } from '../increment.ts'
import { pairKey } from '../pair-key.ts'
import type { CounterReader } from '../reader.ts'
import { GATE_TIMES_MIN } from '../run-roll-ups.ts'
import { type Counts, type Point, windowNames, type WindowsByPrefix } from '../windows.ts'
import type { Question, ReadQuestion } from './question.ts'

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
  /** The most on one day of two weeks: so many are different for sure. */
  dayMax: Partial<Record<Prefix, number>>
}

/** All that is known of one piece; it can be sent as JSON. */
export type KnownPiece = {
  /** Name and meaning of its type, and what is hashed; null when only the hash was given. */
  type: string | null
  meaning: string | null
  piece: string | null
  hash: string
  /** The first counted time: what is nearly always new is held back until it comes again. */
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
  /** The place of the first piece of which anything is counted in two weeks; null if of none. */
  told: number | null
}

/** Reads all that is counted of a question; series of the piece that is told, or of all. */
export async function lookUp(
  reader: CounterReader,
  { question, pieces }: Exclude<ReadQuestion, { fault: string }>,
  series: 'told' | 'all',
): Promise<Known> {
  const asked = pieces.map((piece) => ({ piece, pairs: pairsOf(piece) }))
  const keys = asked.flatMap(({ piece, pairs }) => {
    const own = keyOf(piece.hash)
    return [own, ...pairs.map(({ number }) => keyOfPair(number, own))]
  })
  const windows = await reader.readWindows(keys)
  let next = 0
  const known: KnownPiece[] = []
  for (const { piece, pairs } of asked) {
    const counts = byWindow(windows[next++], sumsOf)
    const uniques: KnownUnique[] = []
    for (const { number, name, meaning } of pairs) {
      const counts = byWindow(windows[next++], ({ unique }) => unique)
      const dayMax = await readDayMax(reader, keyOfPair(number, keyOf(piece.hash)), counts)
      uniques.push({ type: name, meaning, counts, dayMax })
    }
    known.push(describe(piece, counts, uniques))
  }
  const told = known.findIndex(isCounted)
  for (const [place, one] of known.entries()) {
    if (place === told || (series === 'all' && isCounted(one))) {
      one.series = await readSeries(reader, one)
    }
  }
  return { question, pieces: known, told: told < 0 ? null : told }
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

function keyOfPair(type: number, piece: bigint): bigint {
  const { hi, lo } = pairKey(type, halvesOf(piece))
  return (BigInt(hi) << 32n) | BigInt(lo)
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

/** From the memory of the reader: the windows have just been read. */
async function readDayMax(reader: CounterReader, key: bigint, counts: ByWindow<number>) {
  const result: KnownUnique['dayMax'] = {}
  for (const prefix of prefixes) {
    if (!counts[prefix]) continue
    const { days } = await reader.readSeries(key, prefix)
    result[prefix] = Math.max(0, ...days.map(({ unique }) => unique))
  }
  return result
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
