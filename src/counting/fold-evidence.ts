import { findWitnesses, removeOldWitnesses, upsertWitnesses } from '../db/campaigns.ts'
import { listOldest } from '../db/counter-rows.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import {
  awaitEvidence,
  claimEvidence,
  listEvidenceBacklogs,
  takeEvidence,
} from '../db/reported-evidence.ts'
import {
  findKarmas,
  findWholeReputations,
  type KarmaRow,
  removeOldReputations,
  removeReputations,
  upsertKarmas,
  upsertReputations,
  type WholeReputation,
} from '../db/reputations.ts'
import type { Logger } from '../log.ts'
import { packDetail, PROVEN_KARMA_MIN, unpackDetail } from '../verdict/reputation/detail.ts'
import { type Testified, unpackReports, unpackTestified } from '../verdict/reputation/evidence.ts'
import { type Folded, foldPieces, isEmptyDetail, type Piece } from '../verdict/reputation/fold.ts'
import {
  freshKarma,
  type KarmaEvent,
  packWitnesses,
  testify,
  unpackWitnesses,
  withEvent,
  withoutWantedMail,
  type Witness,
} from '../verdict/reputation/karma.ts'
import type { Subject } from '../verdict/reputation/reputation.ts'
import type { Clock } from '../world.ts'
import { KARMA_SHARD, shardOfSubject } from './evidence.ts'
import { complainer, inGroups, type Rounds, runRounds } from './run-roll-ups.ts'

type Desk = {
  karmas: Map<string, KarmaRow>
  changed: Map<string, KarmaRow>
  witnesses: Map<string, { list: Witness[]; day: string }>
}

/** Updates the karma of reporters from testimonies, in their order. */
async function foldTestimonies(
  tx: Db,
  testimonies: readonly Testified[],
  now: Date,
): Promise<void> {
  const campaignIds = [...new Set(testimonies.flatMap(({ campaignId }) => campaignId ?? []))]
  const found = await findWitnesses(tx, campaignIds)
  const day = now.toISOString().slice(0, 10)
  const desk: Desk = {
    karmas: new Map(),
    changed: new Map(),
    witnesses: new Map(
      found.map(({ campaignId, content }) => [campaignId, { list: unpackWitnesses(content), day }]),
    ),
  }
  await loadKarmas(tx, desk, testimonies)
  for (const testified of testimonies) hear(desk, testified, day)
  const byKey = <T>([a]: [string, T], [b]: [string, T]) => (a < b ? -1 : 1)
  await upsertWitnesses(
    tx,
    [...desk.witnesses]
      .sort(byKey)
      .map(([campaignId, { list }]) => ({ campaignId, day, content: packWitnesses(list) })),
  )
  await upsertKarmas(
    tx,
    [...desk.changed].sort(byKey).map(([, row]) => row),
    now,
  )
}

/**
 * Loads the karma of all reporters in the testimonies, and of earlier witnesses of the same
 * campaigns.
 */
async function loadKarmas(tx: Db, desk: Desk, testimonies: readonly Testified[]): Promise<void> {
  const ids = new Set(testimonies.map(({ reporterId }) => reporterId))
  for (const { list } of desk.witnesses.values()) {
    for (const { reporterId, isSettled } of list) if (!isSettled) ids.add(reporterId)
  }
  for (const row of await findKarmas(tx, [...ids])) desk.karmas.set(row.reporterId, row)
}

function hear(desk: Desk, testified: Testified, day: string): void {
  const { reporterId, campaignId, what, karma, at: instant } = testified
  const at = new Date(instant)
  if (what === 'good' || what === 'bad' || what === 'withdrawn') {
    if (campaignId === undefined) return
    const known = desk.witnesses.get(campaignId)
    const isProven = karma >= PROVEN_KARMA_MIN
    const settled = testify(known?.list ?? [], { reporterId, side: what, isProven })
    desk.witnesses.set(campaignId, { list: settled.witnesses, day })
    for (const id of settled.agreed) change(desk, id, 'agreement', at)
    for (const id of settled.contradicted) change(desk, id, 'contradiction', at)
  } else if (what === 'not-wanted-mail') {
    const before = karmaRow(desk, reporterId)
    desk.changed.set(reporterId, { ...withoutWantedMail(before, at), reporterId })
  } else if (what !== 'nothing') change(desk, reporterId, what, at)
}

function change(desk: Desk, reporterId: string, event: KarmaEvent, at: Date): void {
  const before = karmaRow(desk, reporterId)
  desk.changed.set(reporterId, { ...withEvent(before, event, at), reporterId })
}

function karmaRow(desk: Desk, reporterId: string): KarmaRow {
  const known = desk.changed.get(reporterId) ?? desk.karmas.get(reporterId)
  return known ?? { ...freshKarma(false), reporterId }
}

export type FoldDone = { rows: number; bytes: number }

type Gathered = { subject: Subject | undefined; pieces: Piece[] }

const ROWS_MAX = 2_000
/** Maximum size of evidence folded in one transaction: about 5,000 pieces, half a second. */
const BYTES_MAX = 256_000
const KEYS_AT_ONCE = 1_000

/**
 * Folds waiting evidence of some shards, up to a limit: deletes it and adds it to the reputations,
 * or to the karma, in one transaction. So each piece of evidence counts exactly once, even after a
 * crash. Leaves out shards that another process folds; returns undefined immediately if these are
 * all.
 */
export async function foldShards(
  pool: Pool,
  shards: readonly number[],
  now: Date,
): Promise<FoldDone | undefined> {
  return inTransaction(pool, async (tx) => {
    const claimed = await claimEvidence(tx, shards)
    if (claimed.length === 0) return undefined
    const most = { rowsMax: ROWS_MAX, bytesMax: BYTES_MAX }
    const ids = await listOldest(tx, 'reputation_evidence', claimed, most)
    if (ids.length === 0) return { rows: 0, bytes: 0 }
    const rows = await takeEvidence(tx, claimed, ids)
    const isKarma = ({ shard }: { shard: number }) => shard === KARMA_SHARD
    const testimonies = rows.filter(isKarma).flatMap(({ content }) => unpackTestified(content))
    if (testimonies.length > 0) await foldTestimonies(tx, testimonies, now)
    const ofSubjects = rows.filter((row) => !isKarma(row))
    await foldSubjects(
      tx,
      ofSubjects.map(({ content }) => content),
      now,
    )
    const bytes = rows.reduce((sum, { content }) => sum + content.length, 0)
    return { rows: rows.length, bytes }
  })
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
      // A reputation deleted in the meantime contains no evidence that could be retracted.
      const own = before?.base ?? subject
      if (!own || !pieces) return []
      const { kind, name } = own
      const { base, detail } = foldPieces(before, { kind, name }, pieces, now)
      // If all evidence was retracted, the row is deleted, including the name of the author or
      // link.
      if (isEmptyDetail(detail)) nothing.push(key)
      return isEmptyDetail(detail) ? [] : [{ base: { ...base, key }, detail: packDetail(detail) }]
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

/** Maximum time in milliseconds before waiting evidence is noticed. */
const PAUSE_MS = 500
/**
 * Pause after a round, in milliseconds. Subjects that occur again in the meantime are written once.
 * The judge caches reputations for longer.
 */
const ROUND_PAUSE_MS = 2_000
/** Amount of waiting evidence in bytes above which the next round follows without a pause. */
const BYTES_MANY = 1_000_000

/**
 * Folds waiting evidence, the longest-waiting shard first, until closed. May run in several
 * processes; each shard is folded by one at a time. A failure is retried in the next round and does
 * not block other shards.
 */
export function runFolds({ pool, clock, log }: { pool: Pool; clock: Clock; log: Logger }): Rounds {
  const complain = complainer(
    { clock, log },
    'Could not add new evidence to the reputations. Will retry.',
  )

  /** Returns the number of bytes that were folded; undefined if no shard was free. */
  async function foldSome(shards: readonly number[]): Promise<number | undefined> {
    try {
      return (await foldShards(pool, shards, clock()))?.bytes
    } catch (error) {
      if (shards.length === 1) return void complain(error)
    }
    let bytes: number | undefined
    for (const shard of shards) bytes = ((await foldSome([shard])) ?? 0) + (bytes ?? 0)
    return bytes
  }

  /** Returns how much was folded, and how much is still waiting. */
  async function foldAll(isClosed: () => boolean): Promise<{ folded: number; left: number }> {
    let folded = 0
    let waiting = 0
    for (const { shards, bytes } of inGroups(await listEvidenceBacklogs(pool), BYTES_MAX)) {
      if (isClosed()) break
      const done = await foldSome(shards)
      folded += done ?? 0
      if (done !== undefined) waiting += bytes
    }
    return { folded, left: waiting - folded }
  }

  return runRounds(async (isClosed) => {
    const { folded, left } = await foldAll(isClosed).catch((error: unknown) => {
      complain(error)
      return { folded: 0, left: 0 }
    })
    if (folded === 0) return PAUSE_MS
    return left >= BYTES_MANY ? 0 : ROUND_PAUSE_MS
  })
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/**
 * Number of days without evidence after which a reputation is deleted. A hundredth of the evidence
 * would be left then.
 */
const SILENT_DAYS = 200
/**
 * Reputations with little evidence, which are most of them, are deleted after fewer days. Witnesses
 * of campaigns are deleted after `WITNESS_DAYS`.
 */
const LITTLE_DAYS = 45
const LITTLE = 1
const WITNESS_DAYS = 30
/**
 * Number of slices of the key range. `SLICES_AN_HOUR` slices are cleaned up each hour, so that all
 * of them are cleaned up twice a day.
 */
const SLICES = 256
const SLICES_AN_HOUR = 24
const SLICE = 1n << 56n
const LOWEST = -(1n << 63n)
const STEP_ROWS = 1_000

/**
 * Deletes reputations without recent evidence, in small steps: some of the subjects each hour, a
 * thousand rows at a time, each step under the lock of their shard. Also deletes witnesses of old
 * campaigns. Nothing is kept longer than reports, which are kept for `daysMax` days.
 */
export async function forgetReputations(pool: Pool, now: Date, daysMax: number): Promise<void> {
  const first = (Math.floor(now.getTime() / HOUR_MS) * SLICES_AN_HOUR) % SLICES
  for (let index = 0; index < SLICES_AN_HOUR; index++) {
    await sweep(pool, LOWEST + BigInt((first + index) % SLICES) * SLICE, now, daysMax)
  }
  const day = daysBefore(now, Math.min(WITNESS_DAYS, daysMax)).toISOString().slice(0, 10)
  while ((await removeOldWitnesses(pool, day, STEP_ROWS)) === STEP_ROWS);
}

async function sweep(pool: Pool, from: bigint, now: Date, daysMax: number): Promise<void> {
  const which = {
    from,
    to: from + SLICE - 1n,
    before: daysBefore(now, Math.min(SILENT_DAYS, daysMax)),
    littleBefore: daysBefore(now, Math.min(LITTLE_DAYS, daysMax)),
    littleMax: LITTLE,
    limit: STEP_ROWS,
  }
  let removed: number
  do {
    removed = await inTransaction(pool, async (tx) => {
      await awaitEvidence(tx, shardOfSubject(from))
      return removeOldReputations(tx, which)
    })
  } while (removed === STEP_ROWS)
}

function daysBefore(now: Date, days: number): Date {
  return new Date(now.getTime() - days * DAY_MS)
}
