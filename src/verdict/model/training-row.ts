import type { Facts } from '../facts/fact.ts'
import { featureReader, type FeatureName } from './features.ts'

/** Of what kind a labeled message is. */
export const rowKinds = ['spam', 'phishing', 'malware', 'ham', 'newsletter'] as const

/** One of them. */
export type RowKind = (typeof rowKinds)[number]

/** One labeled message. */
export type TrainingRow = {
  /** When it came, in milliseconds since 1970. */
  at: number
  /** Messages of one campaign share it: they are never on both sides of a split. */
  campaign: string
  kind: RowKind
  facts: Facts
  symbols: readonly { name: string }[]
}

/** Whether messages of a kind are unwanted. */
export function isUnwantedKind(kind: RowKind): boolean {
  return kind !== 'ham' && kind !== 'newsletter'
}

/** So many rows must differ from the rest in a feature, or nothing can be learned from it. */
const DIFFERENT_MIN = 3

/** Those of the features in which some rows differ from the others. */
export function tellingFeatures(
  features: readonly FeatureName[],
  rows: readonly TrainingRow[],
): FeatureName[] {
  const values = numbersOf(features, rows)
  return features.filter((_, at) => {
    const counts = new Map<number, number>()
    for (const row of values) counts.set(row[at] ?? 0, (counts.get(row[at] ?? 0) ?? 0) + 1)
    return rows.length - Math.max(0, ...counts.values()) >= DIFFERENT_MIN
  })
}

/**
 * The rows as lines of comma-separated values, under the features' names; the last is the label.
 */
export function rowsAsCsv(
  features: readonly FeatureName[],
  rows: readonly TrainingRow[],
  labels: { column: string; unwanted: string; wanted: string },
): string {
  const lines = numbersOf(features, rows).map((values, at) => {
    const isUnwanted = isUnwantedKind(rows[at]?.kind ?? 'ham')
    return [...values, isUnwanted ? labels.unwanted : labels.wanted].join(',')
  })
  return `${[[...features, labels.column].join(','), ...lines].join('\n')}\n`
}

function numbersOf(features: readonly FeatureName[], rows: readonly TrainingRow[]): Float64Array[] {
  const read = featureReader(features)
  if (!read) throw new Error('A feature has no name that can be read.')
  return rows.map(({ facts, symbols }) => read(facts, symbols).slice())
}
