import { deferTestimonies, listNewestEvidence } from '../db/mass-records.ts'
import type { Db } from '../db/pool.ts'
import {
  insertEvidence,
  listReportedEvidence,
  replaceReportedEvidence,
  type ReportedEvidence,
  takeReportedEvidence,
} from '../db/reported-evidence.ts'
import { findReputations, shardOfSubject } from '../db/reputations.ts'
import { textHash } from '../pieces/shingles/hash.ts'
import {
  dangerOf,
  isSupported,
  type KeyedSubject,
  leaningOf,
  NAME_BYTES_MAX,
  type PackedReport,
  packReport,
  packTestified,
  type ReportEvidence,
  type Testified,
  TESTIFIED_BYTES,
  type TestifiedWhat,
  unpackReports,
  unpackTestified,
  witnessSideOf,
} from '../verdict/reputation/evidence.ts'
import { sourceId } from '../verdict/reputation/detail.ts'
import type { Piece } from '../verdict/reputation/fold.ts'
import type { Subject } from '../verdict/reputation/subject.ts'
import { shardOf, uuidv7 } from '../world.ts'
import { reputationKey } from './reputation-reader.ts'

/**
 * The part with testimonies about reporters. Parts 0 to 15 are about subjects, by the shard of
 * their keys. A single process folds this part, because agreement involves several reporters.
 */
export const KARMA_PART = 16
/** The evidence as an analysis inserts it, about everything in one row. */
export const WHOLE_PART = 17

/** Why evidence is retracted. The first two reasons reduce the karma of the reporter. */
export type TakenBackFor = 'retraction' | 'overruling' | 'new-analysis'

/** Evidence about reporters and about subjects, in order. */
export type Evidence = { testimonies: Testified[]; reports: PackedReport[] }

/**
 * Inserts the evidence of reports in the transaction that stores their analyses, so that it counts
 * exactly once. Retracts the evidence of an earlier analysis of the same report.
 */
export async function appendEvidence(
  tx: Db,
  reports: readonly ReportEvidence[],
  now: Date,
): Promise<void> {
  if (reports.length === 0) return
  const given = reports.map((report) => {
    const piece = pieceOf(report)
    const parts = piece ? partsOf(answerable(report.subjects, piece), piece) : []
    return { parts, testified: testimonyOf(report) }
  })
  const kept = given.map(({ parts, testified }, index) => {
    const content = packKept(packTestified(testified), parts)
    return { id: reports[index]?.reportId ?? '', content }
  })
  const before = await replaceReportedEvidence(tx, kept)
  const opposites = before.map((one) => oppositeOf(one, 'new-analysis', now))
  const own = given.map(({ parts, testified }, index) => {
    return { reportId: reports[index]?.reportId ?? '', parts, testimonies: [testified] }
  })
  await append(tx, [...opposites, ...own], now)
}

/**
 * Inserts the exact opposite of the evidence of reports, in the caller's transaction. A second call
 * for the same report has no effect. Returns the ids of reports that had evidence.
 */
export async function takeBackEvidence(
  tx: Db,
  reportIds: readonly string[],
  why: TakenBackFor,
  now: Date,
): Promise<string[]> {
  const taken = await takeReportedEvidence(tx, reportIds)
  const opposites = taken.map((one) => oppositeOf(one, why, now))
  await append(tx, opposites, now)
  return taken.map(({ id }) => id)
}

/**
 * Replaces the current evidence of a report by earlier evidence, as returned by `namedEvidence`.
 * Adds no testimony about its reporter.
 */
export async function putBackEvidence(
  tx: Db,
  reportId: string,
  named: Buffer | undefined,
  now: Date,
): Promise<void> {
  const [present] = await takeReportedEvidence(tx, [reportId])
  const parts = named ? unpackReports(named, TESTIFIED_BYTES) : []
  const content = named && packKept(named.subarray(0, TESTIFIED_BYTES), parts)
  if (content) await replaceReportedEvidence(tx, [{ id: reportId, content }])
  if (content ? present?.content.equals(content) : !present) return
  const undone = present ? [{ ...oppositeOf(present, 'new-analysis', now), testimonies: [] }] : []
  await append(tx, [...undone, { reportId, parts, testimonies: [] }], now)
}

/** Maximum number of rows of waiting evidence in which names are searched. */
const WAITING_MAX = 200

/**
 * Returns the current evidence of reports with the names of its subjects. If a reputation consisted
 * only of this evidence and was deleted, the names are needed to put the evidence back.
 */
export async function namedEvidence(
  db: Db,
  reportIds: readonly string[],
): Promise<ReportedEvidence[]> {
  const kept = await listReportedEvidence(db, reportIds)
  const unpacked = kept.map(({ id, content }) => {
    return { id, head: content.subarray(0, TESTIFIED_BYTES), parts: partsIn(content) }
  })
  const keys = new Set(unpacked.flatMap(({ parts }) => parts.flatMap(keysIn)))
  const names = new Map<bigint, Subject>()
  for (const { key, kind, name } of await findReputations(db, [...keys])) {
    names.set(key, { kind, name })
  }
  if (names.size < keys.size) {
    for (const { part, content } of await listNewestEvidence(db, WAITING_MAX)) {
      for (const { subjects } of unpackEvidence(part, content).reports) {
        for (const { key, subject } of subjects)
          if (subject && keys.has(key)) names.set(key, subject)
      }
    }
  }
  return unpacked.map(({ id, head, parts }) => {
    const named = parts.map(({ piece, subjects }) => ({
      piece,
      subjects: subjects.map(({ key }) => ({ key, subject: names.get(key) })),
    }))
    return { id, content: Buffer.concat([head, ...named.map(packReport)]) }
  })
}

/** Lets testimonies that were deferred take effect, in their order. */
export async function appendTestimonies(
  tx: Db,
  deferred: readonly ReportedEvidence[],
  now: Date,
): Promise<void> {
  const testimonies = deferred.flatMap(({ content }) => lasting(unpackTestified(content)))
  await insert(tx, { testimonies, reports: [] }, { first: deferred[0]?.id ?? '', now })
}

/**
 * Leaves out each testimony that the next one reverses, and the reversal. The action to which they
 * belong may have been undone.
 */
function lasting(testimonies: readonly Testified[]): Testified[] {
  return testimonies.reduce<Testified[]>((kept, one) => {
    const last = kept.at(-1)
    return last && reversals[last.what] === one.what ? kept.slice(0, -1) : [...kept, one]
  }, [])
}

export function noEvidence(): Evidence {
  return { testimonies: [], reports: [] }
}

/** What a report adds, or takes back. */
type Statement = {
  reportId: string
  parts: readonly PackedReport[]
  testimonies: readonly Testified[]
}

function packKept(head: Buffer, parts: readonly PackedReport[]): Buffer {
  const bare = parts.map(({ piece, subjects }) =>
    packReport({ piece, subjects: subjects.map(({ key }) => ({ key, subject: undefined })) }),
  )
  return Buffer.concat([head, ...bare])
}

function partsIn(content: Buffer): PackedReport[] {
  return unpackReports(content, TESTIFIED_BYTES)
}

function keysIn({ subjects }: PackedReport): bigint[] {
  return subjects.map(({ key }) => key)
}

const reversals: Partial<Record<TestifiedWhat, TestifiedWhat>> = {
  good: 'withdrawn',
  bad: 'withdrawn',
  doubted: 'not-doubted',
  'wanted-mail': 'not-wanted-mail',
}

function oppositeOf({ id, content }: ReportedEvidence, why: TakenBackFor, now: Date): Statement {
  const [testified] = unpackTestified(content.subarray(0, TESTIFIED_BYTES))
  const parts = partsIn(content).map(({ piece, subjects }) => {
    return { piece: { ...piece, good: -piece.good, bad: -piece.bad }, subjects }
  })
  const testimonies: Testified[] = []
  if (testified) {
    const what = reversals[testified.what]
    if (what) testimonies.push({ ...testified, what })
    if (why !== 'new-analysis') testimonies.push({ ...testified, what: why, at: now.getTime() })
  }
  return { reportId: id, parts, testimonies }
}

/**
 * Inserts evidence. Testimonies about the reporter of a report that an action changed, and that can
 * still be undone, wait until it is final.
 */
async function append(tx: Db, statements: readonly Statement[], now: Date): Promise<void> {
  const said = statements.flatMap(({ reportId, testimonies }) =>
    testimonies.flatMap((one) => (one.what === 'nothing' ? [] : [{ reportId, one }])),
  )
  const packed = new Map(
    [...Map.groupBy(said, ({ reportId }) => reportId)].map(([id, its]) => [
      id,
      Buffer.concat(its.map(({ one }) => packTestified(one))),
    ]),
  )
  const deferred = await deferTestimonies(tx, packed)
  const testimonies = said.flatMap(({ reportId, one }) => (deferred.has(reportId) ? [] : [one]))
  const reports = statements.flatMap(({ parts }) => parts)
  await insert(tx, { testimonies, reports }, { first: statements[0]?.reportId ?? '', now })
}

/** Inserts evidence from reports, of which `first` is one, as one row. */
async function insert(
  tx: Db,
  evidence: Evidence,
  { first, now }: { first: string; now: Date },
): Promise<void> {
  const { testimonies, reports } = evidence
  if (testimonies.length + reports.length === 0) return
  const row = { shard: shardOf(first), part: WHOLE_PART, id: uuidv7(now) }
  await insertEvidence(tx, [{ ...row, content: packEvidence(WHOLE_PART, evidence) }])
}

const LENGTH_BYTES = 4

/**
 * Packs the evidence of one part. Whole evidence begins with the length of its testimonies in
 * bytes.
 */
export function packEvidence(part: number, { testimonies, reports }: Evidence): Buffer {
  const packed = [testimonies.map(packTestified), reports.map(packReport)].flat()
  if (part !== WHOLE_PART) return Buffer.concat(packed)
  const length = Buffer.allocUnsafe(LENGTH_BYTES)
  length.writeUInt32BE(testimonies.length * TESTIFIED_BYTES)
  return Buffer.concat([length, ...packed])
}

/** Unpacks the output of `packEvidence`. */
export function unpackEvidence(part: number, content: Buffer): Evidence {
  if (part === KARMA_PART) return { testimonies: unpackTestified(content), reports: [] }
  if (part !== WHOLE_PART) return { testimonies: [], reports: unpackReports(content) }
  const end = LENGTH_BYTES + content.readUInt32BE()
  return {
    testimonies: unpackTestified(content.subarray(LENGTH_BYTES, end)),
    reports: unpackReports(content, end),
  }
}

export function partOf(part: number, { testimonies, reports }: Evidence): Evidence {
  if (part === KARMA_PART) return { testimonies, reports: [] }
  const own = reports.flatMap(({ piece, subjects }) => {
    const some = subjects.filter(({ key }) => shardOfSubject(key) === part)
    return some.length > 0 ? [{ piece, subjects: some }] : []
  })
  return { testimonies: [], reports: own }
}

function pieceOf(report: ReportEvidence): Piece | undefined {
  const { good, bad } = leaningOf(report)
  if (good + bad === 0) return undefined
  const hash = Number(textHash(`reporter\0${report.sourceId}`) & 0xffffffffn)
  const source = sourceId(hash, report.isVouched)
  const amounts = { karma: report.karma, good, bad, danger: dangerOf(report) }
  return { source, ...amounts, at: report.at.getTime() }
}

/**
 * Returns the subjects to which the evidence applies. If a message links to several sites, the
 * spammer's site is unknown, because phishing also links to the impersonated bank. Bad evidence
 * then counts against the complete links, not against their hosts and domains.
 */
function answerable(subjects: readonly Subject[], { bad }: Piece): readonly Subject[] {
  const sites = subjects.filter(({ kind }) => kind === 'link-domain')
  if (bad === 0 || sites.length <= 1) return subjects
  return subjects.filter(({ kind }) => kind !== 'link-domain' && kind !== 'link-host')
}

/**
 * Splits the evidence by weight: bad evidence counts only in part against relays of the message.
 */
function partsOf(subjects: readonly Subject[], piece: Piece): PackedReport[] {
  const parts = new Map<number, Subject[]>()
  for (const subject of subjects) {
    const share = piece.bad > 0 ? (subject.answers ?? 1) : 1
    parts.set(share, [...(parts.get(share) ?? []), subject])
  }
  parts.delete(0)
  return [...parts].map(([share, some]) => {
    return { piece: { ...piece, bad: piece.bad * share }, subjects: keyed(some) }
  })
}

/** Adds keys to subjects, without duplicates; drops names that are too long. */
function keyed(subjects: readonly Subject[]): KeyedSubject[] {
  const byKey = new Map<bigint, KeyedSubject>()
  for (const subject of subjects) {
    if (subject.name === '' || Buffer.byteLength(subject.name) > NAME_BYTES_MAX) continue
    const key = reputationKey(subject)
    byKey.set(key, { key, subject })
  }
  return [...byKey.values()]
}

/** Minimum confidence of a verdict that reduces the karma of a complaining reporter. */
const WANTED_CONFIDENCE_MIN = 0.9

function testimonyOf(report: ReportEvidence): Testified {
  const { verdict, reportedAs, reporterId, campaignId, karma } = report
  const isComplaintOfWanted =
    reportedAs !== 'not-spam' &&
    verdict.class === 'legitimate' &&
    verdict.confidence >= WANTED_CONFIDENCE_MIN
  const noSide = reportedAs === 'not-spam' ? 'nothing' : 'doubted'
  // A report without a campaign has no other reports to agree with.
  const side = campaignId ? (witnessSideOf(report) ?? noSide) : 'nothing'
  const what = isComplaintOfWanted ? 'wanted-mail' : side
  const at = report.at.getTime()
  return { reporterId, campaignId, what, isSupported: isSupported(report), karma, at }
}
