import { listDeltas, takeDeltas } from '../db/counter-deltas.ts'
import { type MemberChunk, upsertMemberChunks } from '../db/counter-members.ts'
import { generationOf } from '../db/counter-partitions.ts'
import { claimShard } from '../db/counter-shards.ts'
import { type CounterRow, findCounters, upsertCounters } from '../db/counters.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import { clearHistory, emptyHistory, packHistory, readHistory } from './history.ts'
import { mergeDeltas } from './merge.ts'
import { dayOf, slotOf } from './period.ts'
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
 * Gives undefined at once while somebody else rolls the shard up.
 */
export async function rollUp(pool: Pool, shard: number, now: Date): Promise<RolledUp | undefined> {
  return inTransaction(pool, async (tx) => {
    if ((await claimShard(tx, shard)) === undefined) return undefined
    const blocks = await takeDeltas(tx, shard, await chooseDeltas(tx, shard))
    if (blocks.length === 0) return { entries: 0, keys: 0, bytes: 0 }
    const deltas = sortDeltas(blocks)
    const keys = await mergeAll(tx, deltas, slotOf(now))
    return { entries: deltas.length, keys, bytes: deltas.bytes.length }
  })
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

/**
 * Goes over the keys in their order, a few thousand at a time. While the server writes one stretch
 * and reads the next, the one between is merged here.
 */
async function mergeAll(tx: Db, deltas: SortedDeltas, now: number): Promise<number> {
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
    const merged = await mergeStretch(tx, deltas, stretch, rows, now)
    await written
    written = write(tx, merged)
    written.catch(ignore)
    keys += rows.length
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
  const generation = generationOf(dayOf(now))
  const rows = Array.from<FoundRow>({ length: keys.length / 8 })
  const found = await findCounters(tx, keys, [generation - 1, generation + 1])
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
  deltas: SortedDeltas,
  { keys, bounds }: Stretch,
  found: readonly FoundRow[],
  now: number,
): Promise<Merged> {
  const current = generationOf(dayOf(now))
  const history = emptyHistory()
  const rows: CounterRow[] = []
  const chunks: MemberChunk[] = []
  for (const [index, row] of found.entries()) {
    const key = keys.subarray(index * 8, index * 8 + 8)
    if (row) readHistory(row.content, history)
    else clearHistory(history)
    const range = [bounds[index] ?? 0, bounds[index + 1] ?? 0] as const
    for (const spill of mergeDeltas(history, deltas, range, now)) {
      chunks.push(...(await weighSpilled(tx, key, history, spill, now)))
    }
    const generation = Math.max(current, row?.generation ?? current)
    rows.push({ key, generation, content: packHistory(history, now) })
  }
  return { rows, chunks }
}
