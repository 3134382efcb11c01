import type { Model } from './model.ts'
import {
  isUnwantedKind,
  type RowKind,
  rowKinds,
  type SplitKind,
  type TrainingRow,
} from './training.ts'

/** Formats a share: `99.1 %`. */
export function percentText(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}

/** Formats a share with its confidence interval: `99.1 % (97.0 to 99.7; 212 of 214)`. */
export function shareText({ hits, of, share, low, high }: Share): string {
  if (of === 0) return 'none'
  const interval = `${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)}`
  return `${percentText(share)} (${interval}; ${hits} of ${of})`
}

/** Formats the number of rows of each kind: `30 phishing, 20 ham`. */
export function countsText(counts: RowCounts): string {
  const parts = rowKinds.flatMap((kind) => (counts[kind] ? [`${counts[kind]} ${kind}`] : []))
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

/** What a model returned for a message, and the true label. */
export type Scored = { probability: number; isUnwanted: boolean; isSure?: boolean }

/** A point of the receiver operating characteristic (ROC): shares, 0 to 1. */
export type RocPoint = { threshold: number; falsePositives: number; truePositives: number }

/** A share with its 95 % confidence interval. */
export type Share = { hits: number; of: number; share: number; low: number; high: number }

/** Precision and recall when every message at or above a threshold is called unwanted. */
export type ThresholdFigures = { threshold: number; precision: Share; recall: Share }

/**
 * The messages whose probability lies in one tenth of the range, and the share of them that was
 * unwanted.
 */
export type CalibrationBin = { from: number; to: number; meanPredicted: number; observed: Share }

/** What the model says about each row, with the row's label. */
export function scoresOf(model: Model, rows: readonly TrainingRow[]): Scored[] {
  return rows.map(({ facts, symbols, text, kind }) => {
    const { probability, isSure } = model.apply(facts, symbols, text)
    return { probability, isSure, isUnwanted: isUnwantedKind(kind) }
  })
}

const CURVE_POINTS_MAX = 60
const Z_95 = 1.959964

/**
 * Returns a share with its Wilson score interval (1927), which also holds for small samples and
 * extreme shares. For 0 rows, the interval is 0 to 1.
 */
export function shareOf(hits: number, of: number): Share {
  if (of === 0) return { hits, of, share: 0, low: 0, high: 1 }
  const share = hits / of
  const squared = Z_95 ** 2
  const middle = share + squared / (2 * of)
  const spread = Z_95 * Math.sqrt((share * (1 - share) + squared / (4 * of)) / of)
  const whole = 1 + squared / of
  return {
    hits,
    of,
    share,
    low: hits === 0 ? 0 : (middle - spread) / whole,
    high: hits === of ? 1 : (middle + spread) / whole,
  }
}

/**
 * Returns the ROC curve and the area below it: the probability that an unwanted message gets a
 * higher score than a wanted one, with ties counted half. Undefined unless there are messages of
 * both kinds.
 */
export function rocOf(scored: readonly Scored[]): { auc: number; points: RocPoint[] } | undefined {
  const unwanted = scored.filter(({ isUnwanted }) => isUnwanted).length
  const wanted = scored.length - unwanted
  if (unwanted === 0 || wanted === 0) return undefined
  const points: RocPoint[] = [{ threshold: 1, falsePositives: 0, truePositives: 0 }]
  let auc = 0
  let [hits, alarms] = [0, 0]
  for (const [threshold, group] of groupsByProbability(scored)) {
    const newHits = group.filter(({ isUnwanted }) => isUnwanted).length
    const newAlarms = group.length - newHits
    auc += (newAlarms / wanted) * ((hits + newHits / 2) / unwanted)
    hits += newHits
    alarms += newAlarms
    points.push({ threshold, falsePositives: alarms / wanted, truePositives: hits / unwanted })
  }
  return { auc, points: thinned(points) }
}

function groupsByProbability(scored: readonly Scored[]): [number, Scored[]][] {
  const groups = Map.groupBy(scored, ({ probability }) => probability)
  return [...groups].sort(([a], [b]) => b - a)
}

/** Keeps only the corners of the curve; of more than 60 corners, 60 at equal steps. */
function thinned(points: readonly RocPoint[]): RocPoint[] {
  const corners = points.filter((point, at) => {
    const [before, after] = [points[at - 1], points[at + 1]]
    return !before || !after || turns(before, point, after)
  })
  if (corners.length <= CURVE_POINTS_MAX) return corners
  const step = (corners.length - 1) / (CURVE_POINTS_MAX - 1)
  const wanted = Array.from({ length: CURVE_POINTS_MAX }, (_, n) => Math.round(n * step))
  return wanted.flatMap((at) => corners[at] ?? [])
}

function turns(a: RocPoint, b: RocPoint, c: RocPoint): boolean {
  const flat = a.truePositives === b.truePositives && b.truePositives === c.truePositives
  const steep = a.falsePositives === b.falsePositives && b.falsePositives === c.falsePositives
  return !flat && !steep
}

export function thresholdsOf(
  scored: readonly Scored[],
  thresholds: readonly number[],
): ThresholdFigures[] {
  const unwanted = scored.filter(({ isUnwanted }) => isUnwanted).length
  return thresholds.map((threshold) => {
    const called = scored.filter(({ probability }) => probability >= threshold)
    const hits = called.filter(({ isUnwanted }) => isUnwanted).length
    return { threshold, precision: shareOf(hits, called.length), recall: shareOf(hits, unwanted) }
  })
}

/**
 * Compares predicted probabilities with observed shares: of the messages with a probability of 70
 * %, seven in ten should be unwanted. Omits empty bins.
 */
export function calibrationOf(scored: readonly Scored[]): CalibrationBin[] {
  const bins = Map.groupBy(scored, ({ probability }) => Math.min(Math.floor(probability * 10), 9))
  return [...bins]
    .sort(([a], [b]) => a - b)
    .map(([bin, rows]) => ({
      from: bin / 10,
      to: (bin + 1) / 10,
      meanPredicted: rows.reduce((sum, { probability }) => sum + probability, 0) / rows.length,
      observed: shareOf(rows.filter(({ isUnwanted }) => isUnwanted).length, rows.length),
    }))
}

/** Returns the mean squared error of the probabilities (Brier 1950): 0 is perfect. */
export function brierOf(scored: readonly Scored[]): number {
  const missed = scored.map(
    ({ probability, isUnwanted }) => (probability - (isUnwanted ? 1 : 0)) ** 2,
  )
  return missed.reduce((sum, one) => sum + one, 0) / Math.max(1, scored.length)
}

export type RowCounts = Partial<Record<RowKind, number>>

/** Description of a model, measured on rows that it was not trained on. */
export type ModelReport = {
  /** Descriptions of the training data, for people. */
  sources: readonly string[]
  split: SplitKind
  seed: number
  rows: { train: RowCounts; test: RowCounts; leftOut: number }
  campaigns: number
  features: number
  /** Undefined when all test rows are of one kind. */
  auc?: number
  roc: readonly RocPoint[]
  thresholds: readonly ThresholdFigures[]
  calibration: readonly CalibrationBin[]
  brier: number
  /** What the model calls surely unwanted; absent if it is never sure. */
  sure?: { unwanted: Share; wanted: Share }
  /**
   * The instant of the newest report that it learned from; 0 without reports, and absent in what
   * earlier versions stored.
   */
  learnedUntil?: number
  /** Each feature's share of the sum of all contributions, in descending order. */
  importance: readonly { feature: string; share: number }[]
  /** The pieces of text with the largest weights; positive for unwanted mail. */
  pieces: readonly { text: string; weight: number }[]
}

/**
 * Returns the share of the test rows that a model calls by their right class, at the lowest
 * threshold; undefined without test rows.
 */
export function accuracyOf({
  thresholds: [lowest],
  rows,
}: Pick<ModelReport, 'thresholds' | 'rows'>): number | undefined {
  const all = Object.values(rows.test).reduce((sum, count) => sum + count, 0)
  if (!lowest || all === 0) return undefined
  const { precision, recall } = lowest
  return 1 - (precision.of - precision.hits + recall.of - recall.hits) / all
}

/**
 * Returns of 100 messages how many: that a model calls unwanted are (`precision`), that are
 * unwanted it finds (`recall`), and that are wanted it calls unwanted (`mistaken`). From its
 * figures on messages that it never saw; undefined without messages of both kinds.
 */
export function plainFigures(
  report: Pick<ModelReport, 'thresholds' | 'rows'>,
): Record<'precision' | 'recall' | 'mistaken', number> | undefined {
  const [lowest] = report.thresholds
  const { ham = 0, newsletter = 0 } = report.rows.test
  if (!lowest || lowest.recall.of === 0 || ham + newsletter === 0) return undefined
  const { precision, recall } = lowest
  const of100 = (hits: number, of: number) => Math.round((1_000 * hits) / Math.max(1, of)) / 10
  return {
    precision: of100(precision.hits, precision.of),
    recall: of100(recall.hits, recall.of),
    mistaken: of100(precision.of - precision.hits, ham + newsletter),
  }
}

/** What a model says about the newest reports of the site, from which it did not learn. */
export type OwnTest = {
  /** An instant in ISO format. */
  testedAt: string
  rows: RowCounts
  /** Undefined when all rows are of one kind. */
  auc?: number
  /** Of the unwanted mail, what it calls unwanted. */
  found: Share
  /** Of the wanted mail, what it calls unwanted, and what surely unwanted. */
  mistaken: Share
  sure: Share
}

/** Probability from which a model calls a message unwanted. */
export const CALLED_MIN = 0.5

/** Computes the figures of an `OwnTest` from the results on its rows. */
export function ownFiguresOf(
  scored: readonly Scored[],
): Pick<OwnTest, 'auc' | 'found' | 'mistaken' | 'sure'> {
  const wanted = scored.filter(({ isUnwanted }) => !isUnwanted)
  const unwanted = scored.filter(({ isUnwanted }) => isUnwanted)
  const called = (some: readonly Scored[]) =>
    shareOf(some.filter(({ probability }) => probability >= CALLED_MIN).length, some.length)
  const roc = rocOf(scored)
  return {
    ...(roc && { auc: roc.auc }),
    found: called(unwanted),
    mistaken: called(wanted),
    sure: shareOf(wanted.filter(({ isSure }) => isSure).length, wanted.length),
  }
}

const THRESHOLDS = [0.5, 0.7, 0.9, 0.95, 0.99]
const IMPORTANCE_MAX = 30

export function countKinds(rows: readonly { kind: RowKind }[]): RowCounts {
  const counts: RowCounts = {}
  for (const { kind } of rows) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

/** Computes the measured parts of a `ModelReport` from the results on the test rows. */
export function figuresOf(
  scored: readonly Scored[],
): Pick<ModelReport, 'auc' | 'roc' | 'thresholds' | 'calibration' | 'brier' | 'sure'> {
  const roc = rocOf(scored)
  const sureOf = (some: readonly Scored[]) => {
    return shareOf(some.filter(({ isSure }) => isSure).length, some.length)
  }
  const unwanted = sureOf(scored.filter(({ isUnwanted }) => isUnwanted))
  return {
    ...(roc && { auc: roc.auc }),
    roc: roc?.points ?? [],
    thresholds: thresholdsOf(scored, THRESHOLDS),
    calibration: calibrationOf(scored),
    brier: brierOf(scored),
    ...(unwanted.hits > 0 && {
      sure: { unwanted, wanted: sureOf(scored.filter(({ isUnwanted }) => !isUnwanted)) },
    }),
  }
}

/**
 * Converts the contributions of the features to shares, in descending order. Of many features,
 * keeps only the most important ones.
 */
export function importanceOf(
  influence: Readonly<Record<string, number>>,
): ModelReport['importance'] {
  const all = Object.values(influence).reduce((sum, one) => sum + one, 0)
  return Object.entries(influence)
    .map(([feature, one]) => ({ feature, share: all > 0 ? one / all : 0 }))
    .sort((a, b) => b.share - a.share || (a.feature < b.feature ? -1 : 1))
    .slice(0, IMPORTANCE_MAX)
}
