import {
  brierOf,
  calibrationOf,
  type CalibrationBin,
  rocOf,
  type RocPoint,
  type Scored,
  type ThresholdFigures,
  thresholdsOf,
} from './figures.ts'
import type { SplitKind } from './split-rows.ts'
import type { RowKind } from './training-row.ts'

/** How many rows of each kind. */
export type RowCounts = Partial<Record<RowKind, number>>

/** What is known of a model, measured on rows that it never saw. */
export type ModelReport = {
  /** From what it was made, in words. */
  sources: readonly string[]
  split: SplitKind
  seed: number
  rows: { train: RowCounts; calibrate: RowCounts; test: RowCounts; leftOut: number }
  campaigns: number
  features: number
  /** Undefined when the rows of the test are all of one kind. */
  auc?: number
  roc: readonly RocPoint[]
  thresholds: readonly ThresholdFigures[]
  calibration: readonly CalibrationBin[]
  brier: number
  /** How much each feature improved the trees, as a share of all; the greatest first. */
  importance: readonly { feature: string; share: number }[]
}

const THRESHOLDS = [0.5, 0.7, 0.9, 0.95, 0.99]
const IMPORTANCE_MAX = 30

/** Counts rows by their kind. */
export function countKinds(rows: readonly { kind: RowKind }[]): RowCounts {
  const counts: RowCounts = {}
  for (const { kind } of rows) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** The figures of a test. */
export function figuresOf(
  scored: readonly Scored[],
): Pick<ModelReport, 'auc' | 'roc' | 'thresholds' | 'calibration' | 'brier'> {
  const roc = rocOf(scored)
  return {
    ...(roc && { auc: roc.auc }),
    roc: roc?.points ?? [],
    thresholds: thresholdsOf(scored, THRESHOLDS),
    calibration: calibrationOf(scored),
    brier: brierOf(scored),
  }
}

/** Sums of the trees' gains as shares, the greatest first; of many, those that matter. */
export function importanceOf(gains: Readonly<Record<string, number>>): ModelReport['importance'] {
  const all = Object.values(gains).reduce((sum, gain) => sum + gain, 0)
  return Object.entries(gains)
    .map(([feature, gain]) => ({ feature, share: all > 0 ? gain / all : 0 }))
    .sort((a, b) => b.share - a.share || (a.feature < b.feature ? -1 : 1))
    .slice(0, IMPORTANCE_MAX)
}
