import { type Db, inTransaction, type Pool } from '../../db/pool.ts'
import { claimEvidence, listEvidence, takeEvidence } from '../../db/reputation-evidence.ts'
import {
  findWholeReputations,
  removeReputations,
  upsertReputations,
  type WholeReputation,
} from '../../db/reputations.ts'
import { packDetail, unpackDetail } from '../../reputation/detail.ts'
import { foldPieces, type Folded, isNothing, type Piece } from '../../reputation/fold.ts'
import { unpackReports, unpackTestified } from '../../reputation/packed-evidence.ts'
import type { Subject } from '../../reputation/subject.ts'
import { KARMA_SHARD } from '../evidence.ts'
import { foldTestimonies } from './fold-testimonies.ts'

/** What one fold did. */
export type FoldDone = { rows: number; bytes: number }

type Gathered = { subject: Subject | undefined; pieces: Piece[] }

const ROWS_MAX = 2_000
/** Some five thousand pieces of evidence: a transaction of half a second. */
const BYTES_MAX = 256_000
const KEYS_AT_ONCE = 1_000

/**
 * Folds what waits in a shard, a bounded part of it: taken away and added to the reputations, or to
 * the karmas, in one transaction. So each piece of evidence counts exactly once, whoever dies when.
 * Undefined at once while somebody else folds the shard.
 */
export async function foldShard(
  pool: Pool,
  shard: number,
  now: Date,
): Promise<FoldDone | undefined> {
  return inTransaction(pool, async (tx) => {
    if (!(await claimEvidence(tx, shard))) return undefined
    const ids = await chooseRows(tx, shard)
    if (ids.length === 0) return { rows: 0, bytes: 0 }
    const contents = await takeEvidence(tx, shard, ids)
    if (shard === KARMA_SHARD) await foldTestimonies(tx, contents.flatMap(unpackTestified), now)
    else await foldSubjects(tx, contents, now)
    const bytes = contents.reduce((sum, { length }) => sum + length, 0)
    return { rows: contents.length, bytes }
  })
}

async function chooseRows(tx: Db, shard: number): Promise<string[]> {
  const ids: string[] = []
  let room = BYTES_MAX
  for (const { id, bytes } of await listEvidence(tx, shard, ROWS_MAX)) {
    if (ids.length > 0 && bytes > room) break
    room -= bytes
    ids.push(id)
  }
  return ids
}

async function foldSubjects(tx: Db, contents: readonly Buffer[], now: Date): Promise<void> {
  const gathered = gather(contents)
  const keys = [...gathered.keys()].sort((a, b) => (a < b ? -1 : 1))
  for (let at = 0; at < keys.length; at += KEYS_AT_ONCE) {
    const some = keys.slice(at, at + KEYS_AT_ONCE)
    const known = await findKnown(tx, some)
    const nothing: bigint[] = []
    const rows = some.flatMap((key): WholeReputation[] => {
      const { subject, pieces } = gathered.get(key) ?? {}
      const before = known.get(key)
      // What was forgotten meanwhile has nothing that could be taken back.
      const own = before?.base ?? subject
      if (!own || !pieces) return []
      const { kind, name } = own
      const { base, detail } = foldPieces(before, { kind, name }, pieces, now)
      // Who took everything back left no name here: not of the author, nor of a link.
      if (isNothing(detail)) nothing.push(key)
      return isNothing(detail) ? [] : [{ base: { ...base, key }, detail: packDetail(detail) }]
    })
    await Promise.all([upsertReputations(tx, rows), removeReputations(tx, nothing)])
  }
}

function gather(contents: readonly Buffer[]): Map<bigint, Gathered> {
  const gathered = new Map<bigint, Gathered>()
  for (const { piece, subjects } of contents.flatMap((content) => unpackReports(content))) {
    for (const { key, subject } of subjects) {
      const one = gathered.get(key)
      if (!one) gathered.set(key, { subject, pieces: [piece] })
      else {
        one.subject ??= subject
        one.pieces.push(piece)
      }
    }
  }
  return gathered
}

async function findKnown(tx: Db, keys: readonly bigint[]): Promise<Map<bigint, Folded>> {
  const found = await findWholeReputations(tx, keys)
  return new Map(
    found.map(({ base, detail }) => [base.key, { base, detail: unpackDetail(detail) }]),
  )
}
