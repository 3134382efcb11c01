import { hash } from 'node:crypto'
import { csvLine } from '../../mail/csv.ts'
import { campaignKeys, type Fingerprints } from '../../pieces/fingerprints.ts'
import type { Facts } from '../facts/fact.ts'
import type { VerdictClass } from '../verdict.ts'
import { type FeatureName, featureReader } from './features.ts'

/** A report that may become a training row. */
export type ReportedRow = {
  kind: 'spam' | 'phishing' | 'not-spam'
  isRetracted: boolean
  verdict: VerdictClass
  /** Karma of the reporter, 0 to 1. */
  karma: number
  /** The number of other proven reporters who reported the same campaign, by kind of statement. */
  others: { unwanted: number; wanted: number }
}

/**
 * Minimum karma for a label from a single report, and the number of other proven reporters who must
 * agree with a report by a reporter with less karma.
 */
export const LABEL_KARMA_MIN = 0.5
const OTHERS_MIN = 2

/**
 * Returns the label of a report for training; undefined when the evidence is insufficient. A report
 * by a reporter with enough karma suffices. A newcomer's report requires two proven reporters who
 * made the same statement about its campaign. A campaign with contradicting reports gives no label.
 *
 * A verdict never creates a label, because the model would only learn to repeat the rules, but it
 * can remove one. A retracted report was a mistake, so it is not used as unwanted. It is not used
 * as wanted either, because nobody has checked that.
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
 * Returns the campaign of each message, as the index of its first message. These campaigns are
 * wider than those under which reports are counted: messages that share any key (the whole text,
 * the files or all link domains) are in one campaign, also when only a third message connects them.
 * A campaign that is too wide only costs a few rows in a split; a campaign that is too narrow would
 * leak test labels into training.
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

/** How rows are split: whole campaigns at random, or older rows from newer ones. */
export const splitKinds = ['campaign', 'time'] as const

export type SplitKind = (typeof splitKinds)[number]

export type SplitRows<Row> = {
  train: Row[]
  test: Row[]
  /** Number of rows left out because an earlier part contains their campaign. */
  leftOut: number
}

/** The share of the rows for training; the others are for testing. */
const TRAIN_SHARE = 0.75

/**
 * Splits rows so that no campaign is in two parts. `campaign`: a pseudo-random number from `seed`
 * and the campaign decides, so rows added later do not move others. `time`: the oldest rows are for
 * training and the newest for testing; only the first part of a campaign is kept.
 */
export function splitRows<Row extends Pick<TrainingRow, 'at' | 'campaign'>>(
  rows: readonly Row[],
  kind: SplitKind,
  seed: number,
  trainShare: number = TRAIN_SHARE,
): SplitRows<Row> {
  return kind === 'time' ? splitByTime(rows, trainShare) : splitByCampaign(rows, seed, trainShare)
}

function splitByCampaign<Row extends Pick<TrainingRow, 'campaign'>>(
  rows: readonly Row[],
  seed: number,
  trainShare: number,
): SplitRows<Row> {
  const parts: SplitRows<Row> = { train: [], test: [], leftOut: 0 }
  for (const row of rows) parts[partAt(pseudoRandom(row.campaign, seed), trainShare)].push(row)
  return parts
}

/** Returns a deterministic pseudo-random number from 0 to 1. */
export function pseudoRandom(text: string, seed: number): number {
  return Number.parseInt(hash('sha256', `${seed} ${text}`, 'hex').slice(0, 12), 16) / 16 ** 12
}

function partAt(share: number, trainShare: number): 'train' | 'test' {
  return share < trainShare ? 'train' : 'test'
}

function splitByTime<Row extends Pick<TrainingRow, 'at' | 'campaign'>>(
  rows: readonly Row[],
  trainShare: number,
): SplitRows<Row> {
  const parts: SplitRows<Row> = { train: [], test: [], leftOut: 0 }
  const partOfCampaign = new Map<string, string>()
  const inOrder = rows.toSorted((a, b) => a.at - b.at)
  for (const [at, row] of inOrder.entries()) {
    const part = partAt(at / inOrder.length, trainShare)
    const first = partOfCampaign.getOrInsert(row.campaign, part)
    if (first === part) parts[part].push(row)
    else parts.leftOut++
  }
  return parts
}

export const rowKinds = ['spam', 'phishing', 'malware', 'ham', 'newsletter'] as const

export type RowKind = (typeof rowKinds)[number]

export type TrainingRow = {
  /** When the message was received, in milliseconds since 1970. */
  at: number
  /** Messages with the same campaign are never in different parts of a split. */
  campaign: string
  kind: RowKind
  facts: Facts
  symbols: readonly { name: string }[]
  /** The pieces of the text; empty if the message is no longer stored. */
  text: Uint32Array
  /** The probability that the model gave which was active then; absent without one. */
  estimated?: number
  /** The reporter; absent for a file. */
  reporterId?: string
  /** Reads the message again; undefined if it is no longer stored. */
  load: () => Promise<Buffer | undefined>
}

export function isUnwantedKind(kind: RowKind): boolean {
  return kind !== 'ham' && kind !== 'newsletter'
}

/**
 * Minimum number of rows in which a feature must differ from the other rows; otherwise it is not
 * used.
 */
const DIFFERENT_MIN = 3

/** Returns the features whose values differ between rows. */
export function differingFeatures(
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
 * Formats the rows as CSV, with the feature names as the header and the label in the last column.
 */
export function rowsAsCsv(
  features: readonly FeatureName[],
  rows: readonly TrainingRow[],
  labels: { column: string; unwanted: string; wanted: string },
): string {
  const lines = numbersOf(features, rows).map((values, at) => {
    const isUnwanted = isUnwantedKind(rows[at]?.kind ?? 'ham')
    return csvLine([...values, isUnwanted ? labels.unwanted : labels.wanted], '\n')
  })
  return [csvLine([...features, labels.column], '\n'), ...lines].join('')
}

export function numbersOf(
  features: readonly FeatureName[],
  rows: readonly TrainingRow[],
): Float64Array[] {
  const read = featureReader(features)
  if (!read) throw new Error('The name of a feature is not valid.')
  return rows.map(({ facts, symbols }) => read(facts, symbols).slice())
}
