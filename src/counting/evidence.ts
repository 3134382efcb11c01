import type { Db } from '../db/pool.ts'
import {
  insertEvidence,
  replaceReportedEvidence,
  takeReportedEvidence,
} from '../db/reported-evidence.ts'
import { shardOfSubject } from '../db/reputations.ts'
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
import type { Subject } from '../verdict/reputation/reputation.ts'
import { shardOf, uuidv7 } from '../world.ts'
import { reputationKey } from './reputation-reader.ts'

/**
 * The part with testimonies about reporters, after those about subjects, which are the shards of
 * their keys, 0 to 15. A single process folds it, because agreement involves several reporters.
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
    const bare = parts.map(({ piece, subjects }) =>
      packReport({ piece, subjects: subjects.map(({ key }) => ({ key, subject: undefined })) }),
    )
    const content = Buffer.concat([packTestified(testified), ...bare])
    return { id: reports[index]?.reportId ?? '', content }
  })
  const before = await replaceReportedEvidence(tx, kept)
  const evidence = noEvidence()
  for (const { content } of before) addOpposite(evidence, content, 'new-analysis', now)
  for (const one of given) addReport(evidence, one)
  await append(tx, evidence, { ids: kept.map(({ id }) => id), now })
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
  const evidence = noEvidence()
  for (const { content } of taken) addOpposite(evidence, content, why, now)
  const ids = taken.map(({ id }) => id)
  await append(tx, evidence, { ids, now })
  return ids
}

export function noEvidence(): Evidence {
  return { testimonies: [], reports: [] }
}

type Given = { parts: readonly PackedReport[]; testified: Testified | undefined }

function addReport({ testimonies, reports }: Evidence, { parts, testified }: Given): void {
  if (testified && testified.what !== 'nothing') testimonies.push(testified)
  reports.push(...parts)
}

function addOpposite(evidence: Evidence, content: Buffer, why: TakenBackFor, now: Date): void {
  const [testified] = unpackTestified(content.subarray(0, TESTIFIED_BYTES))
  const parts = unpackReports(content, TESTIFIED_BYTES).map(({ piece, subjects }) => {
    return { piece: { ...piece, good: -piece.good, bad: -piece.bad }, subjects }
  })
  addReport(evidence, { parts, testified: undefined })
  if (!testified) return
  const add = (what: TestifiedWhat) => evidence.testimonies.push({ ...testified, what })
  if (testified.what === 'good' || testified.what === 'bad') add('withdrawn')
  if (testified.what === 'wanted-mail') add('not-wanted-mail')
  if (why === 'new-analysis') return
  evidence.testimonies.push({ ...testified, what: why, at: now.getTime() })
}

/** Inserts evidence from reports with these ids, as one row. */
async function append(
  tx: Db,
  evidence: Evidence,
  { ids: [first = ''], now }: { ids: readonly string[]; now: Date },
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

/** Returns what of some evidence belongs to one part. */
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

/** Returns the evidence by its weight: relays of the message answer for a part of it only. */
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
  // A report without a campaign has no other reports to agree with.
  const side = (campaignId && witnessSideOf(report)) || 'nothing'
  const what = isComplaintOfWanted ? 'wanted-mail' : side
  const at = report.at.getTime()
  return { reporterId, campaignId, what, isSupported: isSupported(report), karma, at }
}
