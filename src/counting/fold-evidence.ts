import { findWitnesses, removeOldWitnesses, upsertWitnesses } from '../db/campaigns.ts'
import { noteCampaignEvents } from '../db/campaign-events.ts'
import { listOldest } from '../db/counter-rows.ts'
import { groupedByNode, inShardTransaction, nearShard } from '../db/nodes.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import {
  awaitEvidence,
  claimEvidence,
  type EvidenceBacklog,
  type EvidenceRow,
  insertEvidence,
  listEvidenceBacklogs,
  shardOfPart,
  takeEvidence,
} from '../db/reported-evidence.ts'
import { isDistributed } from '../db/prepared.ts'
import {
  findKarmas,
  findWholeReputations,
  type KarmaRow,
  removeOldReputations,
  removeReputations,
  shardOfSubject,
  upsertKarmas,
  upsertReputations,
  type WholeReputation,
} from '../db/reputations.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { dateOf, DAY_MS, HOUR_MS } from '../durations.ts'
import { complainer } from '../errors.ts'
import type { Logger } from '../log.ts'
import { packDetail, PROVEN_KARMA_MIN, unpackDetail } from '../verdict/reputation/detail.ts'
import type { PackedReport, Testified, TestifiedWhat } from '../verdict/reputation/evidence.ts'
import { type Folded, foldPieces, isEmptyDetail, type Piece } from '../verdict/reputation/fold.ts'
import {
  countComplainants,
  freshKarma,
  type KarmaEvent,
  packWitnesses,
  type Side,
  testify,
  unpackWitnesses,
  withEvent,
  withoutWantedMail,
  type Witness,
} from '../verdict/reputation/karma.ts'
import type { Subject } from '../verdict/reputation/subject.ts'
import { type Clock, type Rounds, runRounds, untilNext, uuidTime } from '../world.ts'
import { circleOfAccount } from './circles.ts'
import {
  type Evidence,
  KARMA_PART,
  noEvidence,
  packEvidence,
  partOf,
  unpackEvidence,
  WHOLE_PART,
} from './evidence.ts'
import { inGroups } from './run-roll-ups.ts'

type Desk = {
  karmas: Map<string, KarmaRow>
  /** The addresses of the reporters in the testimonies. */
  emails: ReadonlyMap<string, string>
  changed: Map<string, KarmaRow>
  /** By campaign; `complainants` is the highest number that `countComplainants` returned so far. */
  witnesses: Map<string, { list: Witness[]; complainants: number }>
}

/**
 * Updates the karma of reporters from testimonies, in their order, and notes the campaigns about
 * which another independent reporter complains.
 */
async function foldTestimonies(
  tx: Db,
  testimonies: readonly Testified[],
  now: Date,
): Promise<void> {
  const campaignIds = [...new Set(testimonies.flatMap(({ campaignId }) => campaignId ?? []))]
  const reporterIds = [...new Set(testimonies.map(({ reporterId }) => reporterId))]
  const [found, emails] = await Promise.all([
    findWitnesses(tx, campaignIds),
    listReporterEmails(tx, reporterIds),
  ])
  const day = dateOf(now)
  const desk: Desk = {
    karmas: new Map(),
    emails,
    changed: new Map(),
    witnesses: new Map(
      found.map(({ campaignId, content, complainants }) => {
        return [campaignId, { list: unpackWitnesses(content), complainants }]
      }),
    ),
  }
  await loadKarmas(tx, desk, testimonies)
  for (const testified of testimonies) hear(desk, testified)
  const byKey = <T>([a]: [string, T], [b]: [string, T]) => (a < b ? -1 : 1)
  const rows = [...desk.witnesses]
    .sort(byKey)
    .map(([campaignId, { list, complainants: before }]) => {
      const complainants = Math.max(before, countComplainants(list))
      return { campaignId, day, content: packWitnesses(list), complainants, before }
    })
  await upsertWitnesses(tx, rows)
  // The first complaint is that of the report itself.
  const joined = rows.filter(({ complainants, before }) => complainants > Math.max(1, before))
  await noteCampaignEvents(
    tx,
    joined.map(({ campaignId }) => campaignId),
    now,
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

/** The sides that testimonies take. A complaint about wanted mail is a complaint, too. */
const sides: Partial<Record<TestifiedWhat, Side>> = {
  ...{ good: 'good', bad: 'bad', withdrawn: 'withdrawn' },
  ...{ doubted: 'doubted', 'not-doubted': 'withdrawn' },
  ...{ 'wanted-mail': 'doubted', 'not-wanted-mail': 'withdrawn' },
}

function hear(desk: Desk, testified: Testified): void {
  const { reporterId, what, at: instant } = testified
  const at = new Date(instant)
  const side = sides[what]
  if (side) takeSide(desk, testified, side)
  if (what === 'not-wanted-mail') {
    const before = karmaRow(desk, reporterId)
    desk.changed.set(reporterId, { ...withoutWantedMail(before, at), reporterId })
  } else if (what === 'wanted-mail' || what === 'retraction' || what === 'overruling') {
    change(desk, reporterId, what, at)
  }
}

function takeSide(desk: Desk, testified: Testified, side: Side): void {
  const { reporterId, campaignId, what, isSupported, karma, at } = testified
  if (campaignId === undefined) return
  const { list = [], complainants = 0 } = desk.witnesses.get(campaignId) ?? {}
  // A doubted complaint about another copy does not replace a statement, nor does its reversal.
  const before = list.find((one) => one.reporterId === reporterId)?.side
  if (what.startsWith('not-') && before !== 'doubted') return
  if (side === 'doubted' && (before === 'good' || before === 'bad')) return
  const isProven = karma >= PROVEN_KARMA_MIN
  const { isVouched, providerId } = karmaRow(desk, reporterId)
  const circle = circleOfAccount(desk.emails.get(reporterId), providerId)
  const signUpDay = Math.floor(uuidTime(reporterId).getTime() / DAY_MS)
  const isYoung = signUpDay >= Math.floor(at / DAY_MS)
  const about = { isProven, isVouched, isSupported, signUpDay, circle, isYoung }
  const settled = testify(list, { reporterId, side, ...about })
  desk.witnesses.set(campaignId, { list: settled.witnesses, complainants })
  for (const id of settled.agreed) change(desk, id, 'agreement', new Date(at))
  for (const id of settled.contradicted) change(desk, id, 'contradiction', new Date(at))
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

/** The parts of evidence that are folded on their own. */
const singleParts: readonly number[] = Array.from({ length: KARMA_PART + 1 }, (_, part) => part)

/**
 * Folds waiting evidence of some parts, up to a limit: deletes it and adds it to the reputations,
 * or to the karma, in one transaction. So each piece of evidence counts exactly once, even after a
 * crash. Whole evidence is folded into all parts; if another process folds one of them, the
 * evidence for that part is stored separately. Leaves out parts that another process folds; returns
 * undefined immediately if no part is left.
 */
export function foldParts(
  pool: Pool,
  parts: readonly number[],
  now: Date,
): Promise<FoldDone | undefined> {
  if (!parts.includes(WHOLE_PART)) return foldClaimed(pool, parts, { own: parts, now })
  // Older testimonies must be folded before those in whole evidence.
  return foldClaimed(pool, [...singleParts, WHOLE_PART], { own: [...parts, KARMA_PART], now })
}

/** Stores whole evidence as evidence of its parts, which are then folded one by one. */
export function splitEvidence(pool: Pool, now: Date): Promise<FoldDone | undefined> {
  return foldClaimed(pool, [WHOLE_PART], { own: [WHOLE_PART], now })
}

/** Claims parts, and folds the waiting rows of those of them that are in `own`. */
function foldClaimed(
  pool: Pool,
  parts: readonly number[],
  { own, now }: { own: readonly number[]; now: Date },
): Promise<FoldDone | undefined> {
  const shard = parts.includes(WHOLE_PART) ? 0 : shardOfPart(parts[0] ?? 0)
  return inShardTransaction(pool, shard, async (tx) => {
    const claimed = await claimEvidence(tx, parts)
    const taken = claimed.filter((part) => own.includes(part))
    if (taken.length === 0) return undefined
    const most = { rowsMax: ROWS_MAX, bytesMax: BYTES_MAX }
    const ids = await listOldest(tx, 'evidence', taken, most)
    if (ids.length === 0) return { rows: 0, bytes: 0 }
    const rows = await takeEvidence(tx, taken, ids)
    const { testimonies, reports } = await splitOff(tx, rows, claimed)
    if (testimonies.length > 0) await foldTestimonies(tx, testimonies, now)
    await foldSubjects(tx, reports, now)
    const bytes = rows.reduce((sum, { content }) => sum + content.length, 0)
    return { rows: rows.length, bytes }
  })
}

/**
 * Returns the evidence in rows that belongs to the claimed parts, in order, and stores the rest
 * under the ids of its rows, so that it keeps its place in the order.
 */
async function splitOff(
  tx: Db,
  rows: readonly EvidenceRow[],
  claimed: readonly number[],
): Promise<Evidence> {
  const all = noEvidence()
  const others = singleParts.filter((part) => !claimed.includes(part))
  const left: EvidenceRow[] = []
  for (const row of rows) {
    const evidence = unpackEvidence(row.part, row.content)
    const isSplit = row.part === WHOLE_PART && others.length > 0
    for (const part of isSplit ? others : []) {
      const content = packEvidence(part, partOf(part, evidence))
      if (content.length > 0) left.push({ ...row, part, content })
    }
    const own = isSplit ? claimed.map((part) => partOf(part, evidence)) : [evidence]
    for (const { testimonies, reports } of own) {
      all.testimonies.push(...testimonies)
      all.reports.push(...reports)
    }
  }
  await insertEvidence(tx, left)
  return all
}

async function foldSubjects(tx: Db, reports: readonly PackedReport[], now: Date): Promise<void> {
  const gathered = gather(reports)
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

function gather(reports: readonly PackedReport[]): Map<bigint, Gathered> {
  const gathered = new Map<bigint, Gathered>()
  for (const { piece, subjects } of reports) {
    for (const { key, subject } of subjects) {
      const one = gathered.getOrInsertComputed(key, () => ({ subject, pieces: [] }))
      one.subject ??= subject
      one.pieces.push(piece)
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

/**
 * Pause in milliseconds between two rounds. Subjects that occur again in the meantime are written
 * once. The judge caches reputations as long.
 */
const PAUSE_MS = 10_000
/** Amount of waiting evidence in bytes above which the next round follows without a pause. */
const BYTES_MANY = 1_000_000

/**
 * Folds waiting evidence, the longest-waiting part first, until closed. May run in several
 * processes; each part is folded by one at a time. A failure is retried in the next round and does
 * not block other parts.
 */
export function runFolds({ pool, clock, log }: { pool: Pool; clock: Clock; log: Logger }): Rounds {
  const complain = complainer(
    { clock, log },
    'Could not add new evidence to the reputations. Will retry.',
  )

  /** Returns the number of bytes that were folded; undefined if no part was free. */
  async function foldSome(parts: readonly number[]): Promise<number | undefined> {
    const isWhole = parts.includes(WHOLE_PART)
    try {
      return (await foldParts(pool, parts, clock()))?.bytes
    } catch (error) {
      if (parts.length === 1 && !isWhole) return void complain(error)
    }
    if (isWhole) await splitEvidence(pool, clock())
    let bytes: number | undefined
    for (const part of isWhole ? singleParts : parts) {
      bytes = ((await foldSome([part])) ?? 0) + (bytes ?? 0)
    }
    return bytes
  }

  /** In a distributed database, each server then folds its own parts. */
  async function listBacklogs(): Promise<EvidenceBacklog[]> {
    const near = nearShard(pool, 0)
    const backlogs = await listEvidenceBacklogs(near)
    if (!isDistributed() || backlogs.every(({ part }) => part !== WHOLE_PART)) return backlogs
    await splitEvidence(pool, clock())
    return (await listEvidenceBacklogs(near)).filter(({ part }) => part !== WHOLE_PART)
  }

  /** Returns how much was folded, and how much is still waiting. */
  async function foldAll(isClosed: () => boolean): Promise<{ folded: number; left: number }> {
    let folded = 0
    let waiting = 0
    for (const near of groupedByNode(pool, await listBacklogs(), ({ part }) => shardOfPart(part))) {
      for (const { items, bytes } of inGroups(near, BYTES_MAX)) {
        if (isClosed()) break
        const done = await foldSome(items.map(({ part }) => part))
        folded += done ?? 0
        if (done !== undefined) waiting += bytes
      }
    }
    return { folded, left: waiting - folded }
  }

  return runRounds(
    async (isClosed) => {
      const { folded, left } = await foldAll(isClosed).catch((error: unknown) => {
        complain(error)
        return { folded: 0, left: 0 }
      })
      return folded > 0 && left >= BYTES_MANY ? 0 : untilNext(PAUSE_MS)
    },
    { keepsAlive: true },
  )
}

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
  const day = dateOf(daysBefore(now, Math.min(WITNESS_DAYS, daysMax)))
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
