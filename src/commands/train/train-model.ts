import type { FactDefinition } from '../../verdict/facts/fact.ts'
import { calibrate, uncalibrated } from '../../verdict/model/calibrate.ts'
import { featuresOf, type RowSource } from '../../verdict/model/features.ts'
import type { Scored } from '../../verdict/model/figures.ts'
import { loadModel } from '../../verdict/model/load-model.ts'
import {
  countKinds,
  figuresOf,
  importanceOf,
  type ModelReport,
} from '../../verdict/model/model-report.ts'
import type { Calibration, Model } from '../../verdict/model/model.ts'
import {
  lotOf,
  splitRows,
  type SplitKind,
  type SplitShares,
} from '../../verdict/model/split-rows.ts'
import {
  isUnwantedKind,
  rowsAsCsv,
  tellingFeatures,
  type TrainingRow,
} from '../../verdict/model/training-row.ts'
import { unwantedLabel } from '../../verdict/model/ydf.ts'
import { UsageError } from '../../errors.ts'
import { growTrees } from './grow-trees.ts'

/** How a model is to be made. */
export type Training = {
  definitions: readonly FactDefinition[]
  /** Those that a model may see. */
  symbols: readonly string[]
  /** From what the rows come; where files are among them, `files`. */
  source: RowSource
  /** The same in words, for the report. */
  sources: readonly string[]
  split: SplitKind
  seed: number
  shares?: SplitShares
  tell: (line: string) => void
}

/** A model nobody has yet, and what is known of it. */
export type TrainedModel = {
  content: Uint8Array
  calibration: Calibration
  report: ModelReport
  features: readonly string[]
}

/** Of fewer rows of either kind, trees would learn the messages by heart. */
export const ROWS_MIN = 20

/**
 * Makes a model of one part of the rows, calibrates it on another, and measures it on the third;
 * what is kept is what was measured. The same rows, in any order, and the same seed give the same
 * model.
 *
 * @throws UsageError when there are too few rows of one kind
 */
export async function trainModel(
  rows: readonly TrainingRow[],
  training: Training,
): Promise<TrainedModel> {
  const { definitions, symbols, source, split, seed, tell } = training
  const parts = splitRows(rows, split, seed, training.shares)
  const train = shuffled(parts.train, seed)
  requireBoth(train)
  const features = tellingFeatures(featuresOf(definitions, symbols, source), train)
  if (features.length === 0) throw new UsageError(['The messages do not differ in any fact.'])
  tell(`Growing trees from ${train.length} rows with ${features.length} features.`)
  const labels = { column: 'label', unwanted: unwantedLabel, wanted: 'wanted' }
  const { content, gains } = await growTrees({
    csv: rowsAsCsv(features, train, labels),
    label: labels.column,
  })
  tell(`Calibrating on ${parts.calibrate.length} rows, measuring on ${parts.test.length}.`)
  const kept = { version: 0, format: 'ydf', content } as const
  const raw = await loadModel({ ...kept, calibration: uncalibrated })
  const calibration = calibrate(scoresOf(raw, parts.calibrate))
  raw.close()
  const model = await loadModel({ ...kept, calibration })
  const figures = figuresOf(scoresOf(model, parts.test))
  model.close()
  const report: ModelReport = {
    sources: training.sources,
    split,
    seed,
    rows: {
      train: countKinds(parts.train),
      calibrate: countKinds(parts.calibrate),
      test: countKinds(parts.test),
      leftOut: parts.leftOut,
    },
    campaigns: new Set(rows.map(({ campaign }) => campaign)).size,
    features: features.length,
    ...figures,
    importance: importanceOf(gains),
  }
  return { content, calibration, report, features }
}

/** What a model says of rows, beside what they are. */
export function scoresOf(model: Model, rows: readonly TrainingRow[]): Scored[] {
  return rows.map(({ facts, symbols, kind }) => ({
    probability: model.apply(facts, symbols),
    isUnwanted: isUnwantedKind(kind),
  }))
}

/** The trees hold back the rows they stop by from the order they come in, so it is made ours. */
function shuffled(rows: readonly TrainingRow[], seed: number): TrainingRow[] {
  return rows
    .map((row) => ({ row, lot: lotOf(JSON.stringify([row.at, row.kind, row.facts]), seed) }))
    .sort((a, b) => a.lot - b.lot)
    .map(({ row }) => row)
}

function requireBoth(rows: readonly TrainingRow[]): void {
  const unwanted = rows.filter(({ kind }) => isUnwantedKind(kind)).length
  const wanted = rows.length - unwanted
  if (Math.min(unwanted, wanted) >= ROWS_MIN) return
  throw new UsageError([
    `To learn from there are ${unwanted} unwanted and ${wanted} wanted messages; at least ` +
      `${ROWS_MIN} of both are needed.`,
  ])
}
