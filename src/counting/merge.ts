import { findMemberChunks, type MemberChunk, type MemberSetId } from '../db/counter-rows.ts'
import type { CounterRow } from '../db/counters.ts'
import { generationOf } from '../db/partitions.ts'
import type { Db } from '../db/pool.ts'
import { creditLast, type Gate, timesAtGate } from './gate.ts'
import {
  countedSlot,
  dayOf,
  oldestDayKept,
  oldestSlotKept,
  shardOf,
  SLOTS_PER_DAY,
} from './keys.ts'
import { add, type Count, type Cursor, REDEEMED, UNIQUE } from './packed/cursor.ts'
import { HAS_UNIQUE, entryPrefix, readEntry, readHalf } from './packed/delta-packing.ts'
import {
  clearHistory,
  emptyHistory,
  type History,
  type MemberSet,
  packHistory,
  readHistory,
} from './packed/history.ts'
import {
  addAt,
  addCount,
  EXPIRED,
  isGone,
  type Member,
  placeOf,
  readMembers,
  weigh,
  writeMembers,
} from './packed/members.ts'
import type { SortedDeltas } from './sorted-deltas.ts'

/** Maximum number of members in the row of a key; larger sets are spilled to other rows. */
const MEMBERS_INLINE_MAX = 64

/** An amount to add to a member of a spilled set: `slot` within its day, or `EXPIRED`. */
type Weight = { hi: number; lo: number; slot: number; weight: Count }

/** Weights to be added to the chunks of their set. */
type Spill = { set: MemberSet; weights: Weight[] }

const amounts: Count[] = [0, 0, 0, 0]
const cursor: Cursor = { bytes: Buffer.alloc(0), at: 0 }

/**
 * Merges the deltas of one key, a range in the sorted order, into its history. Returns the weights
 * for spilled sets, and the sets that have become too large. The order of deltas does not matter.
 */
function mergeDeltas(
  history: History,
  deltas: SortedDeltas,
  [from, to]: readonly [number, number],
  now: number,
): Spill[] {
  let spills: Map<MemberSet, Spill> | undefined
  cursor.bytes = deltas.bytes
  for (let place = from; place < to; place++) {
    const index = deltas.order[place] ?? 0
    const slot = countedSlot(deltas.slot[index] ?? 0, now)
    const day = dayOf(slot)
    if (day < oldestDayKept(now)) continue
    cursor.at = deltas.at[index] ?? 0
    const head = readEntry(cursor, amounts)
    const prefix = entryPrefix(head)
    const isSlotKept = slot >= oldestSlotKept(now)
    let weight: Count = 0
    const dayPlace = placeOf(history.days, day, prefix)
    const slotPlace = isSlotKept ? placeOf(history.slots, slot, prefix) : 0
    for (let kind = 0; kind < amounts.length; kind++) {
      const amount = amounts[kind] ?? 0
      if (amount === 0) continue
      addAt(history.days, dayPlace, kind, amount)
      if (isSlotKept) addAt(history.slots, slotPlace, kind, amount)
      if (kind !== REDEEMED) weight = add(weight, amount)
    }
    if (!(head & HAS_UNIQUE) || weight === 0) continue
    const set = setOf(history, day, prefix)
    const slotOfDay = isSlotKept ? slot - day * SLOTS_PER_DAY : EXPIRED
    const one = { hi: readHalf(cursor), lo: readHalf(cursor), slot: slotOfDay, weight }
    if (set.chunks > 0 || set.members.length > MEMBERS_INLINE_MAX) {
      spills ??= new Map()
      const spill = spills.get(set) ?? { set, weights: [] }
      spills.set(set, spill)
      spill.weights.push(one)
    } else addWeight(history, set, open(set, now).members, one)
  }
  for (const set of history.sets) {
    if (set.members.length <= MEMBERS_INLINE_MAX || spills?.has(set)) continue
    spills ??= new Map()
    spills.set(set, { set, weights: [] })
  }
  return spills ? [...spills.values()] : none
}

const none: Spill[] = []

function setOf({ sets }: History, day: number, prefix: number): MemberSet {
  const found = sets.find((set) => set.day === day && set.prefix === prefix)
  if (found) return found
  const set = { day, prefix, packed: undefined, members: [], chunks: 0, membersTotal: 0 }
  sets.push(set)
  return set
}

function open(set: MemberSet, now: number): MemberSet {
  if (!set.packed) return set
  set.members = readMembers(set.packed, oldestSlotOf(set, now))
  set.packed = undefined
  return set
}

/**
 * Returns the first slot, within the day of a set, whose bucket is kept; negative when all are
 * kept.
 */
function oldestSlotOf({ day }: MemberSet, now: number): number {
  return oldestSlotKept(now) - day * SLOTS_PER_DAY
}

/**
 * Adds a weight to its member of a set. Creates the member if needed, and removes it when all of
 * its sums are 0.
 */
function addWeight(history: History, set: MemberSet, members: Member[], one: Weight): void {
  let index = 0
  for (; index < members.length; index++) {
    const known = members[index]
    if (known?.lo === one.lo && known.hi === one.hi) break
  }
  const member = members[index] ?? { hi: one.hi, lo: one.lo, slots: [], sums: [] }
  members[index] = member
  weighMember(history, set, member, one)
  if (isGone(member)) members.splice(index, 1)
}

/** Adds a weight to a member, and updates the unique counters of slot and day. */
function weighMember(
  history: History,
  { day, prefix }: MemberSet,
  member: Member,
  { slot, weight }: Weight,
): void {
  const turn = weigh(member, slot, weight)
  if (turn.day !== 0) addCount(history.days, { period: day, prefix }, UNIQUE, turn.day)
  if (turn.slot === 0 || slot === EXPIRED) return
  const period = day * SLOTS_PER_DAY + slot
  addCount(history.slots, { period, prefix }, UNIQUE, turn.slot)
}

/** Average number of members in a chunk. Adding one member rewrites this many. */
const CHUNK_MEMBERS = 64

/**
 * Returns the current number of chunks of a set, and the number needed with the waiting weights.
 * The number of chunks never decreases.
 */
function sizesOf({ set, weights }: Spill): { before: number; after: number } {
  const before = set.chunks
  // Counts each member once. Two members whose hashes agree in 53 bits count as one.
  const weighed = new Set(weights.map(({ hi, lo }) => hi * 2 ** 32 + lo)).size
  const membersMax = set.membersTotal + set.members.length + weighed
  return { before, after: Math.max(before, 1, Math.ceil(membersMax / CHUNK_MEMBERS)) }
}

/**
 * Returns the chunks to read for the waiting weights: those that contain their members, and those
 * that are split. The set grows by linear hashing, one chunk at a time.
 */
function chunksToRead(spill: Spill): number[] {
  const { before, after } = sizesOf(spill)
  if (before === 0) return []
  const touched = new Set(spill.weights.map(({ lo }) => chunkOf(lo, before)))
  for (let chunk = before; chunk < after; chunk++) touched.add(ancestorOf(chunk, before))
  return [...touched]
}

/**
 * Adds the waiting weights to a spilled set, updates the unique counters of the history, and
 * returns the chunks to write. `found` contains those chunks of `chunksToRead` that exist.
 */
function weighSpilled(
  key: Buffer,
  history: History,
  spill: Spill,
  { found, now }: { found: readonly Buffer[]; now: number },
): MemberChunk[] {
  const { set, weights } = spill
  const { before, after } = sizesOf(spill)
  const chunks = new Map<number, Member[]>(chunksToRead(spill).map((chunk) => [chunk, []]))
  for (let chunk = before; chunk < after; chunk++) chunks.set(chunk, [])
  const membersOf = (lo: number): Member[] => chunks.get(chunkOf(lo, after)) ?? []
  let membersBefore = 0
  for (const content of found) {
    const stored = readMembers(content, oldestSlotOf(set, now))
    membersBefore += stored.length
    for (const member of stored) membersOf(member.lo).push(member)
  }
  for (const member of set.members) membersOf(member.lo).push(member)
  for (const one of weights) addWeight(history, set, membersOf(one.lo), one)
  const id: MemberSetId = { key, day: set.day, prefix: set.prefix }
  const packed = [...chunks].toSorted(([a], [b]) => a - b)
  for (const [, members] of packed) set.membersTotal += members.length
  set.membersTotal -= membersBefore
  set.members = []
  set.chunks = after
  return packed.map(([chunk, members]) => ({ ...id, chunk, content: packMembers(members) }))
}

const scratch: Cursor = { bytes: Buffer.allocUnsafe(4_096), at: 0 }

function packMembers(members: readonly Member[]): Buffer {
  scratch.at = 0
  writeMembers(scratch, members)
  return Buffer.from(scratch.bytes.subarray(0, scratch.at))
}

/** Returns the chunk of a hash: as many low bits as `chunks` needs, or one bit less. */
function chunkOf(hash: number, chunks: number): number {
  const half = highestPowerOf(chunks)
  const chunk = (hash & (half * 2 - 1)) >>> 0
  return chunk < chunks ? chunk : chunk & (half - 1)
}

/** Returns the existing chunk from which a new chunk is split; there were `before` chunks. */
function ancestorOf(chunk: number, before: number): number {
  let ancestor = chunk
  while (ancestor >= before) ancestor -= highestPowerOf(ancestor)
  return ancestor
}

function highestPowerOf(number: number): number {
  return 2 ** (31 - Math.clz32(number))
}

/** Some keys, with the bounds of their deltas in the sorted order. */
export type Stretch = { keys: Buffer; bounds: number[] }

/** A merge of deltas; `gates` by shard, and `now` as the current slot. */
export type Task = { deltas: SortedDeltas; gates: readonly (Gate | undefined)[]; now: number }

/** The newest row of a key, if it exists. */
export type FoundRow = { generation: number; content: Buffer } | undefined

/**
 * Rows to write, in the order of the keys. No other process writes keys of the shard, so no row can
 * appear for a new key before this write.
 */
export type Merged = { inserts: CounterRow[]; updates: CounterRow[]; chunks: MemberChunk[] }

/** A row that is packed after its spilled members have been read. */
type Waiting = { row: CounterRow; history: History; spills: readonly Spill[] }

const EMPTY = Buffer.alloc(0)

/**
 * Merges the deltas of some keys into their rows. A row in a later generation than the current one
 * stays there: it was written by a machine with a fast clock, and is the newest.
 */
export async function mergeStretch(
  tx: Db,
  { deltas, gates, now }: Task,
  { keys, bounds }: Stretch,
  found: readonly FoundRow[],
): Promise<Merged> {
  const current = generationOf(dayOf(now))
  const merged: Merged = { inserts: [], updates: [], chunks: [] }
  const waiting: Waiting[] = []
  let history = emptyHistory()
  for (let index = 0; index < found.length; index++) {
    const before = found[index]
    const key = keys.subarray(index * 8, index * 8 + 8)
    const range = [bounds[index] ?? 0, bounds[index + 1] ?? 0] as const
    const gate = before ? undefined : gates[shardOf(key.readUInt32BE(0))]
    const credit = !gate ? 0 : creditOf(gate, deltas, key, range)
    if (credit === undefined) continue
    if (before) readHistory(before.content, history)
    else clearHistory(history)
    if (credit > 0) creditLast(history, deltas, range, { credit, now })
    const spills = mergeDeltas(history, deltas, range, now)
    const generation = Math.max(current, before?.generation ?? current)
    const row: CounterRow = { key, generation, content: EMPTY }
    const rows = before?.generation === generation ? merged.updates : merged.inserts
    rows.push(row)
    if (spills.length === 0) row.content = packHistory(history, now)
    else {
      waiting.push({ row, history, spills })
      history = emptyHistory()
    }
  }
  merged.chunks = await weighAll(tx, waiting, now)
  return merged
}

/**
 * Returns how often a key without a row was seen before; undefined while the gate holds it back.
 */
function creditOf(
  gate: Gate,
  deltas: SortedDeltas,
  key: Buffer,
  range: readonly [number, number],
): number | undefined {
  const times = timesAtGate(deltas, range)
  if (times === undefined) return 0
  // The delta is a retraction whose original was held back, too.
  if (times === 0) return undefined
  return gate.admit(key.readUInt32BE(0), key.readUInt32BE(4), times)
}

/** Reads the chunks of waiting rows, packs those rows, and returns the chunks to write. */
async function weighAll(tx: Db, waiting: readonly Waiting[], now: number): Promise<MemberChunk[]> {
  const asked = waiting.flatMap(({ row: { key }, spills }) =>
    spills.flatMap((spill) =>
      chunksToRead(spill).map((chunk) => {
        return { key, day: spill.set.day, prefix: spill.set.prefix, chunk, spill }
      }),
    ),
  )
  const contents = new Map<Spill, Buffer[]>()
  for (const { place, content } of await findMemberChunks(tx, asked)) {
    const spill = asked[place]?.spill
    if (!spill) continue
    contents.getOrInsertComputed(spill, () => []).push(content)
  }
  const chunks: MemberChunk[] = []
  for (const { row, history, spills } of waiting) {
    for (const spill of spills) {
      const found = contents.get(spill) ?? []
      chunks.push(...weighSpilled(row.key, history, spill, { found, now }))
    }
    row.content = packHistory(history, now)
  }
  return chunks
}
