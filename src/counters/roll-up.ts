import { listDeltas, takeDeltas } from '../db/counter-deltas.ts'
import { type MemberChunk, upsertMemberChunks } from '../db/counter-members.ts'
import { generationOf } from '../db/counter-partitions.ts'
import { addToShard, claimShard } from '../db/counter-shards.ts'
import { type CounterRow, findCounters, upsertCounters } from '../db/counters.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { clearHistory, emptyHistory, packHistory, readHistory } from './packed/history.ts'
import type { Gate, Gates } from './gate.ts'
import { creditLast, mergeDeltas, timesAtGate } from './merge.ts'
import { dayOf, generationsAt, slotOf } from './period.ts'
import { type SortedDeltas, sortDeltas } from './sorted-deltas.ts'
import { weighSpilled } from './spilled-members.ts'

/** What one roll-up did. */
export type RolledUp = { entries: number; keys: number; bytes: number }

const DELTA_ROWS_MAX = 8_192
const DELTA_BYTES_MAX = 8_000_000
const KEYS_AT_ONCE = 4_000

/**
 * Rolls up what waits in a shard, at most 8 MB of it: taken away, added to the counters and to the
 * members, all in one transaction, so that whatever dies, each increment is counted exactly once.
 * Gives undefined at once while somebody else rolls the shard up. Without gates, all keys pass.
 */
export async function rollUp(
  pool: Pool,
  shard: number,
  now: Date,
  gates?: Gates,
): Promise<RolledUp | undefined> {
  let version: number | undefined
  try {
    const done = await inTransaction(pool, async (tx) => {
      version = await claimShard(tx, shard)
      if (version === undefined) return undefined
      const blocks = await takeDeltas(tx, shard, await chooseDeltas(tx, shard))
      if (blocks.length === 0) return { entries: 0, keys: 0, bytes: 0 }
      const deltas = sortDeltas(blocks)
      const gate = deltas.gated.includes(1)
        ? await gates?.open(tx, { shard, version }, slotOf(now))
        : undefined
      const keys = await mergeAll(tx, { deltas, gate, now: slotOf(now) })
      await gate?.save()
      await addToShard(tx, shard, deltas.length, gate?.numbers())
      return { entries: deltas.length, keys, bytes: deltas.bytes.length }
    })
    if (version !== undefined) gates?.keep({ shard, version })
    return done
  } catch (error) {
    gates?.forget(shard)
    throw error
  }
}

async function chooseDeltas(tx: Db, shard: number): Promise<string[]> {
  const ids: string[] = []
  let room = DELTA_BYTES_MAX
  for (const { id, bytes } of await listDeltas(tx, shard, DELTA_ROWS_MAX)) {
    if (ids.length > 0 && bytes > room) break
    room -= bytes
    ids.push(id)
  }
  return ids
}

/** The deltas of some keys: where those of each begin in the order, and of the last end. */
type Stretch = { keys: Buffer; bounds: number[] }

/** What is merged, when it is the slot `now`. */
type Task = { deltas: SortedDeltas; gate: Gate | undefined; now: number }

/**
 * Goes over the keys in their order, a few thousand at a time, and gives how many were written.
 * While the server writes one stretch and reads the next, the one between is merged here.
 */
async function mergeAll(tx: Db, task: Task): Promise<number> {
  const { deltas, now } = task
  let keys = 0
  let written: Promise<void> | undefined
  let stretch = nextStretch(deltas, 0)
  let found = stretch && findRows(tx, stretch, now)
  while (stretch && found) {
    const rows = await found
    const next = nextStretch(deltas, stretch.bounds.at(-1) ?? 0)
    // Failures are met when they are awaited; until then they must not count as unhandled.
    found = next && findRows(tx, next, now)
    found?.catch(ignore)
    const merged = await mergeStretch(tx, task, stretch, rows)
    await written
    written = write(tx, merged)
    written.catch(ignore)
    keys += merged.rows.length
    stretch = next
  }
  await written
  return keys
}

function ignore(): void {
  return undefined
}

async function write(tx: Db, { rows, chunks }: Merged): Promise<void> {
  await Promise.all([upsertCounters(tx, rows), upsertMemberChunks(tx, chunks)])
}

function nextStretch({ order, hi, lo, length }: SortedDeltas, from: number): Stretch | undefined {
  if (from >= length) return undefined
  const keys = Buffer.allocUnsafe(KEYS_AT_ONCE * 8)
  const bounds: number[] = []
  let at = 0
  let [high, low] = [-1, -1]
  let place = from
  for (; place < length; place++) {
    const index = order[place] ?? 0
    if (hi[index] === high && lo[index] === low) continue
    if (bounds.length === KEYS_AT_ONCE) break
    bounds.push(place)
    high = hi[index] ?? 0
    low = lo[index] ?? 0
    at = keys.writeUInt32BE(low, keys.writeUInt32BE(high, at))
  }
  bounds.push(place)
  return { keys: keys.subarray(0, at), bounds }
}

type FoundRow = { generation: number; content: Buffer } | undefined

/** The newest row of each key of a stretch, in their order. */
async function findRows(tx: Db, { keys }: Stretch, now: number): Promise<FoundRow[]> {
  const rows = Array.from<FoundRow>({ length: keys.length / 8 })
  const found = await findCounters(tx, keys, generationsAt(now))
  for (const { hi, lo, ...row } of found) {
    const index = placeOf(keys, hi, lo)
    if ((rows[index]?.generation ?? -1) < row.generation) rows[index] = row
  }
  return rows
}

/** Where a key stands among sorted ones. */
function placeOf(keys: Buffer, hi: number, lo: number): number {
  let [from, to] = [0, keys.length / 8]
  while (from < to) {
    const middle = (from + to) >>> 1
    const high = keys.readUInt32BE(middle * 8)
    if (high < hi || (high === hi && keys.readUInt32BE(middle * 8 + 4) < lo)) from = middle + 1
    else to = middle
  }
  return from
}

type Merged = { rows: CounterRow[]; chunks: MemberChunk[] }

/** A row stays in a generation that is ahead of ours: somebody's clock is, and it is newest. */
async function mergeStretch(
  tx: Db,
  { deltas, gate, now }: Task,
  { keys, bounds }: Stretch,
  found: readonly FoundRow[],
): Promise<Merged> {
  const current = generationOf(dayOf(now))
  const history = emptyHistory()
  const rows: CounterRow[] = []
  const chunks: MemberChunk[] = []
  for (const [index, row] of found.entries()) {
    const key = keys.subarray(index * 8, index * 8 + 8)
    const range = [bounds[index] ?? 0, bounds[index + 1] ?? 0] as const
    const credit = row || !gate ? 0 : creditOf(gate, deltas, key, range)
    if (credit === undefined) continue
    if (row) readHistory(row.content, history)
    else clearHistory(history)
    if (credit > 0) creditLast(history, deltas, range, { credit, now })
    for (const spill of mergeDeltas(history, deltas, range, now)) {
      chunks.push(...(await weighSpilled(tx, key, history, spill, now)))
    }
    const generation = Math.max(current, row?.generation ?? current)
    rows.push({ key, generation, content: packHistory(history, now) })
  }
  return { rows, chunks }
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
