import { findMemberChunks, type MemberChunk, type MemberSetId } from '../db/counter-members.ts'
import type { Db } from '../db/pool.ts'
import type { Cursor } from './packed/cursor.ts'
import type { History } from './packed/history.ts'
import { isGone, type Member, readMembers, writeMembers } from './packed/members.ts'
import { oldestSlotOf, type Spill, weighMember } from './merge.ts'

/** Members of a chunk, on average; one more member costs rewriting so many. */
const CHUNK_MEMBERS = 64

/**
 * Adds the waiting weights to a spilled set, with what follows for the uniques of the history, and
 * gives the chunks that must be written. Reads only chunks that a weight falls into or that are
 * split: the set grows by linear hashing, a chunk at a time.
 */
export async function weighSpilled(
  tx: Db,
  key: Buffer,
  history: History,
  { set, weights }: Spill,
  now: number,
): Promise<MemberChunk[]> {
  const id: MemberSetId = { key, day: set.day, prefix: set.prefix }
  const before = set.chunks
  const weighed = new Set(weights.map(keyOf)).size
  const membersMax = set.membersTotal + set.members.length + weighed
  const after = Math.max(before, 1, Math.ceil(membersMax / CHUNK_MEMBERS))
  const touched = touchedChunks(weights, before, after)
  const found = touched.length === 0 ? [] : await findMemberChunks(tx, id, touched)
  const stored = found.flatMap(({ content }) => readMembers(content, oldestSlotOf(set, now)))
  const members = new Map([...stored, ...set.members].map((one) => [keyOf(one), one]))
  const sizeBefore = stored.length
  for (const one of weights) {
    const member = members.get(keyOf(one)) ?? { hi: one.hi, lo: one.lo, slots: [], sums: [] }
    members.set(keyOf(one), member)
    weighMember(history, set, member, one)
    if (isGone(member)) members.delete(keyOf(one))
  }
  set.membersTotal += members.size - sizeBefore
  set.members = []
  set.chunks = after
  return packChunks(id, members.values(), { touched, before, after })
}

/** Hashes of different members differ somewhere in 64 bits; a number holds 53, so text. */
function keyOf({ hi, lo }: { hi: number; lo: number }): string {
  return `${hi}:${lo}`
}

/** The stored chunks that are read: those weights fall into, and those that are split. */
function touchedChunks(
  weights: readonly { lo: number }[],
  before: number,
  after: number,
): number[] {
  if (before === 0) return []
  const touched = new Set(weights.map(({ lo }) => chunkOf(lo, before)))
  for (let chunk = before; chunk < after; chunk++) touched.add(ancestorOf(chunk, before))
  return [...touched]
}

function packChunks(
  id: MemberSetId,
  members: Iterable<Member>,
  { touched, before, after }: { touched: readonly number[]; before: number; after: number },
): MemberChunk[] {
  const chunks = new Map<number, Member[]>(touched.map((chunk) => [chunk, []]))
  for (let chunk = before; chunk < after; chunk++) chunks.set(chunk, [])
  for (const member of members) chunks.get(chunkOf(member.lo, after))?.push(member)
  return [...chunks]
    .toSorted(([a], [b]) => a - b)
    .map(([chunk, some]) => ({ ...id, chunk, content: packMembers(some) }))
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
