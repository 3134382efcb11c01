import { listMemberChunks } from '../db/counter-rows.ts'
import { findCounters } from '../db/counters.ts'
import type { Db } from '../db/pool.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { type AskedPiece, pieceAsWritten } from '../pieces/asked-pieces.ts'
import { askedPieces, guessKind, questionKinds, type QuestionName } from '../pieces/questions.ts'
import {
  gatedTypes,
  type PairType,
  pairTypes,
  type PieceName,
  pieceTypes,
} from '../pieces/shingles/piece-types.ts'
import type { Clock } from '../world.ts'
import {
  dayOf,
  DAYS_LIVE,
  generationsAt,
  packKeys,
  type Prefix,
  prefixes,
  slotOf,
  wholeOf,
  wholePairKey,
} from './keys.ts'
import { add, type Count } from './packed/cursor.ts'
import { emptyHistory, type MemberSet, readHistory } from './packed/history.ts'
import { readMembers } from './packed/members.ts'
import {
  type CounterReader,
  type Counts,
  createCounterReader,
  type Point,
  windowNames,
  type WindowsByPrefix,
} from './reader.ts'
import { GATE_TIMES_MIN } from './run-roll-ups.ts'

export type LookUpQuestion =
  | { kind: QuestionName; isGuessed: boolean; value: string }
  /** A normalized piece and the name of its type. */
  | { type: PieceName; value: string }
  /** The hash of a piece: 16 hexadecimal digits. */
  | { hash: string }

/** Input of a query; an empty text counts as absent. */
export type LookUpInput = Readonly<Partial<Record<'kind' | 'value' | 'type' | 'hash', string>>>

/** The parsed query with its pieces (for a hash, without type), or an error. */
export type ReadQuestion =
  | { question: LookUpQuestion; pieces: readonly (AskedPiece | { hash: string })[] }
  | { fault: Phrase }

/** Names of the kinds of values, the most used first. */
export const kindNames: readonly string[] = questionKinds.map(({ name }) => name)
const kinds = kindNames.join(', ')

export const kindsForPeople: readonly { name: string; is: string; example: string }[] =
  questionKinds.map(({ name, is, example }) => ({ name, is, example }))

/** Maximum length of a value in characters. */
const VALUE_CHARS_MAX = 8_000

/**
 * Parses a query: a value with its kind, or without, in which case the kind is guessed; a
 * normalized piece with its type; or a hash.
 */
export function readQuestion({ kind, value, type, hash }: LookUpInput): ReadQuestion {
  if ([kind, type, hash].filter(Boolean).length > 1) {
    return { fault: phrase('question-ambiguous') }
  }
  if (hash) return readHash(hash)
  if (!value?.trim()) return { fault: phrase('question-empty', { kinds }) }
  if (value.length > VALUE_CHARS_MAX) {
    return { fault: phrase('question-too-long', { max: VALUE_CHARS_MAX }) }
  }
  if (type) return readTyped(type, value)
  if (!kind && /^[0-9a-f]{16}$/i.test(value.trim())) return readHash(value)
  const known = questionKinds.find(({ name }) => name === (kind || guessKind(value)))
  if (!known) {
    return { fault: phrase('question-kind-unknown', { kind: kind?.slice(0, 40) ?? '', kinds }) }
  }
  const pieces = askedPieces(known.name, value)
  if (pieces.length === 0 && !kind) {
    return { fault: phrase('question-not-countable', { kinds }) }
  }
  if (pieces.length === 0) {
    const { name, example } = known
    return { fault: phrase('question-not-of-kind', { kind: name, example }) }
  }
  return { question: { kind: known.name, isGuessed: !kind, value }, pieces }
}

function readHash(hash: string): ReadQuestion {
  const digits = hash.trim().toLowerCase()
  if (!/^[0-9a-f]{16}$/.test(digits)) return { fault: phrase('question-hash') }
  return { question: { hash: digits }, pieces: [{ hash: digits }] }
}

function readTyped(type: string, value: string): ReadQuestion {
  const known = Object.values(pieceTypes).find(({ name }) => name === type)
  if (!known) {
    const types = Object.keys(pieceTypes).join(', ')
    return { fault: phrase('question-type-unknown', { type: type.slice(0, 40), types }) }
  }
  return { question: { type: known.name, value }, pieces: [pieceAsWritten(known.name, value)] }
}

/** Number of distinct values seen with a key in two weeks, by prefix. */
type Different = Partial<Record<Prefix, number>>

/** Maximum number of members read for one key and prefix: about 20 MB, and a tenth of a second. */
const MEMBERS_MAX = 100_000
const CHUNKS_MAX = MEMBERS_MAX / 16

/**
 * Counts the distinct members of keys over two weeks. (A sum of daily counts would count a member
 * once for each day.) Exact; a prefix with too many members is omitted.
 */
async function countDifferent(
  db: Db,
  keys: readonly bigint[],
  now: Date,
): Promise<ReadonlyMap<bigint, Different>> {
  const slot = slotOf(now)
  const rows = await findCounters(db, packKeys(keys), generationsAt(slot))
  rows.sort((a, b) => a.generation - b.generation)
  const newest = new Map(rows.map((row) => [wholeOf(row), row]))
  const result = new Map<bigint, Different>()
  for (const [key, { content }] of newest) {
    const history = emptyHistory()
    readHistory(content, history)
    const sets = history.sets.filter(({ day }) => day >= dayOf(slot) - DAYS_LIVE)
    result.set(key, await countByPrefix(db, key, sets))
  }
  return result
}

async function countByPrefix(db: Db, key: bigint, sets: readonly MemberSet[]): Promise<Different> {
  const different: Different = {}
  for (const [place, prefix] of prefixes.entries()) {
    const own = sets.filter((set) => set.prefix === place)
    const total = own.reduce((sum, { membersTotal }) => sum + membersTotal, 0)
    const chunks = own.reduce((sum, set) => sum + set.chunks, 0)
    if (own.length === 0 || total > MEMBERS_MAX || chunks > CHUNKS_MAX) continue
    different[prefix] = countMembers([...inlineOf(own), ...(await spilledOf(db, key, own))])
  }
  return different
}

function inlineOf(sets: readonly MemberSet[]): Buffer[] {
  return sets.flatMap(({ packed }) => packed ?? [])
}

async function spilledOf(db: Db, key: bigint, sets: readonly MemberSet[]): Promise<Buffer[]> {
  const spilled = sets.filter(({ chunks }) => chunks > 0)
  const [first] = spilled
  if (!first) return []
  const days = spilled.map(({ day }) => day)
  return listMemberChunks(db, {
    key: packKeys([key]),
    prefix: first.prefix,
    days: [Math.min(...days), Math.max(...days)],
    chunksMax: CHUNKS_MAX,
  })
}

/**
 * Counts the members whose sum is positive on any day. Each element of `packed` contains members of
 * one day.
 */
function countMembers(packed: readonly Buffer[]): number {
  const different = new Set<string>()
  for (const members of packed.map((bytes) => readMembers(bytes, 0))) {
    for (const { hi, lo, sums } of members) {
      if (sums.reduce<Count>(add, 0) > 0) different.add(`${hi}:${lo}`)
    }
  }
  return different.size
}

/**
 * Cache of the reader for one query: maximum number of keys, and lifetime in milliseconds. It makes
 * the windows and series of a query consistent.
 */
const memory = { keysMax: 4_000, freshMs: 10_000 }

type WindowName = (typeof windowNames)[number]

export type WindowSums = Omit<Counts, 'unique'>

type ByWindow<T> = Partial<Record<Prefix, Record<WindowName, T>>>

/** Number of distinct other pieces with which a piece was seen. */
export type KnownUnique = {
  /** Name of the pair type. */
  type: string
  meaning: string
  /** Exact for one bucket; a window of several buckets has their sum. */
  counts: ByWindow<number>
  /**
   * Number of distinct other pieces over two weeks, by prefix. A prefix with too many members is
   * absent.
   */
  different: Different
}

/** All counts of one piece; can be sent as JSON. */
export type KnownPiece = {
  /** Name and meaning of its type, and the text that is hashed; null if only the hash was given. */
  type: string | null
  meaning: string | null
  piece: string | null
  hash: string
  /**
   * Number of sightings from which checked traffic is counted; reports always count from the first.
   */
  countedFrom: number
  counts: ByWindow<WindowSums>
  uniques: KnownUnique[]
  /** Buckets that are not empty, oldest first; absent if they were not requested. */
  series?: Partial<Record<Prefix, { tenMinutes: ChartBucket[]; days: ChartBucket[] }>>
}

export type ChartBucket = { startsAt: Date } & WindowSums

export type Known = {
  question: LookUpQuestion
  /** The most informative first. */
  pieces: KnownPiece[]
  /**
   * Index of the most informative piece with counts in two weeks; null if there is none. It is a
   * wider piece only if nothing is counted for the exact one.
   */
  told: number | null
}

/** Reads all counts for a query, with series of the selected piece or of all. */
export async function lookUp(
  { pool, clock }: { pool: Db; clock: Clock },
  { question, pieces }: Exclude<ReadQuestion, { fault: Phrase }>,
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
  const selected = indexOfMostInformative(known)
  for (const [place, one] of known.entries()) {
    if (place === selected || (series === 'all' && isCounted(one))) {
      one.series = await readSeries(reader, one)
    }
  }
  return { question, pieces: known, told: selected < 0 ? null : selected }
}

/**
 * Returns the index of the first piece with counts and the same text as the first piece, otherwise
 * of the first piece with counts. -1 when nothing is counted.
 */
function indexOfMostInformative(pieces: readonly KnownPiece[]): number {
  const asked = pieces[0]?.piece
  const exact = pieces.findIndex((one) => one.piece === asked && isCounted(one))
  return exact < 0 ? pieces.findIndex(isCounted) : exact
}

/** Whether a piece has any counts under any prefix in two weeks. */
export function isCounted({ counts }: KnownPiece): boolean {
  return Object.values(counts).some(({ twoWeeks }) =>
    Object.values(twoWeeks).some((amount) => amount !== 0),
  )
}

function keyOf(hash: string): bigint {
  return BigInt(`0x${hash}`)
}

/** Returns the pair types that a piece can have; for a hash, all. */
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

function sumsOf({ ham, spam, complaint, redeemed }: Counts): WindowSums {
  return { ham, spam, complaint, redeemed }
}

function describe(
  piece: AskedPiece | { hash: string },
  counts: KnownPiece['counts'],
  uniques: KnownUnique[],
): KnownPiece {
  if (!('name' in piece)) {
    // If the type of the piece is unknown, only pairs with counts are included.
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
  const { meaning, number } = pieceTypes[piece.name]
  const countedFrom = gatedTypes.has(number) ? GATE_TIMES_MIN : 1
  const { name: type, piece: text, hash } = piece
  return { type, meaning, piece: text, hash, countedFrom, counts, uniques }
}

async function readSeries(reader: CounterReader, { hash, counts }: KnownPiece) {
  const series: NonNullable<KnownPiece['series']> = {}
  const drawn = ({ startsAt, ...all }: Point): ChartBucket => ({ startsAt, ...sumsOf(all) })
  for (const prefix of prefixes) {
    if (!counts[prefix]) continue
    const { tenMinutes, days } = await reader.readSeries(keyOf(hash), prefix)
    series[prefix] = { tenMinutes: tenMinutes.map(drawn), days: days.map(drawn) }
  }
  return series
}
