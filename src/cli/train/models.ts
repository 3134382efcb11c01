import type { OperatorAction } from '../../db/audit-log.ts'
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { findModel, findModelContent, type ListedModel, listModels } from '../../db/models.ts'
import { reasonOf, UsageError } from '../../errors.ts'
import { keepModel, promote, rollBack } from '../../judging/models.ts'
import { factDefinitions } from '../../verdict/facts/facts.ts'
import { strangeFeatures } from '../../verdict/model/features.ts'
import {
  countsText,
  type ModelReport,
  percentText,
  shareText,
} from '../../verdict/model/figures.ts'
import { loadModel, uncalibrated } from '../../verdict/model/load-model.ts'
import { ModelFault } from '../../verdict/model/model.ts'

const FEATURES_SHOWN = 15

/** The report of a model as text for a terminal. */
export function reportText(report: ModelReport): string {
  const { rows } = report
  return [
    `origin        ${report.sources.join('; ')}`,
    `split         by ${report.split}, seed ${report.seed}; ${report.campaigns} campaigns`,
    `trained on    ${countsText(rows.train)}`,
    `calibrated on ${countsText(rows.calibrate)}`,
    `evaluated on  ${countsText(rows.test)}`,
    `left out      ${rows.leftOut}, because their campaigns are in an earlier part`,
    `features      ${report.features}`,
    `ROC AUC       ${report.auc === undefined ? 'unknown' : report.auc.toFixed(4)}`,
    `Brier score   ${report.brier.toFixed(4)}`,
    '',
    'threshold  precision                         recall',
    ...report.thresholds.map(
      ({ threshold, precision, recall }) =>
        `${threshold.toFixed(2).padEnd(11)}${shareText(precision).padEnd(34)}${shareText(recall)}`,
    ),
    '',
    'predicted  mean        actually unwanted',
    ...report.calibration.map(
      ({ from, to, meanPredicted, observed }) =>
        `${`${from.toFixed(1)}–${to.toFixed(1)}`.padEnd(11)}` +
        `${percentText(meanPredicted).padEnd(12)}${shareText(observed)}`,
    ),
    '',
    'ROC: false positive rate → true positive rate',
    ...rocLines(report.roc),
    '',
    'feature importance',
    ...report.importance
      .slice(0, FEATURES_SHOWN)
      .map(({ feature, share }) => `${percentText(share).padStart(7)}  ${feature}`),
  ].join('\n')
}

/** At most twelve points; the admin pages show the whole curve. */
function rocLines(points: ModelReport['roc']): string[] {
  const step = Math.max(1, Math.ceil(points.length / 12))
  return points
    .filter((_, at) => at % step === 0 || at === points.length - 1)
    .map(
      ({ threshold, falsePositives, truePositives }) =>
        `${percentText(falsePositives).padStart(8)} → ${percentText(truePositives).padStart(7)}` +
        `   at ${threshold.toFixed(4)}`,
    )
}

/** The subcommands of `models`. */
export type ModelsRequest =
  | { action: 'list' | 'rollback' }
  | { action: 'show' | 'promote'; version: number }
  | { action: 'import'; file: string }
  | { action: 'export'; version: number; file: string }

type Needs = Pick<App, 'pool' | 'clock'>

const LISTED_MAX = 100
const STRANGE_SHOWN = 5

/** Parses the subcommand and its arguments. */
export function parseModels(args: readonly string[]): ModelsRequest {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { format: { type: 'string' } },
  })
  const [action, what, file, ...rest] = positionals
  if (rest.length > 0) throw misuse()
  if (action === 'import' && what !== undefined && file === undefined) {
    if (values.format === 'catboost') return { action, file: what }
    throw new UsageError(['Use --format catboost. Other formats cannot be imported.'])
  }
  if (values.format !== undefined) throw misuse()
  if (action === 'export' && what !== undefined && file !== undefined) {
    return { action, version: versionOf(what), file }
  }
  if (file !== undefined) throw misuse()
  if ((action === 'list' || action === 'rollback') && what === undefined) return { action }
  if ((action === 'show' || action === 'promote') && what !== undefined) {
    return { action, version: versionOf(what) }
  }
  throw misuse()
}

/** Shows, promotes, rolls back, imports and exports models. Returns the output. */
export async function runModels(request: ModelsRequest, app: Needs): Promise<string> {
  const deed: OperatorAction = { at: app.clock(), reporterId: null }
  switch (request.action) {
    case 'list':
      return list(app)
    case 'show':
      return show(request.version, app)
    case 'promote':
      return promoted(request.version, deed, app)
    case 'rollback':
      return rolledBack(deed, app)
    case 'import':
      return importFile(request.file, deed, app)
    case 'export':
      return exportTo(request.file, request.version, app)
  }
}

function misuse(): UsageError {
  return new UsageError([
    'Use "models list", "models show V", "models promote V", "models rollback",',
    '"models import FILE.json --format catboost" or "models export V FILE".',
  ])
}

function versionOf(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError([`"${text}" is not a version. Use a number such as 1, 2 or 3.`])
}

function noSuch(version: number): UsageError {
  return new UsageError([`There is no version ${version}. "models list" shows the versions.`])
}

async function list({ pool }: Needs): Promise<string> {
  const models = await listModels(pool, LISTED_MAX)
  if (models.length === 0) return 'There are no models yet. Train one with "signalpost train".'
  return models.map(lineOf).join('\n')
}

function lineOf({ version, state, format, report, trainedAt, origin }: ListedModel): string {
  const auc = report?.auc === undefined ? 'AUC –     ' : `AUC ${report.auc.toFixed(4)}`
  const day = trainedAt.toISOString().slice(0, 10)
  return [String(version).padStart(4), state.padEnd(9), format.padEnd(8), day, auc, origin].join(
    '  ',
  )
}

async function show(version: number, { pool }: Needs): Promise<string> {
  const model = await findModel(pool, version)
  if (!model) throw noSuch(version)
  const { slope, intercept } = model.calibration
  return [
    lineOf(model).trimStart(),
    `${model.bytes} bytes; calibrated by ${slope.toFixed(3)} × log odds + ${intercept.toFixed(3)}`,
    '',
    model.report ? reportText(model.report) : 'No evaluation is stored for this model.',
  ].join('\n')
}

async function promoted(version: number, deed: OperatorAction, { pool }: Needs): Promise<string> {
  const done = await promote(pool, version, deed)
  if (done.is === 'unknown') throw noSuch(version)
  if (done.is === 'refused')
    throw new UsageError([`Cannot promote version ${version}: ${done.why}`])
  return `Promoted version ${version}. It takes effect in all processes within two seconds.`
}

async function rolledBack(deed: OperatorAction, { pool }: Needs): Promise<string> {
  const done = await rollBack(pool, deed)
  if (!done) throw new UsageError(['No model is active, so there is no promotion to undo.'])
  if (done.to === null) return `Rolled back version ${done.from}. No model is active now.`
  return `Rolled back version ${done.from}. Version ${done.to} is active again.`
}

async function importFile(file: string, deed: OperatorAction, { pool }: Needs): Promise<string> {
  const content = await readFile(file).catch((error: unknown) => {
    throw new UsageError([`Cannot read ${file}: ${reasonOf(error)}`])
  })
  const kept = { version: 0, format: 'catboost', content, calibration: uncalibrated } as const
  const features = await loadModel(kept).then(
    (model) => model.features,
    (error: unknown) => {
      throw error instanceof ModelFault ? new UsageError([`${file}: ${error.message}`]) : error
    },
  )
  const strange = strangeFeatures(features, factDefinitions)
  if (strange.length > 0) {
    const shown = strange.slice(0, STRANGE_SHOWN).join(', ')
    throw new UsageError([`${file} uses features that do not exist here: ${shown}.`])
  }
  const origin = `imported from CatBoost, ${features.length} features`
  const model = { ...kept, report: null, origin, trainedAt: deed.at }
  const version = await keepModel(pool, model, deed)
  return `Saved as version ${version}. Activate it with "signalpost models promote ${version}".`
}

async function exportTo(file: string, version: number, { pool }: Needs): Promise<string> {
  const kept = await findModelContent(pool, version)
  if (!kept) throw noSuch(version)
  await writeFile(file, kept.content)
  const kind = kept.format === 'ydf' ? 'a zipped YDF model' : 'CatBoost’s JSON'
  return `Wrote version ${version} to ${file}, ${kind}.`
}
