import { findCounters } from '../../db/counters.ts'
import { listMemberChunks } from '../../db/member-sets.ts'
import type { Db } from '../../db/pool.ts'
import { packKeys, type Prefix, prefixes, wholeOf } from '../keys.ts'
import { add, type Count } from '../packed/count.ts'
import { emptyHistory, readHistory, type MemberSet } from '../packed/history.ts'
import { readMembers } from '../packed/members.ts'
import { dayOf, DAYS_LIVE, generationsAt, slotOf } from '../period.ts'

/** How many different ones were seen with a key in two weeks, of each prefix. */
export type Different = Partial<Record<Prefix, number>>

/** Members that are looked at for one key and prefix: some 20 MB, and a tenth of a second. */
const MEMBERS_MAX = 100_000
const CHUNKS_MAX = MEMBERS_MAX / 16

/**
 * Counts the members of keys over all days of two weeks, each once, which the sum of days cannot
 * say. Exact; where there are too many to look at, the prefix is left out.
 */
export async function countDifferent(
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

/** Those that stand on any day: a set is of one day, and so is each of its chunks. */
function countMembers(packed: readonly Buffer[]): number {
  const different = new Set<string>()
  for (const members of packed.map((bytes) => readMembers(bytes, 0))) {
    for (const { hi, lo, sums } of members) {
      if (sums.reduce<Count>(add, 0) > 0) different.add(`${hi}:${lo}`)
    }
  }
  return different.size
}
