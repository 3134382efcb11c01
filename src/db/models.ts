import type { ModelReport } from '../verdict/model/figures.ts'
import type { Calibration, ModelFormat } from '../verdict/model/model.ts'
import { insertAudit } from './audit-log.ts'
import type { Db } from './pool.ts'

/** Whether a model acts: a candidate never did, a retired one did once. */
type ModelState = 'candidate' | 'active' | 'retired'

/** A model that is to be kept. */
export type NewModel = {
  format: ModelFormat
  content: Uint8Array
  calibration: Calibration
  report: ModelReport | null
  /** Where it comes from, in words. */
  origin: string
  trainedAt: Date
}

/** What is told of a model without its bytes. */
export type ListedModel = {
  version: number
  format: ModelFormat
  bytes: number
  calibration: Calibration
  report: ModelReport | null
  origin: string
  state: ModelState
  trainedAt: Date
  promotedAt: Date | null
  promotedBy: string | null
}

/** When and by whom; null is the command line. */
export type ModelDeed = { at: Date; reporterId: string | null }

/** Held until the transaction ends: versions and states are decided one at a time. */
const MODELS_LOCK = 1_015_001

/** Keeps a model as a candidate, in a transaction, and gives its version. */
export async function insertModel(tx: Db, model: NewModel, deed: ModelDeed): Promise<number> {
  await lockModels(tx)
  const { rows } = await tx.query<{ version: number }>(
    'select coalesce(max(version), 0) + 1 as version from models',
  )
  const version = rows[0]?.version ?? 1
  await tx.query(
    `insert into models (version, format, content, calibration, report, origin, state, trained_at)
     values ($1, $2, $3, $4, $5, $6, 'candidate', $7)`,
    [
      version,
      model.format,
      Buffer.from(model.content),
      JSON.stringify(model.calibration),
      model.report && JSON.stringify(model.report),
      model.origin,
      model.trainedAt,
    ],
  )
  await insertAudit(tx, { ...deed, action: 'add model', detail: `${version}: ${model.origin}` })
  return version
}

/** The models, newest first. */
export async function listModels(db: Db, limit: number): Promise<ListedModel[]> {
  const { rows } = await db.query<ListedModel>(
    `select version, format, length(content) as bytes, calibration, report, origin, state,
       trained_at as "trainedAt", promoted_at as "promotedAt", promoted_by as "promotedBy"
     from models order by version desc limit $1`,
    [limit],
  )
  return rows
}

/** One model without its bytes. */
export async function findModel(db: Db, version: number): Promise<ListedModel | undefined> {
  const { rows } = await db.query<ListedModel>(
    `select version, format, length(content) as bytes, calibration, report, origin, state,
       trained_at as "trainedAt", promoted_at as "promotedAt", promoted_by as "promotedBy"
     from models where version = $1`,
    [version],
  )
  return rows[0]
}

/** What is needed to apply a model. */
export async function findModelContent(
  db: Db,
  version: number,
): Promise<
  { version: number; format: ModelFormat; content: Buffer; calibration: Calibration } | undefined
> {
  const { rows } = await db.query<{
    version: number
    format: ModelFormat
    content: Buffer
    calibration: Calibration
  }>('select version, format, content, calibration from models where version = $1', [version])
  return rows[0]
}

/** The version that acts; undefined when none does. */
export async function findActiveModel(db: Db): Promise<number | undefined> {
  const { rows } = await db.query<{ version: number }>(
    `select version from models where state = 'active'`,
  )
  return rows[0]?.version
}

/** Lets a model act instead of the one that does, in a transaction; false when there is none. */
export async function promoteModel(tx: Db, version: number, deed: ModelDeed): Promise<boolean> {
  await lockModels(tx)
  const before = await findActiveModel(tx)
  const model = await findModel(tx, version)
  if (!model) return false
  await retireActive(tx)
  await tx.query(
    `update models set state = 'active', promoted_at = $2, promoted_by = $3 where version = $1`,
    [version, deed.at, deed.reporterId],
  )
  const detail = before === undefined ? String(version) : `${version} instead of ${before}`
  await insertAudit(tx, { ...deed, action: 'promote model', detail })
  return true
}

/**
 * Takes back the last promotion, in a transaction: the model promoted before acts again, or none
 * when there was none. Says which ones; undefined when none acts.
 */
export async function rollBackModel(
  tx: Db,
  deed: ModelDeed,
): Promise<{ from: number; to: number | null } | undefined> {
  await lockModels(tx)
  const from = await findActiveModel(tx)
  if (from === undefined) return undefined
  const { rows } = await tx.query<{ version: number }>(
    `select before.version from models before join models active on active.state = 'active'
     where before.state = 'retired' and before.promoted_at < active.promoted_at
     order by before.promoted_at desc limit 1`,
  )
  const to = rows[0]?.version ?? null
  await retireActive(tx)
  await tx.query(`update models set state = 'active' where version = $1`, [to])
  const detail = to === null ? `${from}: none acts` : `${from} to ${to}`
  await insertAudit(tx, { ...deed, action: 'roll back model', detail })
  return { from, to }
}

async function retireActive(tx: Db): Promise<void> {
  await tx.query(`update models set state = 'retired' where state = 'active'`)
}

async function lockModels(tx: Db): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1)', [MODELS_LOCK])
}

/** A report that was judged, with what it was judged by. */
export type JudgedReport = {
  id: string
  reporterId: string
  kind: 'spam' | 'phishing' | 'not-spam'
  isRetracted: boolean
  verdictClass: string
  campaignId: string | null
  /** Packed, see `verdict/facts/facts.ts`. */
  facts: Buffer
  symbols: { name: string }[]
}

/**
 * A page of the reports judged by facts, in the order of their ids: those after `after`. Reports
 * without effect on others teach nothing.
 */
export async function listJudgedReports(
  db: Db,
  page: { after: string; limit: number },
): Promise<JudgedReport[]> {
  const { rows } = await db.query<JudgedReport>(
    `select reports.id, reports.reporter_id as "reporterId", reports.kind,
       reports.state = 'retracted' as "isRetracted", analyses.verdict_class as "verdictClass",
       counted_reports.campaign_id as "campaignId", analyses.facts,
       coalesce(analyses.judgment #> '{verdict,symbols}', '[]') as symbols
     from reports
       join analyses on analyses.id = reports.id
       left join counted_reports on counted_reports.id = reports.id
     where reports.id > $1 and analyses.facts is not null and reports.shadow is null
     order by reports.id limit $2`,
    [page.after, page.limit],
  )
  return rows
}
