import { findMemberChunks, type MemberChunk } from '../db/counter-members.ts'
import { generationOf } from '../db/counter-partitions.ts'
import type { CounterRow } from '../db/counters.ts'
import type { Db } from '../db/pool.ts'
import type { Gate } from './gate/gate.ts'
import { creditLast, timesAtGate } from './gate/gated-counts.ts'
import { mergeDeltas, type Spill } from './merge.ts'
import {
  clearHistory,
  emptyHistory,
  type History,
  packHistory,
  readHistory,
} from './packed/history.ts'
import { dayOf } from './period.ts'
import type { SortedDeltas } from './sorted-deltas.ts'
import { chunksToRead, weighSpilled } from './spilled-members.ts'

/** The deltas of some keys: where those of each begin in the order, and of the last end. */
export type Stretch = { keys: Buffer; bounds: number[] }

/** What is merged, when it is the slot `now`. */
export type Task = { deltas: SortedDeltas; gate: Gate | undefined; now: number }

/** The newest row of a key, if it has any. */
export type FoundRow = { generation: number; content: Buffer } | undefined

/**
 * What is to be written, in the order of the keys. Nobody else writes keys of the shard: those
 * without a row have none until we write it.
 */
export type Merged = { inserts: CounterRow[]; updates: CounterRow[]; chunks: MemberChunk[] }

/** A row that is packed when its spilled members are read. */
type Waiting = { row: CounterRow; history: History; spills: readonly Spill[] }

const EMPTY = Buffer.alloc(0)

/**
 * Adds the deltas of a stretch to what was found of its keys. A row stays in a generation that is
 * ahead of ours: somebody's clock is, and it is newest.
 */
export async function mergeStretch(
  tx: Db,
  { deltas, gate, now }: Task,
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
    const credit = before || !gate ? 0 : creditOf(gate, deltas, key, range)
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

/** How often a key without a row was seen before; undefined while the gate holds it back. */
function creditOf(
  gate: Gate,
  deltas: SortedDeltas,
  key: Buffer,
  range: readonly [number, number],
): number | undefined {
  const times = timesAtGate(deltas, range)
  if (times === undefined) return 0
  // What is taken back was held back itself.
  if (times === 0) return undefined
  return gate.admit(key.readUInt32BE(0), key.readUInt32BE(4), times)
}

/** Reads the chunks that waiting rows concern, packs those rows, and gives the chunks to write. */
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
    const those = contents.get(spill) ?? []
    contents.set(spill, those)
    those.push(content)
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
