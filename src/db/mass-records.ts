import sql from 'sql-template-tag'
import type { CorrectedClass } from '../verdict/verdict.ts'
import type { CountedReport } from './counter-rows.ts'
import type { FeedbackKey, FeedbackKind, FeedbackState } from './feedback-reports.ts'
import type { Db } from './pool.ts'
import { isId, isOneOfIds, prepared, preparedRowsOf } from './prepared.ts'
import type { ReportedEvidence } from './reported-evidence.ts'
import type { Report, ReportState } from './reports.ts'
import type { RecipientRole } from '../verdict/choose-contact.ts'
import { rowOf, rowsOf, valuesOf } from './rows.ts'

/**
 * The action under which a retraction by the reporter is recorded, until the retraction is undone
 * or becomes final.
 */
export const OWN_RETRACTION = '00000000-0000-0000-0000-000000000000'

/** A feedback report before an action on its report. */
export type RecordedFeedback = Pick<FeedbackKey, 'number'> & {
  consumerId: string
  kind: FeedbackKind
  /** Absent in what earlier versions recorded, which had no notices about pages. */
  recipientRole?: RecipientRole
  /** As its reporter sees it. */
  state: FeedbackState
  isShadowed: boolean
  dueAt: string | null
  finishedAt: string | null
  incidents: number
  isDigest: boolean
  mergedInto: string | null
  mergedNumber: number | null
  /** Those merged into it, if it was not sent. */
  members: readonly FeedbackKey[]
}

/** What is recorded besides the rows that the database copies itself. */
export type RecordedParts = {
  reportId: string
  feedback: readonly RecordedFeedback[]
  /** In the format of `namedEvidence`; undefined without evidence. */
  evidence: Buffer | undefined
}

/** Records reports as they are, in the transaction that holds and then changes them. */
export async function insertMassRecords(
  tx: Db,
  actionId: string,
  parts: readonly RecordedParts[],
  takenAt: Date,
): Promise<void> {
  if (parts.length === 0) return
  const byId = Object.fromEntries(
    parts.map(({ reportId, feedback, evidence }) => {
      const packed = { evidence: evidence?.toString('base64') ?? null }
      return [reportId, { feedback, ...packed, members: membersIn(feedback) }]
    }),
  )
  const all = JSON.stringify(byId)
  const its = sql`(${all}::jsonb -> reports.id::text)`
  const ids = parts.map(({ reportId }) => reportId)
  await tx.query(sql`
    insert into mass_action_records (action_id, report_id, shard, taken_at, state, kind,
      is_confirmed, shadow, corrected_as, analysis, facts, content, campaign_id, counted, evidence,
      feedback, members)
    select ${actionId}::uuid, reports.id, reports.shard, ${takenAt}::timestamptz, state, kind,
      is_confirmed, shadow, corrected_as,
      case when analyses.id is not null then jsonb_build_object('analyzed_at', analyzed_at,
        'origin_ip', origin_ip, 'origin_confidence', origin_confidence,
        'network_cidr', network_cidr, 'network_asn', network_asn, 'network_name', network_name,
        'network_country', network_country, 'network_abuse', network_abuse,
        'verdict_class', verdict_class, 'verdict_score', verdict_score, 'judgment', judgment,
        'encoding', encoding) end,
      facts, analyses.content, campaign_id, counted_reports.content,
      decode(${its} ->> 'evidence', 'base64'), ${its} -> 'feedback',
      case when jsonb_typeof(${its} -> 'members') = 'array'
        then translate(${its} ->> 'members', '[]"', '{}')::uuid[] end
    from reports
      left join analyses on analyses.id = reports.id and analyses.shard = reports.shard
      left join counted_reports on counted_reports.id = reports.id
        and counted_reports.shard = reports.shard
    where ${isOneOfIds('reports.id', ids)}`)
}

/**
 * Changes what open actions recorded of the feedback of some reports; `change` returns the same
 * object if nothing changes.
 */
export async function amendRecorded(
  tx: Db,
  reportIds: readonly string[],
  change: (key: FeedbackKey, one: RecordedFeedback) => RecordedFeedback,
): Promise<void> {
  if (reportIds.length === 0) return
  const rows = await rowsOf(tx)<
    Pick<OpenRecord, 'reportId' | 'actionId'> & {
      feedback: RecordedFeedback[]
    }
  >`select report_id as "reportId", action_id as "actionId", feedback
    from mass_action_records where ${isOneOfIds('report_id', reportIds)}`
  for (const { reportId, actionId, feedback } of rows) {
    const changed = feedback.map((one) => change({ reportId, number: one.number }, one))
    if (changed.every((one, index) => one === feedback[index])) continue
    await tx.query(sql`
      update mass_action_records
      set feedback = ${JSON.stringify(changed)}::jsonb, members = ${membersIn(changed)}::uuid[]
      where ${isId('report_id', reportId)} and action_id = ${actionId}`)
  }
}

/** The reports whose feedback was merged into some; null if there are none. */
function membersIn(feedback: readonly RecordedFeedback[]): string[] | null {
  const members = feedback.flatMap((one) => one.members.map(({ reportId }) => reportId))
  return members.length > 0 ? members : null
}

/** Deletes records of an action; of reports that it did not change after all. */
export async function removeMassRecords(
  tx: Db,
  actionId: string,
  reportIds: readonly string[],
): Promise<void> {
  if (reportIds.length === 0) return
  await tx.query(sql`delete from mass_action_records
    where ${isOneOfIds('report_id', reportIds)} and action_id = ${actionId}`)
}

/** The record of a report, without its analysis. */
export type MassRecord = {
  takenAt: Date
  state: ReportState
  kind: Report['kind']
  isConfirmed: boolean
  shadow: Report['shadow']
  correctedAs: CorrectedClass | null
  isLookUp: boolean
  campaignId: string | null
  counted: Buffer | null
  evidence: Buffer | null
  feedback: RecordedFeedback[]
  redeemed: Buffer | null
  redeemedAt: Date | null
}

export function findMassRecord(
  tx: Db,
  actionId: string,
  reportId: string,
): Promise<MassRecord | undefined> {
  return rowOf(tx)`
    select taken_at as "takenAt", state, kind, is_confirmed as "isConfirmed", shadow,
      corrected_as as "correctedAs",
      coalesce(analysis #>> '{judgment,consequence,action}' = 'look-up', false) as "isLookUp",
      campaign_id as "campaignId", counted, evidence, feedback, redeemed,
      redeemed_at as "redeemedAt"
    from mass_action_records
    where ${isId('report_id', reportId)} and action_id = ${actionId}`
}

/** An action that can still be undone, and that changed a report. */
export type OpenRecord = Pick<MassRecord, 'takenAt' | 'correctedAs'> & {
  reportId: string
  actionId: string
}

/** Returns the records of reports, the newest of each report last. */
export async function listOpenRecords(db: Db, reportIds: readonly string[]): Promise<OpenRecord[]> {
  if (reportIds.length === 0) return []
  const rows = await preparedRowsOf(db)<OpenRecord>`
    select report_id as "reportId", action_id as "actionId", taken_at as "takenAt",
      corrected_as as "correctedAs"
    from mass_action_records where ${isOneOfIds('report_id', reportIds)}`
  const orderOf = ({ takenAt, actionId }: OpenRecord) => `${takenAt.toISOString()} ${actionId}`
  return rows.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

/**
 * Copies the contents of an earlier record of a report to a later one, and deletes the earlier one:
 * undoing the later action then restores the report as it was before both.
 */
export async function inheritMassRecord(
  tx: Db,
  reportId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await tx.query(sql`
    update mass_action_records as later
    set state = earlier.state, kind = earlier.kind, is_confirmed = earlier.is_confirmed,
      shadow = earlier.shadow, corrected_as = earlier.corrected_as, analysis = earlier.analysis,
      facts = earlier.facts, content = earlier.content, campaign_id = earlier.campaign_id,
      counted = earlier.counted, evidence = earlier.evidence, feedback = earlier.feedback,
      members = earlier.members, taken_at = earlier.taken_at,
      testimonies = earlier.testimonies || later.testimonies
    from mass_action_records as earlier
    where ${isId('later.report_id', reportId)} and later.action_id = ${to}
      and earlier.report_id = later.report_id and earlier.shard = later.shard
      and earlier.action_id = ${from}`)
  await removeMassRecords(tx, from, [reportId])
}

/** Puts a recorded analysis in the place of the present one. */
export async function restoreAnalysis(tx: Db, actionId: string, reportId: string): Promise<void> {
  await tx.query(sql`delete from analyses where ${isId('id', reportId)}`)
  await tx.query(sql`
    insert into analyses (id, shard, analyzed_at, origin_ip, origin_confidence, network_cidr,
      network_asn, network_name, network_country, network_abuse, verdict_class, verdict_score,
      judgment, facts, encoding, content)
    select report_id, shard, (analysis ->> 'analyzed_at')::timestamptz,
      (analysis ->> 'origin_ip')::inet, (analysis ->> 'origin_confidence')::real,
      (analysis ->> 'network_cidr')::cidr, (analysis ->> 'network_asn')::bigint,
      analysis ->> 'network_name', analysis ->> 'network_country', analysis ->> 'network_abuse',
      analysis ->> 'verdict_class', (analysis ->> 'verdict_score')::real, analysis -> 'judgment',
      facts, analysis ->> 'encoding', content
    from mass_action_records
    where ${isId('report_id', reportId)} and action_id = ${actionId} and analysis is not null`)
}

export async function restoreReport(
  tx: Db,
  reportId: string,
  { state, correctedAs }: Pick<MassRecord, 'state' | 'correctedAs'>,
): Promise<void> {
  await tx.query(sql`update reports set state = ${state}, corrected_as = ${correctedAs}
    where ${isId('id', reportId)}`)
}

/** Returns those of some reports whose feedback an action made wait again. */
export async function listFreedMembers(
  tx: Db,
  actionId: string,
  reportIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(tx)<{ members: string[] }>`
    select members from mass_action_records
    where action_id = ${actionId} and members && ${reportIds}::uuid[]`
  return new Set(rows.flatMap(({ members }) => members))
}

/**
 * Adds testimonies to the newest records of reports, and returns the ids of the reports that have
 * one. Those of the other reports take effect now.
 */
export async function deferTestimonies(
  tx: Db,
  testimonies: ReadonlyMap<string, Buffer>,
): Promise<ReadonlySet<string>> {
  const open = await listOpenRecords(tx, [...testimonies.keys()])
  const newest = new Map(open.map(({ reportId, actionId }) => [reportId, actionId]))
  const deferred = new Set<string>()
  for (const [reportId, actionId] of [...newest].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { rowCount } = await tx.query(prepared`
      update mass_action_records set testimonies = testimonies || ${testimonies.get(reportId)}
      where ${isId('report_id', reportId)} and action_id = ${actionId}`)
    // It may have become final in the meantime.
    if (rowCount === 1) deferred.add(reportId)
  }
  return deferred
}

export async function recordRedeemed(
  tx: Db,
  reports: readonly CountedReport[],
  at: Date,
): Promise<void> {
  const open = await listOpenRecords(
    tx,
    reports.map(({ id }) => id),
  )
  const newest = new Map(open.map(({ reportId, actionId }) => [reportId, actionId]))
  for (const { id, content } of reports) {
    const actionId = newest.get(id)
    if (actionId === undefined) continue
    await tx.query(sql`update mass_action_records set redeemed = ${content}, redeemed_at = ${at}
      where ${isId('report_id', id)} and action_id = ${actionId}`)
  }
}

export function listRecorded(db: Db, actionId: string, limit: number): Promise<string[]> {
  return valuesOf(db)`
    select report_id as id from mass_action_records
    where action_id = ${actionId} order by report_id limit ${limit}`
}

/** Lets a retraction by the reporter be final from now on, as if it were long ago. */
export async function outdateOwnRetraction(tx: Db, reportId: string): Promise<void> {
  await tx.query(sql`update mass_action_records set taken_at = ${new Date(0)}
    where ${isId('report_id', reportId)} and action_id = ${OWN_RETRACTION}`)
}

/** Returns some reports that an action changed before an instant, by their ids. */
export async function listRecordedBefore(
  db: Db,
  actionId: string,
  { before, limit }: { before: Date; limit: number },
): Promise<string[]> {
  const rows = await rowsOf(db)<{ id: string }>`
    select report_id as id from mass_action_records
    where action_id = ${actionId} and taken_at <= ${before} order by report_id limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Deletes records, and returns the testimonies that take effect now, in the order of reports. */
export async function takeTestimonies(
  tx: Db,
  reportIds: readonly string[],
  actionId: string | null,
): Promise<ReportedEvidence[]> {
  const rows = await rowsOf(tx)<ReportedEvidence & { takenAt: Date }>`
    delete from mass_action_records
    where ${isOneOfIds('report_id', reportIds)}
      and (${actionId}::uuid is null or action_id = ${actionId}::uuid)
    returning report_id as id, testimonies as content, taken_at as "takenAt"`
  const orderOf = ({ id, takenAt }: (typeof rows)[0]) => `${id} ${takenAt.toISOString()}`
  return rows.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

/** Returns actions that began before an instant and whose records may still exist, oldest first. */
export function listUnsettled(db: Db, before: Date): Promise<{ id: string; isOver: boolean }[]> {
  return rowsOf(db)`
    select id, state <> 'running' as "isOver" from mass_actions
    where started_at < ${before} and settled_at is null and state <> 'undoing'
    order by started_at, id`
}

export async function markSettled(db: Db, id: string, at: Date): Promise<void> {
  await db.query(sql`update mass_actions set settled_at = ${at}
    where id = ${id} and state not in ('running', 'undoing')`)
}

/** Returns waiting evidence, newest first: at most `limit` rows. */
export function listNewestEvidence(
  db: Db,
  limit: number,
): Promise<{ part: number; content: Buffer }[]> {
  return rowsOf(db)`
    select part, content from reputation_evidence order by id desc limit ${limit}`
}
