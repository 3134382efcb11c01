import type { MemberChunk, MemberSetId } from '../db/counter-members.ts'
import type { Cursor } from './packed/cursor.ts'
import type { History } from './packed/history.ts'
import { type Member, readMembers, writeMembers } from './packed/members.ts'
import { addWeight, oldestSlotOf, type Spill } from './merge.ts'

/** Members of a chunk, on average; one more member costs rewriting so many. */
const CHUNK_MEMBERS = 64

/** How many chunks a set has, and will have with the waiting weights: it grows, never shrinks. */
function sizesOf({ set, weights }: Spill): { before: number; after: number } {
  const before = set.chunks
  // Of each member once. Two whose hashes are alike in 53 bits make room for one.
  const weighed = new Set(weights.map(({ hi, lo }) => hi * 2 ** 32 + lo)).size
  const membersMax = set.membersTotal + set.members.length + weighed
  return { before, after: Math.max(before, 1, Math.ceil(membersMax / CHUNK_MEMBERS)) }
}

/**
 * The stored chunks that the waiting weights concern: those that they fall into, and those that
 * are split. The set grows by linear hashing, a chunk at a time.
 */
export function chunksToRead(spill: Spill): number[] {
  const { before, after } = sizesOf(spill)
  if (before === 0) return []
  const touched = new Set(spill.weights.map(({ lo }) => chunkOf(lo, before)))
  for (let chunk = before; chunk < after; chunk++) touched.add(ancestorOf(chunk, before))
  return [...touched]
}

/**
 * Adds the waiting weights to a spilled set, with what follows for the uniques of the history, and
 * gives the chunks that must be written. `found` has the contents of `chunksToRead` that exist.
 */
export function weighSpilled(
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

/** The chunk of a hash among `chunks`: as many low bits as they need, or one less. */
export function chunkOf(hash: number, chunks: number): number {
  const half = highestPowerOf(chunks)
  const chunk = (hash & (half * 2 - 1)) >>> 0
  return chunk < chunks ? chunk : chunk & (half - 1)
}

/** The chunk that a new chunk was split from, among those that were there before. */
function ancestorOf(chunk: number, before: number): number {
  let ancestor = chunk
  while (ancestor >= before) ancestor -= highestPowerOf(ancestor)
  return ancestor
}

function highestPowerOf(number: number): number {
  return 2 ** (31 - Math.clz32(number))
}
