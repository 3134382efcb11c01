import type { Db } from '../db/pool.ts'
import {
  insertEvidence,
  replaceReportedEvidence,
  takeReportedEvidence,
} from '../db/reported-evidence.ts'
import { textHash } from '../pieces/shingles/hash.ts'
import {
  type KeyedSubject,
  leaningOf,
  NAME_BYTES_MAX,
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
import type { Piece } from '../verdict/reputation/fold.ts'
import type { Subject } from '../verdict/reputation/reputation.ts'
import { uuidv7 } from '../world.ts'
import { reputationKey } from './reputation-reader.ts'

/** Number of shards of subjects, by the two highest bits of their keys. Fixed in the database. */
const SUBJECT_SHARDS = 4
/**
 * The shard for testimonies about reporters. A single process folds it, because agreement involves
 * several reporters.
 */
export const KARMA_SHARD = SUBJECT_SHARDS

/** Why evidence is retracted. The first two reasons reduce the karma of the reporter. */
export type TakenBackFor = 'retraction' | 'overruling' | 'new-analysis'

/** Evidence to insert, by shard. */
type Writer = { parts: Buffer[][] }

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
    const subjects = piece ? keyed(answerable(report.subjects, piece)) : []
    return { piece, subjects, testified: testimonyOf(report) }
  })
  const kept = given.map(({ piece, subjects, testified }, index) => {
    const bare = subjects.map(({ key }) => ({ key, subject: undefined }))
    const evidence = piece ? packReport({ piece, subjects: bare }) : Buffer.alloc(0)
    const content = Buffer.concat([packTestified(testified), evidence])
    return { id: reports[index]?.reportId ?? '', content }
  })
  const before = await replaceReportedEvidence(tx, kept)
  const writer = newWriter()
  for (const { content } of before) putOpposite(writer, content, 'new-analysis', now)
  for (const one of given) putReport(writer, one)
  await write(tx, writer, now)
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
  const writer = newWriter()
  for (const { content } of taken) putOpposite(writer, content, why, now)
  await write(tx, writer, now)
  return taken.map(({ id }) => id)
}

/** Returns the shard of a subject's key. */
export function shardOfSubject(key: bigint): number {
  return Number(BigInt.asUintN(64, key) >> 62n)
}

function newWriter(): Writer {
  return { parts: Array.from({ length: SUBJECT_SHARDS + 1 }, () => []) }
}

type Put = {
  piece: Piece | undefined
  subjects: readonly KeyedSubject[]
  testified: Testified | undefined
}

function putReport({ parts }: Writer, { piece, subjects, testified }: Put): void {
  if (testified && testified.what !== 'nothing') parts[KARMA_SHARD]?.push(packTestified(testified))
  if (!piece) return
  for (let shard = 0; shard < SUBJECT_SHARDS; shard++) {
    const own = subjects.filter(({ key }) => shardOfSubject(key) === shard)
    if (own.length > 0) parts[shard]?.push(packReport({ piece, subjects: own }))
  }
}

function putOpposite(writer: Writer, content: Buffer, why: TakenBackFor, now: Date): void {
  const [testified] = unpackTestified(content.subarray(0, TESTIFIED_BYTES))
  const [report] = unpackReports(content, TESTIFIED_BYTES)
  const piece = report && { ...report.piece, good: -report.piece.good, bad: -report.piece.bad }
  putReport(writer, { piece, subjects: report?.subjects ?? [], testified: undefined })
  if (!testified) return
  const put = (what: TestifiedWhat) =>
    putReport(writer, { piece: undefined, subjects: [], testified: { ...testified, what } })
  if (testified.what === 'good' || testified.what === 'bad') put('withdrawn')
  if (testified.what === 'wanted-mail') put('not-wanted-mail')
  if (why === 'new-analysis') return
  const blamed = { ...testified, what: why, at: now.getTime() }
  putReport(writer, { piece: undefined, subjects: [], testified: blamed })
}

async function write(tx: Db, { parts }: Writer, now: Date): Promise<void> {
  const rows = parts.flatMap((contents, shard) =>
    contents.length === 0 ? [] : [{ shard, id: uuidv7(now), content: Buffer.concat(contents) }],
  )
  await insertEvidence(tx, rows)
}

function pieceOf(report: ReportEvidence): Piece | undefined {
  const { good, bad } = leaningOf(report)
  if (good + bad === 0) return undefined
  const source = Number(textHash(`reporter\0${report.reporterId}`) & 0xffffffffn)
  return { source, karma: report.karma, good, bad, at: report.at.getTime() }
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
  return { reporterId, campaignId, what, karma, at: report.at.getTime() }
}
