import type { App } from '../../app.ts'
import {
  type DayAgreement,
  findActiveModel,
  findModel,
  findModelContent,
  type ListedModel,
  promotesModels,
  updateAgreement,
} from '../../db/models.ts'
import type { Db } from '../../db/pool.ts'
import { dateOf, DAY_MS, WEEK_MS } from '../../durations.ts'
import { keepModel, promoteAutomatically, rollBackAutomatically } from '../../judging/models.ts'
import { actingRules, rulesOf } from '../../judging/rule-versions.ts'
import { factDefinitions } from '../../verdict/facts/facts.ts'
import { fitSymbols } from '../../verdict/model/features.ts'
import { accuracyOf, CALLED_MIN, percentText, shareOf } from '../../verdict/model/figures.ts'
import { loadModel } from '../../verdict/model/load-model.ts'
import type { Model } from '../../verdict/model/model.ts'
import {
  isUnwantedKind,
  type RowKind,
  rowKinds,
  splitRows,
  type TrainingRow,
} from '../../verdict/model/training.ts'
import { testNewest } from './own-test.ts'
import { readReports } from './read-reports.ts'
import { classRowsMin, hasBothKinds, trainModel } from './train.ts'

type Needs = Pick<App, 'pool' | 'clock'>

const DAYS = 90
/** Minimum number of judged reports for a model. */
const ROWS_MIN = 200
const SEED = 1

/**
 * Stores how the active model agrees with later reports. Trains a model from the judged reports,
 * measures it on campaigns that it never saw, and stores it as a candidate. Tests the active model
 * and the newest candidates on the newest reports. If an operator allowed it, the model is promoted
 * if it is no worse than the active one for any kind of mail, and the active model is rolled back
 * if it agrees with the reports less than it did when it was measured. Returns what was done, in
 * sentences.
 */
export async function trainNightly(app: Needs, tell: (line: string) => void): Promise<string> {
  const now = app.clock()
  const rows = await readReports(app.pool, new Date(now.getTime() - DAYS * DAY_MS), tell)
  const isAutomatic = await promotesModels(app.pool)
  const fallen = await compareActive(rows, app)
  const done: string[] = []
  if (isAutomatic && fallen !== undefined) {
    await rollBackAutomatically(app, fallen)
    done.push(`Rolled back version ${fallen}.`)
  }
  const parts = partsOf(rows, now)
  if (rows.length < ROWS_MIN || !canTrain(parts.learned)) {
    const needed = `At least ${ROWS_MIN} are needed, and ${classRowsMin} wanted and unwanted ones.`
    await testNewest(app, rows)
    return [...done, `${rows.length} reports can be used for training. ${needed}`].join('\n')
  }
  const rules = rulesOf(await actingRules(app.pool), factDefinitions)
  const made = await trainModel(parts.learned, {
    definitions: factDefinitions,
    symbols: fitSymbols(rules),
    source: 'reports',
    sources: [`${rows.length} reports of ${DAYS} days`],
    split: 'campaign',
    seed: SEED,
    tell,
  })
  const { content, calibration } = made
  const candidate = loadModel({ version: 0, format: 'linear', content, calibration })
  const { report } = made
  const kept = { format: 'linear', content, calibration, report, trainedAt: now } as const
  const origin = `trained at night from ${rows.length} reports of ${DAYS} days`
  const version = await keepModel(app.pool, { ...kept, origin }, { at: now, reporterId: null })
  done.push(`Saved as version ${version}.`)
  await testNewest(app, rows)
  const active = await findActiveModel(app.pool)
  const worse = worseKinds(candidate, await load(app.pool, active), parts.unseen)
  const than = active === undefined ? 'no model' : `version ${active}`
  if (worse.length > 0)
    return [...done, `It is worse than ${than} for ${worse.join(', ')}.`].join('\n')
  done.push(`It is no worse than ${than} for any kind of mail.`)
  if (!isAutomatic) return done.join('\n')
  await promoteAutomatically(app, version)
  return [...done, 'Promoted it automatically.'].join('\n')
}

/** The rows to learn from, and those that the model does not see. */
type Parts = { learned: TrainingRow[]; unseen: TrainingRow[] }

function partsOf(rows: readonly TrainingRow[], now: Date): Parts {
  const weekAgo = now.getTime() - WEEK_MS
  const older = rows.filter(({ at }) => at < weekAgo)
  // A young installation has no older reports to learn from.
  const learned = canTrain(older) ? older : [...rows]
  const { train, test } = splitRows(learned, 'campaign', SEED)
  const known = new Set(train.map(({ campaign }) => campaign))
  const isNew = ({ at, campaign }: TrainingRow) => at >= weekAgo && !known.has(campaign)
  const newest = learned === older ? rows.filter(isNew) : []
  return { learned, unseen: [...test, ...newest] }
}

/** Whether a model can be trained on the part of the rows that training uses. */
function canTrain(rows: readonly TrainingRow[]): boolean {
  return hasBothKinds(splitRows(rows, 'campaign', SEED).train)
}

async function load(db: Db, version: number | undefined): Promise<Model | undefined> {
  const kept = version === undefined ? undefined : await findModelContent(db, version)
  return kept && loadModel(kept)
}

/**
 * Returns the kinds of mail for which the candidate is right less often than the active model. It
 * is right about unwanted mail that it calls unwanted, and about wanted mail that it does not call
 * surely unwanted. Without an active model, all unwanted mail is missed and all wanted mail right.
 */
function worseKinds(
  candidate: Model,
  active: Model | undefined,
  rows: readonly TrainingRow[],
): RowKind[] {
  const isRight = (model: Model | undefined, row: TrainingRow) => {
    if (!model) return !isUnwantedKind(row.kind)
    const { probability, isSure } = model.apply(row.facts, row.symbols, row.text)
    return isUnwantedKind(row.kind) ? probability >= CALLED_MIN : !isSure
  }
  return rowKinds.filter((kind) => {
    const its = rows.filter((row) => row.kind === kind)
    const right = (model: Model | undefined) => its.filter((row) => isRight(model, row)).length
    return right(candidate) < right(active)
  })
}

/** Minimum number of reports to compare with what a promoted model said about them. */
const AGREEMENT_ROWS_MIN = 100
/** Loss of accuracy that is certainly no chance. */
const LOSS_MAX = 0.02

/**
 * Stores how the active model agrees with later reports, by day. If that is less often than when it
 * was measured, returns its version and the figures as a sentence.
 */
async function compareActive(
  rows: readonly TrainingRow[],
  { pool }: Needs,
): Promise<string | undefined> {
  const version = await findActiveModel(pool)
  const model = version === undefined ? undefined : await findModel(pool, version)
  if (!model) return undefined
  const agreement = agreementOf(model, rows)
  await updateAgreement(pool, model.version, agreement)
  const fall = fallOf(model, agreement)
  return fall === undefined ? undefined : `${model.version}: ${fall}`
}

/** Compares the reports since the promotion of a model with the probabilities that it gave them. */
function agreementOf({ promotedAt }: ListedModel, rows: readonly TrainingRow[]): DayAgreement[] {
  const since = promotedAt?.getTime() ?? Infinity
  const judged = rows.filter(({ at, estimated }) => estimated !== undefined && at >= since)
  const byDay = Map.groupBy(judged, ({ at }) => dateOf(new Date(at)))
  return [...byDay].map(([day, its]) => {
    const agreed = its.filter(({ estimated = 0, kind }) => {
      return estimated >= CALLED_MIN === isUnwantedKind(kind)
    })
    return { day, reports: its.length, agreed: agreed.length }
  })
}

function fallOf({ report }: ListedModel, agreement: readonly DayAgreement[]): string | undefined {
  const expected = report === null ? undefined : accuracyOf(report)
  if (expected === undefined) return undefined
  const reports = agreement.reduce((sum, day) => sum + day.reports, 0)
  const live = shareOf(
    agreement.reduce((sum, { agreed }) => sum + agreed, 0),
    reports,
  )
  if (reports < AGREEMENT_ROWS_MIN || live.high >= expected - LOSS_MAX) return undefined
  const wanted = percentText(expected)
  return `it agrees with ${percentText(live.share)} of ${reports} reports, not ${wanted}`
}
