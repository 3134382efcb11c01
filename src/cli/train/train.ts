import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { DAY_MS } from '../../durations.ts'
import { UsageError } from '../../errors.ts'
import { keepModel } from '../../judging/models.ts'
import { actingRules, rulesOf } from '../../judging/rule-versions.ts'
import type { FactDefinition } from '../../verdict/facts/fact.ts'
import { factDefinitions } from '../../verdict/facts/facts.ts'
import { modelFeatures, fitSymbols, type RowSource } from '../../verdict/model/features.ts'
import {
  countKinds,
  figuresOf,
  importanceOf,
  type ModelReport,
  scoresOf,
} from '../../verdict/model/figures.ts'
import { influenceOf, learnLinear } from '../../verdict/model/learn-linear.ts'
import { factInputs, packLinear } from '../../verdict/model/linear.ts'
import { loadModel } from '../../verdict/model/load-model.ts'
import type { Calibration } from '../../verdict/model/model.ts'
import {
  isUnwantedKind,
  numbersOf,
  pseudoRandom,
  rowKinds,
  rowsAsCsv,
  type SplitKind,
  splitKinds,
  splitRows,
  differingFeatures,
  type TrainingRow,
} from '../../verdict/model/training.ts'
import { reportText } from './models.ts'
import { ownTestText, testVersion } from './own-test.ts'
import { type LabeledFolder, readFolders, readReports } from './read-reports.ts'
import { heaviestPieces } from './show-pieces.ts'

export type Training = {
  definitions: readonly FactDefinition[]
  /** The symbols that a model may use. */
  symbols: readonly string[]
  /** The source of the rows; that of the files if any row comes from a file. */
  source: RowSource
  /** The source in words, for the report. */
  sources: readonly string[]
  split: SplitKind
  seed: number
  /** The share of the rows to train on; the others measure the model. */
  trainShare?: number
  tell: (line: string) => void
}

/** A trained model that is not stored yet, and its report. */
export type TrainedModel = {
  content: Uint8Array
  calibration: Calibration
  report: ModelReport
  features: readonly string[]
}

/** Minimum number of rows per class; with fewer, a model would memorize the messages. */
export const classRowsMin = 20

/**
 * Trains a model on one part of the rows and measures it on the other; the stored model is the
 * measured one. The same rows, in any order, and the same seed give the same model.
 *
 * @throws UsageError if one class has too few rows
 */
export async function trainModel(
  rows: readonly TrainingRow[],
  training: Training,
): Promise<TrainedModel> {
  const { definitions, symbols, source, split, seed, tell } = training
  const parts = splitRows(rows, split, seed, training.trainShare)
  const train = inFixedOrder(parts.train, seed)
  requireBoth(train)
  const features = differingFeatures(modelFeatures(definitions, symbols, source), train)
  const hasText = train.some(({ text }) => text.length > 0)
  if (features.length === 0 && !hasText)
    throw new UsageError(['All messages have the same facts, so there is nothing to learn.'])
  tell(`Training on ${train.length} rows with ${features.length} features and the text.`)
  const values = numbersOf(features, train)
  const isOwn = source !== 'other-files'
  const texts = isOwn ? train.map(({ text }) => text) : comparableTexts(train)
  const inputs = train.map(({ kind, campaign }, at) => {
    const facts = factInputs(values[at] ?? noValues)
    return { text: texts[at] ?? noText, kind, campaign, facts }
  })
  const { weights, calibration } = learnLinear(inputs, features, { seed, isOwn })
  const content = packLinear(weights)
  tell(`Evaluating on ${parts.test.length} rows.`)
  const model = loadModel({ version: 0, format: 'linear', content, calibration })
  const report: ModelReport = {
    sources: training.sources,
    split,
    seed,
    rows: {
      train: countKinds(parts.train),
      test: countKinds(parts.test),
      leftOut: parts.leftOut,
    },
    campaigns: new Set(rows.map(({ campaign }) => campaign)).size,
    features: features.length,
    learnedUntil: newestReport(parts.train),
    ...figuresOf(scoresOf(model, parts.test)),
    importance: importanceOf(influenceOf(weights, inputs)),
    pieces: await heaviestPieces(weights, train),
  }
  return { content, calibration, report, features }
}

const noValues = new Float64Array()
const noText = new Uint32Array()

/** The instant of the newest report among rows; 0 if all come from files. */
function newestReport(rows: readonly TrainingRow[]): number {
  const reports = rows.filter(({ reporterId }) => reporterId !== undefined)
  return reports.reduce((max, { at }) => Math.max(max, at), 0)
}

/**
 * The texts of rows, empty for those in a language in which one class has fewer than 20 rows. In
 * such a language, common words would only tell where the mail was collected.
 */
function comparableTexts(rows: readonly TrainingRow[]): Uint32Array[] {
  const languageOf = ({ facts }: TrainingRow) => String(facts.text?.language ?? '')
  const byLanguage = Map.groupBy(rows, languageOf)
  const comparable = [...byLanguage].flatMap(([language, its]) => {
    return hasBothKinds(its) ? [language] : []
  })
  return rows.map((row) => (comparable.includes(languageOf(row)) ? row.text : noText))
}

/** Orders rows by their content, because the result of the training depends on their order. */
function inFixedOrder(rows: readonly TrainingRow[], seed: number): TrainingRow[] {
  return rows
    .map((row) => ({ row, lot: pseudoRandom(JSON.stringify([row.at, row.kind, row.facts]), seed) }))
    .sort((a, b) => a.lot - b.lot)
    .map(({ row }) => row)
}

export function hasBothKinds(rows: readonly TrainingRow[]): boolean {
  const unwanted = rows.filter(({ kind }) => isUnwantedKind(kind)).length
  return Math.min(unwanted, rows.length - unwanted) >= classRowsMin
}

function requireBoth(rows: readonly TrainingRow[]): void {
  if (hasBothKinds(rows)) return
  const unwanted = rows.filter(({ kind }) => isUnwantedKind(kind)).length
  const wanted = rows.length - unwanted
  throw new UsageError([
    `There are ${unwanted} unwanted and ${wanted} wanted messages to train on. At least ` +
      `${classRowsMin} of both are needed.`,
  ])
}

export type TrainRequest = {
  /** Undefined if reports are not used. */
  reportDays: number | undefined
  folders: readonly LabeledFolder[]
  isOwnMail: boolean
  split: SplitKind
  seed: number
  /** A file for a JSON copy of the report. */
  out: string | undefined
  /** A file for the rows; if set, nothing is trained. */
  rows: string | undefined
  /** Whether to do what is done every night; excludes all other options. */
  isNightly: boolean
}

const DAYS_USUAL = 90
const DAYS_MAX = 400

export function parseTrain(args: readonly string[]): TrainRequest {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      'from-reports': { type: 'boolean' },
      days: text,
      files: { ...text, multiple: true },
      'own-mail': { type: 'boolean' },
      split: text,
      seed: text,
      out: text,
      rows: text,
      nightly: { type: 'boolean' },
    },
  })
  const isNightly = values.nightly === true
  if (isNightly && Object.keys(values).length > 1) {
    throw new UsageError(['--nightly excludes all other options.'])
  }
  const folders = (values.files ?? []).map(folderOf)
  const fromReports = values['from-reports'] ?? folders.length === 0
  if (!fromReports && values.days !== undefined) {
    throw new UsageError(['--days works only together with --from-reports.'])
  }
  if (folders.length === 0 && values['own-mail'] !== undefined) {
    throw new UsageError(['--own-mail works only together with --files.'])
  }
  const split = values.split ?? 'campaign'
  if (!isSplit(split)) throw new UsageError([`--split must be ${splitKinds.join(' or ')}.`])
  return {
    reportDays: fromReports ? wholeNumber('--days', values.days, DAYS_USUAL, DAYS_MAX) : undefined,
    folders,
    isOwnMail: values['own-mail'] === true,
    split,
    seed: wholeNumber('--seed', values.seed, 1, 1_000_000_000),
    out: values.out,
    rows: values.rows,
    isNightly,
  }
}

/**
 * Trains a model and stores it as a candidate, or only writes the rows to a file. Returns the
 * output.
 */
export async function train(
  request: TrainRequest,
  app: Pick<App, 'pool' | 'clock'>,
  tell: (line: string) => void,
): Promise<string> {
  const { rows, sources } = await readRows(request, app, tell)
  const fromFiles: RowSource = request.isOwnMail ? 'own-files' : 'other-files'
  const source: RowSource = request.folders.length > 0 ? fromFiles : 'reports'
  const definitions = factDefinitions
  // Rules use facts that files do not have, so their symbols would distinguish files from reports.
  const isReports = source === 'reports'
  const rules = isReports ? rulesOf(await actingRules(app.pool), definitions) : []
  const symbols = fitSymbols(rules)
  if (request.rows !== undefined) {
    const features = differingFeatures(modelFeatures(definitions, symbols, source), rows)
    const labels = { column: 'label', unwanted: '1', wanted: '0' }
    await writeFile(request.rows, rowsAsCsv(features, rows, labels))
    return `Wrote ${rows.length} rows of ${features.length} features to ${request.rows}.`
  }
  const { split, seed } = request
  const training = { definitions, symbols, source, sources, split, seed, tell }
  const made = await trainModel(rows, training)
  const { content, calibration, report } = made
  const at = app.clock()
  const model = { format: 'linear', content, calibration, report, trainedAt: at } as const
  const origin = `trained from ${sources.join('; ')}`
  const version = await keepModel(app.pool, { ...model, origin }, { at, reporterId: null })
  if (request.out !== undefined) {
    await writeFile(request.out, `${JSON.stringify({ version, ...report }, null, 2)}\n`)
  }
  return [
    reportText(report),
    '',
    ownTestText(await testVersion(version, app)),
    '',
    `Saved as version ${version}. Activate it with "signalpost models promote ${version}".`,
  ].join('\n')
}

async function readRows(
  { reportDays, folders, isOwnMail }: TrainRequest,
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
  tell: (line: string) => void,
): Promise<{ rows: TrainingRow[]; sources: string[] }> {
  const rows: TrainingRow[] = []
  const sources: string[] = []
  if (reportDays !== undefined) {
    const since = new Date(clock().getTime() - reportDays * DAY_MS)
    const reports = await readReports(pool, since, tell)
    rows.push(...reports)
    sources.push(`${reports.length} reports of ${reportDays} days`)
  }
  if (folders.length > 0) {
    const files = await readFolders(folders, tell)
    rows.push(...files)
    sources.push(`${files.length} files of ${isOwnMail ? 'this site' : 'other mail'}`)
  }
  return { rows, sources }
}

function folderOf(text: string): LabeledFolder {
  const at = text.lastIndexOf(':')
  const [folder, label] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
  const kind = rowKinds.find((one) => one === label)
  if (folder === '' || kind === undefined) {
    throw new UsageError([
      `--files must have the form DIR:LABEL. The labels are ${rowKinds.join(', ')}.`,
    ])
  }
  return { folder, kind }
}

function isSplit(text: string): text is SplitKind {
  return splitKinds.some((kind) => kind === text)
}

function wholeNumber(name: string, text: string | undefined, usual: number, max: number): number {
  const number = text === undefined ? usual : Number(text)
  if (Number.isInteger(number) && number > 0 && number <= max) return number
  throw new UsageError([`${name} must be a whole number from 1 to ${max}.`])
}
