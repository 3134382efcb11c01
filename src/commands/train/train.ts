import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { App } from '../../app.ts'
import { UsageError } from '../../errors.ts'
import { keepModel } from '../../judging/change-model.ts'
import { actingRules, rulesOf } from '../../judging/rules/rule-versions.ts'
import { factDefinitions } from '../../verdict/facts/fact-list.ts'
import { featuresOf, type RowSource } from '../../verdict/model/features.ts'
import { fitSymbols } from '../../verdict/model/unfit-facts.ts'
import { splitKinds, type SplitKind } from '../../verdict/model/split-rows.ts'
import {
  rowKinds,
  rowsAsCsv,
  tellingFeatures,
  type TrainingRow,
} from '../../verdict/model/training-row.ts'
import { type LabeledFolder, readFolders } from './read-files.ts'
import { readReports } from './read-reports.ts'
import { reportText } from './report-text.ts'
import { trainModel } from './train-model.ts'

/** What `train` was asked to do. */
export type TrainRequest = {
  /** Undefined: reports are not learned from. */
  reportDays: number | undefined
  folders: readonly LabeledFolder[]
  split: SplitKind
  seed: number
  /** Where the report is written as JSON besides. */
  out: string | undefined
  /** Where the rows are written; then nothing is trained. */
  rows: string | undefined
}

const DAYS_USUAL = 90
const DAYS_MAX = 400
const DAY_MS = 86_400_000

/** Reads the options. */
export function parseTrain(args: readonly string[]): TrainRequest {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      'from-reports': { type: 'boolean' },
      days: text,
      files: { ...text, multiple: true },
      split: text,
      seed: text,
      out: text,
      rows: text,
    },
  })
  const folders = (values.files ?? []).map(folderOf)
  const fromReports = values['from-reports'] ?? folders.length === 0
  if (!fromReports && values.days !== undefined) {
    throw new UsageError(['--days tells how many days of reports; say --from-reports too.'])
  }
  const split = values.split ?? 'campaign'
  if (!isSplit(split)) throw new UsageError([`--split is ${splitKinds.join(' or ')}.`])
  return {
    reportDays: fromReports ? wholeNumber('--days', values.days, DAYS_USUAL, DAYS_MAX) : undefined,
    folders,
    split,
    seed: wholeNumber('--seed', values.seed, 1, 1_000_000_000),
    out: values.out,
    rows: values.rows,
  }
}

/**
 * Trains a model and keeps it as a candidate; or writes the rows for who trains elsewhere. Returns
 * what to print.
 */
export async function train(
  request: TrainRequest,
  app: Pick<App, 'pool' | 'clock'>,
  tell: (line: string) => void,
): Promise<string> {
  const { rows, sources } = await readRows(request, app, tell)
  const source: RowSource = request.folders.length > 0 ? 'files' : 'reports'
  const definitions = factDefinitions
  // Rules look at what files cannot tell, so their symbols would tell files from reports.
  const rules = source === 'files' ? [] : rulesOf(await actingRules(app.pool), definitions)
  const symbols = fitSymbols(rules)
  if (request.rows !== undefined) {
    const features = tellingFeatures(featuresOf(definitions, symbols, source), rows)
    const labels = { column: 'label', unwanted: '1', wanted: '0' }
    await writeFile(request.rows, rowsAsCsv(features, rows, labels))
    return `Wrote ${rows.length} rows of ${features.length} features to ${request.rows}.`
  }
  const { split, seed } = request
  const training = { definitions, symbols, source, sources, split, seed, tell }
  const made = await trainModel(rows, training)
  const { content, calibration, report } = made
  const at = app.clock()
  const model = { format: 'ydf', content, calibration, report, trainedAt: at } as const
  const origin = `trained from ${sources.join('; ')}`
  const version = await keepModel(app.pool, { ...model, origin }, { at, reporterId: null })
  if (request.out !== undefined) {
    await writeFile(request.out, `${JSON.stringify({ version, ...report }, null, 2)}\n`)
  }
  return [
    reportText(report),
    '',
    `Kept as version ${version}. It acts after "signalpost models promote ${version}".`,
  ].join('\n')
}

async function readRows(
  { reportDays, folders }: TrainRequest,
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
    sources.push(`${files.length} files`)
  }
  return { rows, sources }
}

function folderOf(text: string): LabeledFolder {
  const at = text.lastIndexOf(':')
  const [folder, label] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)]
  const kind = rowKinds.find((one) => one === label)
  if (folder === '' || kind === undefined) {
    throw new UsageError([`--files is DIR:LABEL; a label is ${rowKinds.join(', ')}.`])
  }
  return { folder, kind }
}

function isSplit(text: string): text is SplitKind {
  return splitKinds.some((kind) => kind === text)
}

function wholeNumber(name: string, text: string | undefined, usual: number, max: number): number {
  const number = text === undefined ? usual : Number(text)
  if (Number.isInteger(number) && number > 0 && number <= max) return number
  throw new UsageError([`${name} is a whole number from 1 to ${max}.`])
}
