import sql from 'sql-template-tag'
import type { ModelReport, OwnTest } from '../verdict/model/figures.ts'
import type { Calibration, ModelFormat } from '../verdict/model/model.ts'
import type { OperatorAction } from './audit-log.ts'
import { lockKeys } from './lock-keys.ts'
import type { Db } from './pool.ts'
import { changesAny, rowOf, rowsOf } from './rows.ts'

/** `candidate`: never active; `retired`: active before. */
type ModelState = 'candidate' | 'active' | 'retired'

export type NewModel = {
  format: ModelFormat
  content: Uint8Array
  calibration: Calibration
  report: ModelReport | null
  /** A description of the model's source. */
  origin: string
  trainedAt: Date
}

/** How many reports of a day (UTC) a model agreed with. */
export type DayAgreement = { day: string; reports: number; agreed: number }

/** A model without its content. */
export type ListedModel = {
  version: number
  format: ModelFormat
  bytes: number
  calibration: Calibration
  report: ModelReport | null
  /** By day, for reports received while it was active; as of the last night. */
  agreement: readonly DayAgreement[]
  /** The last test on the newest mail of the site; null before it. */
  ownTest: OwnTest | null
  origin: string
  state: ModelState
  trainedAt: Date
  promotedAt: Date | null
  promotedBy: string | null
}

/** Stores a model as a candidate and returns its version. Must run in a transaction. */
export async function insertModel(tx: Db, model: NewModel): Promise<number> {
  await lockModels(tx)
  const { rows } = await tx.query<{ version: number }>(
    'select coalesce(max(version), 0) + 1 as version from models',
  )
  const version = rows[0]?.version ?? 1
  await tx.query(sql`
    insert into models (version, format, content, calibration, report, origin, state, trained_at)
    values (${version}, ${model.format}, ${Buffer.from(model.content)},
      ${JSON.stringify(model.calibration)}, ${model.report && JSON.stringify(model.report)},
      ${model.origin}, 'candidate', ${model.trainedAt})`)
  return version
}

const listed = sql`version, format, length(content) as bytes, calibration, report, agreement,
  own_test as "ownTest", origin, state, trained_at as "trainedAt", promoted_at as "promotedAt",
  promoted_by as "promotedBy"`

/** Returns the models, newest first. */
export function listModels(db: Db, limit: number): Promise<ListedModel[]> {
  return rowsOf(db)`
    select ${listed} from models order by version desc limit ${limit}`
}

/** Returns one model without its content. */
export function findModel(db: Db, version: number): Promise<ListedModel | undefined> {
  return rowOf(db)`
    select ${listed} from models where version = ${version}`
}

/** Returns what is needed to apply a model. */
export function findModelContent(
  db: Db,
  version: number,
): Promise<
  { version: number; format: ModelFormat; content: Buffer; calibration: Calibration } | undefined
> {
  return rowOf(db)<{
    version: number
    format: ModelFormat
    content: Buffer
    calibration: Calibration
  }>`select version, format, content, calibration from models where version = ${version}`
}

/** Returns the active version; undefined when there is none. */
export async function findActiveModel(db: Db): Promise<number | undefined> {
  const { rows } = await db.query<{ version: number }>(sql`
    select version from models where state = 'active'`)
  return rows[0]?.version
}

/**
 * Makes a model the active one. Must run in a transaction. Returns the version that was active
 * before; undefined when the model does not exist.
 */
export async function promoteModel(
  tx: Db,
  version: number,
  by: OperatorAction,
): Promise<{ before: number | undefined } | undefined> {
  await lockModels(tx)
  const before = await findActiveModel(tx)
  const model = await findModel(tx, version)
  if (!model) return undefined
  await retireActive(tx)
  await tx.query(sql`
    update models set state = 'active', promoted_at = ${by.at}, promoted_by = ${by.reporterId}
      where version = ${version}`)
  return { before }
}

/**
 * Reverts the last promotion: the model promoted before it becomes active again, or none if there
 * was none. Must run in a transaction. Returns both versions; undefined when no model is active.
 */
export async function rollBackModel(
  tx: Db,
): Promise<{ from: number; to: number | null } | undefined> {
  await lockModels(tx)
  const from = await findActiveModel(tx)
  if (from === undefined) return undefined
  const { rows } = await tx.query<{ version: number }>(sql`
    select before.version from models before join models active on active.state = 'active'
    where before.state = 'retired' and before.promoted_at < active.promoted_at
    order by before.promoted_at desc limit 1`)
  const to = rows[0]?.version ?? null
  await retireActive(tx)
  await tx.query(sql`update models set state = 'active' where version = ${to}`)
  return { from, to }
}

/** Replaces the stored agreement of a model with reports. */
export async function updateAgreement(
  db: Db,
  version: number,
  agreement: readonly DayAgreement[],
): Promise<void> {
  await db.query(sql`
    update models set agreement = ${JSON.stringify(agreement)} where version = ${version}`)
}

/** Stores the result of a test on the newest mail of the site. */
export async function updateOwnTest(db: Db, version: number, test: OwnTest): Promise<void> {
  await db.query(sql`
    update models set own_test = ${JSON.stringify(test)} where version = ${version}`)
}

async function retireActive(tx: Db): Promise<void> {
  await tx.query(sql`update models set state = 'retired' where state = 'active'`)
}

async function lockModels(tx: Db): Promise<void> {
  await tx.query(sql`select pg_advisory_xact_lock(${lockKeys.models})`)
}

/** Whether a model trained at night may be promoted without an operator. */
export async function promotesModels(db: Db): Promise<boolean> {
  const { rows } = await db.query<{ isAutomatic: boolean }>(
    'select promotes_models as "isAutomatic" from installation',
  )
  return rows[0]?.isAutomatic === true
}

/** Allows or forbids that a model is promoted without an operator; false if nothing changed. */
export function setPromotesModels(tx: Db, isAutomatic: boolean): Promise<boolean> {
  return changesAny(tx)`
    update installation set promotes_models = ${isAutomatic}
    where promotes_models <> ${isAutomatic}`
}

/** A report with its verdict and the facts that the verdict is based on. */
export type JudgedReport = {
  id: string
  reporterId: string
  kind: 'spam' | 'phishing' | 'not-spam'
  isRetracted: boolean
  verdictClass: string
  campaignId: string | null
  /** Packed; see `verdict/facts/facts.ts`. */
  facts: Buffer
  symbols: { name: string }[]
  /** The probability that the active model gave; null if none was active. */
  estimated: number | null
}

/**
 * Returns a page of the reports that have facts, ordered by id; `after` is the last id of the
 * previous page. Excludes reports without effect on others, and simulations, which must not train
 * models.
 */
export function listJudgedReports(
  db: Db,
  page: { after: string; limit: number },
): Promise<JudgedReport[]> {
  return rowsOf(db)`
    select reports.id, reports.reporter_id as "reporterId", reports.kind,
      reports.state = 'retracted' as "isRetracted", analyses.verdict_class as "verdictClass",
      counted_reports.campaign_id as "campaignId", analyses.facts,
      coalesce(analyses.judgment #> '{verdict,symbols}', '[]') as symbols,
      (analyses.judgment #>> '{verdict,estimate,probability}')::float8 as estimated
    from reports
      join analyses on analyses.id = reports.id and analyses.shard = reports.shard
      left join counted_reports on counted_reports.id = reports.id
        and counted_reports.shard = reports.shard
    where reports.id > ${page.after} and reports.shadow is null
      and analyses.judgment #>> '{consequence,action}' is distinct from 'simulation'
    order by reports.id limit ${page.limit}`
}
