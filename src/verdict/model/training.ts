import { hash } from 'node:crypto'
import { campaignKeys, type Fingerprints } from '../../pieces/fingerprints.ts'
import type { Facts } from '../facts/fact.ts'
import type { VerdictClass } from '../verdict.ts'
import { type FeatureName, featureReader } from './features.ts'

/** What is known of a report that a model might learn from. */
export type ReportedRow = {
  kind: 'spam' | 'phishing' | 'not-spam'
  isRetracted: boolean
  verdict: VerdictClass
  /** How far its reporter was believed, 0 to 1. */
  karma: number
  /** How many proven others reported the same campaign, by what they say of it. */
  others: { unwanted: number; wanted: number }
}

/** Whoever is believed less is believed only with others who are believed so much. */
export const LABEL_KARMA_MIN = 0.5
const OTHERS_MIN = 2

/**
 * As what a report is learned from; undefined of those that prove nothing. A single word is taken
 * only of a reporter who earned it, the word of a newcomer only when two of those say the same, and
 * none of a campaign about which they disagree. The verdict never makes a label by itself, or
 * a model would learn the rules by heart; but it can take one away. What was taken back was a
 * mistake: it is learned from neither as unwanted nor, since nobody looked again, as wanted.
 */
export function labelOf({ kind, isRetracted, verdict, karma, others }: ReportedRow) {
  if (isRetracted) return undefined
  const isUnwanted = kind !== 'not-spam'
  const against = isUnwanted ? others.wanted : others.unwanted
  const along = isUnwanted ? others.unwanted : others.wanted
  if (against > 0 || (karma < LABEL_KARMA_MIN && along < OTHERS_MIN)) return undefined
  if (isOpposed(verdict, isUnwanted)) return undefined
  const label: RowKind = kind === 'not-spam' ? 'ham' : kind
  return label
}

function isOpposed(verdict: VerdictClass, isUnwanted: boolean): boolean {
  if (isUnwanted) return verdict === 'legitimate'
  return verdict === 'spam' || verdict === 'phishing' || verdict === 'malware'
}

/**
 * Names the campaign of each message, as the number of its first one. Wider than the campaigns that
 * reports are counted under: whoever shares a single key, the whole text, the files or all link
 * domains is of one, and so are those whom a third one joins. A campaign too wide costs a split a
 * few rows; one too narrow would let it learn the answers.
 */
export function groupCampaigns(messages: readonly Fingerprints[]): string[] {
  const parents = messages.map((_, at) => at)
  const rootOf = (at: number): number => {
    let root = at
    while (parents[root] !== root) root = parents[root] ?? root
    parents[at] = root
    return root
  }
  const firstWith = new Map<string, number>()
  for (const [at, message] of messages.entries()) {
    for (const key of keysOf(message)) {
      const other = firstWith.get(key)
      if (other === undefined) firstWith.set(key, at)
      else {
        const [a, b] = [rootOf(other), rootOf(at)]
        parents[Math.max(a, b)] = Math.min(a, b)
      }
    }
  }
  return messages.map((_, at) => String(rootOf(at)))
}

function keysOf(fingerprints: Fingerprints): string[] {
  const { text, files, links } = fingerprints
  const whole = Object.entries({ text, files, links }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${value}`],
  )
  return [...campaignKeys(fingerprints), ...whole]
}

/** How rows are kept apart: whole campaigns, by lot; or the past from what came later. */
export const splitKinds = ['campaign', 'time'] as const

/** One of them. */
export type SplitKind = (typeof splitKinds)[number]

/** The rows that trees learn from, that the calibration learns from, and that measure both. */
export type SplitRows<Row> = {
  train: Row[]
  calibrate: Row[]
  test: Row[]
  /** How many were left out, because an earlier part has their campaign. */
  leftOut: number
}

/** How much of the rows is learned from, and on how much it is calibrated: the rest measures. */
export type SplitShares = { train: number; calibrate: number }

/** The shares where nobody says otherwise. */
const usualShares: SplitShares = { train: 0.6, calibrate: 0.15 }

/**
 * Splits rows so that no campaign is in two parts. By campaign, a lot decides, drawn from `seed`
 * and the campaign alone: rows that are added later move none of the others. By time, the oldest
 * are learned from and the newest measured, and of a campaign that goes on only its beginning is
 * kept.
 */
export function splitRows<Row extends Pick<TrainingRow, 'at' | 'campaign'>>(
  rows: readonly Row[],
  kind: SplitKind,
  seed: number,
  shares: SplitShares = usualShares,
): SplitRows<Row> {
  return kind === 'time' ? splitByTime(rows, shares) : splitByCampaign(rows, seed, shares)
}

function splitByCampaign<Row extends Pick<TrainingRow, 'campaign'>>(
  rows: readonly Row[],
  seed: number,
  shares: SplitShares,
): SplitRows<Row> {
  const parts: SplitRows<Row> = { train: [], calibrate: [], test: [], leftOut: 0 }
  for (const row of rows) parts[partAt(lotOf(row.campaign, seed), shares)].push(row)
  return parts
}

/** A number from 0 to 1 that looks like chance and is always the same. */
export function lotOf(text: string, seed: number): number {
  return Number.parseInt(hash('sha256', `${seed} ${text}`, 'hex').slice(0, 12), 16) / 16 ** 12
}

function partAt(share: number, shares: SplitShares): 'train' | 'calibrate' | 'test' {
  if (share < shares.train) return 'train'
  return share < shares.train + shares.calibrate ? 'calibrate' : 'test'
}

function splitByTime<Row extends Pick<TrainingRow, 'at' | 'campaign'>>(
  rows: readonly Row[],
  shares: SplitShares,
): SplitRows<Row> {
  const parts: SplitRows<Row> = { train: [], calibrate: [], test: [], leftOut: 0 }
  const partOfCampaign = new Map<string, string>()
  const inOrder = rows.toSorted((a, b) => a.at - b.at)
  for (const [at, row] of inOrder.entries()) {
    const part = partAt(at / inOrder.length, shares)
    const first = partOfCampaign.get(row.campaign) ?? part
    partOfCampaign.set(row.campaign, first)
    if (first === part) parts[part].push(row)
    else parts.leftOut++
  }
  return parts
}

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
