import {
  listOldest,
  REPORTS,
  takeDeltas,
  takeOldestReports,
  upsertMemberChunks,
} from '../db/counter-rows.ts'
import {
  addToShards,
  claimReports,
  type ClaimedShard,
  claimShards,
  findCounters,
  insertCounters,
  updateCounters,
} from '../db/counters.ts'
import { inShardTransaction } from '../db/nodes.ts'
import type { Db, Pool } from '../db/pool.ts'
import { appendBlocks, packReports } from './count-messages.ts'
import type { Gate, Gates } from './gate.ts'
import { allShards, generationsAt, shardOf, slotOf } from './keys.ts'
import { type FoundRow, type Merged, mergeStretch, type Stretch, type Task } from './merge.ts'
import { sortDeltas, type SortedDeltas } from './sorted-deltas.ts'

export type RolledUp = { entries: number; keys: number; bytes: number }

const DELTA_ROWS_MAX = 8_192
const DELTA_BYTES_MAX = 8_000_000
const KEYS_AT_ONCE = 4_000
/** Number of reports counted in one transaction. They have about 8 MB of deltas. */
const REPORTS_MAX = 5_000

/**
 * Rolls up the waiting deltas of some shards, at most 8 MB: deletes them and adds them to counters
 * and members, all in one transaction. So each increment counts exactly once, even after a crash.
 * With `REPORTS` among the shards, also counts waiting reports, at most 5,000, in all shards; if
 * another process rolls up a shard, their increments for it are appended to its deltas. Leaves out
 * shards that another process rolls up; returns undefined immediately if no shard is left. Without
 * gates, all keys are admitted.
 */
export async function rollUp(
  pool: Pool,
  shards: readonly number[],
  now: Date,
  gates?: Gates,
): Promise<RolledUp | undefined> {
  const hasReports = shards.includes(REPORTS)
  let claimed: readonly ClaimedShard[] = []
  try {
    const done = await inShardTransaction(pool, hasReports ? 0 : (shards[0] ?? 0), async (tx) => {
      const [isFree, free] = await Promise.all([
        hasReports && claimReports(tx),
        claimShards(tx, hasReports ? allShards : shards),
      ])
      claimed = free
      if (claimed.length === 0) return undefined
      const asked = claimed.flatMap(({ shard }) => (shards.includes(shard) ? shard : []))
      const waiting = await takeOldestDeltas(tx, asked)
      const reports = isFree ? await takeReports(tx, claimed, now) : []
      const blocks = [...waiting, ...reports]
      if (blocks.length === 0) return { entries: 0, keys: 0, bytes: 0 }
      const deltas = sortDeltas(blocks)
      const totals = totalsOf(deltas)
      const open = await openGates(tx, { claimed, totals, gates }, slotOf(now))
      const keys = await mergeAll(tx, { deltas, gates: open, now: slotOf(now) })
      for (const gate of open) await gate?.save()
      await addToShards(
        tx,
        claimed.map(({ shard }) => {
          return { shard, deltas: totals[shard]?.deltas ?? 0, gate: open[shard]?.numbers() }
        }),
      )
      return { entries: deltas.length, keys, bytes: deltas.bytes.length }
    })
    for (const one of claimed) gates?.keep(one)
    return done
  } catch (error) {
    for (const shard of shards) gates?.forget(shard)
    throw error
  }
}

async function takeOldestDeltas(tx: Db, shards: readonly number[]): Promise<Buffer[]> {
  if (shards.length === 0) return []
  const most = { rowsMax: DELTA_ROWS_MAX, bytesMax: DELTA_BYTES_MAX }
  return takeDeltas(tx, shards, await listOldest(tx, 'deltas', shards, most))
}

/**
 * Takes the reports that have waited longest. Returns their deltas in the claimed shards, and
 * appends the others to the waiting deltas.
 */
async function takeReports(tx: Db, claimed: readonly ClaimedShard[], now: Date): Promise<Buffer[]> {
  const blocks = packReports(await takeOldestReports(tx, REPORTS_MAX), now)
  const own = new Set(claimed.map(({ shard }) => shard))
  await appendBlocks(
    tx,
    blocks.filter(({ shard }) => !own.has(shard)),
    now,
  )
  return blocks.flatMap(({ shard, content }) => (own.has(shard) ? content : []))
}

/**
 * Appends the increments of waiting reports, at most 5,000, to the waiting deltas of the shards, so
 * that a shard that cannot be rolled up does not block the others.
 */
export async function spreadReports(pool: Pool, now: Date): Promise<void> {
  await inShardTransaction(pool, 0, async (tx) => {
    if (await claimReports(tx)) await takeReports(tx, [], now)
  })
}

/** Number of deltas of each shard, and whether a gate may hold back any of them. */
type Totals = { deltas: number; isGated: boolean }[]

function totalsOf({ hi, gated, length }: SortedDeltas): Totals {
  const totals = allShards.map(() => ({ deltas: 0, isGated: false }))
  for (let index = 0; index < length; index++) {
    const one = totals[shardOf(hi[index] ?? 0)]
    if (!one) continue
    one.deltas++
    one.isGated ||= gated[index] === 1
  }
  return totals
}

/** Opens the gates of the shards that need one; returns them by shard. */
async function openGates(
  tx: Db,
  {
    claimed,
    totals,
    gates,
  }: { claimed: readonly ClaimedShard[]; totals: Totals; gates: Gates | undefined },
  now: number,
): Promise<(Gate | undefined)[]> {
  const open: (Gate | undefined)[] = []
  for (const one of claimed) {
    if (totals[one.shard]?.isGated) open[one.shard] = await gates?.open(tx, one, now)
  }
  return open
}

/**
 * Merges all keys in order, in groups of a few thousand, and returns the number of rows written.
 * Each group is merged here while the database writes the previous group and reads the next.
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
    // Errors are handled at the await; until then they must not count as unhandled rejections.
    found = next && findRows(tx, next, now)
    found?.catch(ignore)
    const merged = await mergeStretch(tx, task, stretch, rows)
    await written
    written = write(tx, merged)
    written.catch(ignore)
    keys += merged.inserts.length + merged.updates.length
    stretch = next
  }
  await written
  return keys
}

function ignore(): void {
  return undefined
}

async function write(tx: Db, { inserts, updates, chunks }: Merged): Promise<void> {
  await Promise.all([
    insertCounters(tx, inserts),
    updateCounters(tx, updates),
    upsertMemberChunks(tx, chunks),
  ])
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

/** Returns the newest row of each key, in order. */
async function findRows(tx: Db, { keys }: Stretch, now: number): Promise<FoundRow[]> {
  const rows = Array.from<FoundRow>({ length: keys.length / 8 })
  const found = await findCounters(tx, keys, generationsAt(now))
  for (const row of found) {
    const index = placeOf(keys, row.hi, row.lo)
    if ((rows[index]?.generation ?? -1) < row.generation) rows[index] = row
  }
  return rows
}

/** Returns the position of a key among sorted keys. */
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
