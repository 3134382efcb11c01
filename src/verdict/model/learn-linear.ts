import { calibrate } from './load-model.ts'
import {
  countInputs,
  factValue,
  featureOfInput,
  type Inputs,
  type LinearWeights,
  textValue,
} from './linear.ts'
import type { Calibration } from './model.ts'
import { isUnwantedKind, pseudoRandom, type RowKind } from './training.ts'
import { TEXT_ROWS } from '../../pieces/text-pieces.ts'

/** A labeled message as a linear model reads it. */
export type LinearRow = Inputs & { kind: RowKind; campaign: string }

/** Inputs that occur in fewer campaigns are not used: they may be personal data, or chance. */
const CAMPAIGNS_MIN = 3
/** Trade-off between fitting the rows and small weights. */
const COST = 5
const ROUNDS = 20
/** Number of parts for scores of rows by a model that was not trained on their campaign. */
const PARTS = 10
/** Minimum number of rows of both kinds to distinguish phishing from other unwanted mail. */
const KIND_ROWS_MIN = 10

export type LearnedLinear = { weights: LinearWeights; calibration: Calibration }

/**
 * Learns a linear model. Calibration and the score of sure messages are learned from scores that
 * each row gets from a model trained on other campaigns. A model of mail that is not the site's own
 * has no such score. The same rows in the same order and the same seed give the same model.
 */
export function learnLinear(
  rows: readonly LinearRow[],
  features: readonly string[],
  { seed, isOwn }: { seed: number; isOwn: boolean },
): LearnedLinear {
  const size = countInputs(features.length) + 1
  const isUnwanted = ({ kind }: LinearRow) => isUnwantedKind(kind)
  const unseen = scoresOfUnseen(rows, (some) => learnWeights(some, isUnwanted, size, seed), seed)
  const calibration = calibrate(
    unseen.map(({ row, score }) => ({ logOdds: score, isUnwanted: isUnwanted(row) })),
  )
  const wanted = unseen.flatMap(({ row, score }) => {
    return isUnwanted(row) ? [] : [{ kind: row.kind, score }]
  })
  const weights = {
    features,
    unwanted: learnWeights(rows, isUnwanted, size, seed),
    phishing: learnPhishing(rows.filter(isUnwanted), size, seed),
    sureScore: isOwn ? sureScoreOf(wanted) : undefined,
    isOwn,
  }
  return { weights, calibration }
}

function learnPhishing(rows: readonly LinearRow[], size: number, seed: number): Float64Array {
  const isPhishing = ({ kind }: LinearRow) => kind === 'phishing'
  const phishing = rows.filter(isPhishing).length
  if (Math.min(phishing, rows.length - phishing) >= KIND_ROWS_MIN) {
    return learnWeights(rows, isPhishing, size, seed)
  }
  const never = new Float64Array(size)
  never[size - 1] = -1
  return never
}

type Scored = { row: LinearRow; score: number }

function scoresOfUnseen(
  rows: readonly LinearRow[],
  learn: (rows: readonly LinearRow[]) => Float64Array,
  seed: number,
): Scored[] {
  const partOf = ({ campaign }: LinearRow) => Math.floor(pseudoRandom(campaign, seed + 1) * PARTS)
  const parts = Map.groupBy(rows, partOf)
  return [...parts].flatMap(([part, its]) => {
    const weights = learn(rows.filter((row) => partOf(row) !== part))
    return its.map((row) => ({ row, score: scoreOf(weights, row) }))
  })
}

function scoreOf(weights: Float64Array, row: LinearRow): number {
  const { text, facts } = usedInputs(row, (input) => weights[input] !== 0)
  return dotProduct(weights, { text, facts }) + (weights.at(-1) ?? 0)
}

/** The share of wanted mail that may be called surely unwanted. */
const WANTED_MISSED_MAX = 1 / 2_000
/** The quantiles of a normal distribution at this share, and at a confidence of 90 %. */
const Z_MISSED = 3.29
const Z_CONFIDENCE = 1.28
/** With fewer wanted rows, no score is sure. */
const SURE_ROWS_MIN = 50

/**
 * Returns the score above which at most one wanted message in 2,000 lies, from scores of unseen
 * wanted messages: the upper tolerance bound of a normal distribution, with a confidence of 90 %
 * (Natrella 1963), and also a score that at most one in 4,000 of the given messages exceeds. Scores
 * are sums of many small weights, so they are nearly normal, and a few hundred messages suffice.
 * The highest bound counts of all messages and of each kind with 50 or more, because few
 * newsletters would hardly change the bound of all. Undefined with fewer than 50 messages.
 */
export function sureScoreOf(
  wanted: readonly { kind: RowKind; score: number }[],
): number | undefined {
  const kinds = [wanted, ...Map.groupBy(wanted, ({ kind }) => kind).values()]
  const bounds = kinds
    .filter(({ length }) => length >= SURE_ROWS_MIN)
    .map((some) => boundOf(some.map(({ score }) => score)))
  return bounds.length === 0 ? undefined : Math.max(...bounds)
}

function boundOf(wanted: readonly number[]): number {
  const count = wanted.length
  const mean = wanted.reduce((sum, score) => sum + score, 0) / count
  const variance = wanted.reduce((sum, score) => sum + (score - mean) ** 2, 0) / (count - 1)
  const doubt = Z_CONFIDENCE * Math.sqrt((1 + Z_MISSED ** 2 / 2) / count)
  const bound = mean + (Z_MISSED + doubt) * Math.sqrt(variance)
  const highest = wanted.toSorted((a, b) => b - a)[Math.floor((count * WANTED_MISSED_MAX) / 2)]
  return Math.max(bound, highest ?? bound)
}

/**
 * Learns weights for a yes-or-no question: a support vector machine with squared hinge loss,
 * trained by dual coordinate descent (Hsieh et al. 2008). The last weight is the bias.
 */
function learnWeights(
  rows: readonly LinearRow[],
  isPositive: (row: LinearRow) => boolean,
  size: number,
  seed: number,
): Float64Array {
  const isUsed = usedIn(rows, size)
  const weights = new Float64Array(size)
  const examples = rows.map((row) => exampleOf(row, isPositive(row) ? 1 : -1, isUsed))
  const order = Uint32Array.from(examples, (_, at) => at)
  const next = randomNumbers(seed)
  for (let round = 0; round < ROUNDS; round++) {
    shuffle(order, next)
    for (const at of order) {
      const example = examples[at]
      if (example) improve(weights, example)
    }
  }
  // An input of which the weight is 0 would not be counted as used when the model is applied.
  for (let at = 0; at < size - 1; at++) if (isUsed(at)) weights[at] ||= Number.MIN_VALUE
  return weights
}

type Example = Inputs & { sign: 1 | -1; share: number; square: number }

function exampleOf(row: LinearRow, sign: 1 | -1, isUsed: (input: number) => boolean): Example {
  const { text, facts } = usedInputs(row, isUsed)
  const ofText = text.length * textValue(text.length) ** 2
  const ofFacts = facts.length * factValue(facts.length) ** 2
  return { text, facts, sign, share: 0, square: ofText + ofFacts + 1 }
}

/** One step of the descent: changes the share of one example in the weights. */
function improve(weights: Float64Array, example: Example): void {
  const { text, facts, sign, square } = example
  const bias = weights.length - 1
  const score = dotProduct(weights, example) + (weights[bias] ?? 0)
  const slack = 1 / (2 * COST)
  const missed = sign * score - 1 + example.share * slack
  const share = Math.max(0, example.share - missed / (square + slack))
  const change = sign * (share - example.share)
  example.share = share
  if (change === 0) return
  const [ofText, ofFacts] = [change * textValue(text.length), change * factValue(facts.length)]
  for (const input of text) weights[input] = (weights[input] ?? 0) + ofText
  for (const input of facts) weights[input] = (weights[input] ?? 0) + ofFacts
  weights[bias] = (weights[bias] ?? 0) + change
}

function dotProduct(weights: Float64Array, { text, facts }: Inputs): number {
  let [ofText, ofFacts] = [0, 0]
  for (const input of text) ofText += weights[input] ?? 0
  for (const input of facts) ofFacts += weights[input] ?? 0
  return ofText * textValue(text.length) + ofFacts * factValue(facts.length)
}

function usedInputs({ text, facts }: Inputs, isUsed: (input: number) => boolean): Inputs {
  return { text: text.filter(isUsed), facts: facts.filter(isUsed) }
}

/** Returns which inputs occur in enough campaigns. */
function usedIn(rows: readonly LinearRow[], size: number): (input: number) => boolean {
  const campaigns = countCampaigns(rows, size)
  return (input) => (campaigns[input] ?? 0) >= CAMPAIGNS_MIN
}

/** Counts the campaigns in which each input occurs, up to 65,535. */
export function countCampaigns(
  rows: readonly Pick<LinearRow, 'text' | 'facts' | 'campaign'>[],
  size: number,
): Uint16Array {
  const counts = new Uint16Array(size)
  const last = new Int32Array(size).fill(-1)
  const groups = [...Map.groupBy(rows, ({ campaign }) => campaign).values()]
  for (const [number, group] of groups.entries()) {
    const note = (input: number) => {
      if (last[input] === number) return
      last[input] = number
      counts[input] = Math.min((counts[input] ?? 0) + 1, 65_535)
    }
    for (const { text, facts } of group) {
      for (const input of text) note(input)
      for (const input of facts) note(input)
    }
  }
  return counts
}

/** Returns pseudo-random numbers from 0 to 1 (xorshift, Marsaglia 2003). */
function randomNumbers(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

function shuffle(order: Uint32Array, next: () => number): void {
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(next() * (at + 1))
    const moved = order[at] ?? 0
    order[at] = order[other] ?? 0
    order[other] = moved
  }
}

/**
 * Returns the influence of each feature, and of the text as a whole: the sum of the absolute
 * contributions to the scores of the rows.
 */
export function influenceOf(
  { features, unwanted }: LinearWeights,
  rows: readonly Inputs[],
): Record<string, number> {
  const influence = new Float64Array(features.length)
  let ofText = 0
  for (const row of rows) {
    const { text, facts } = usedInputs(row, (input) => unwanted[input] !== 0)
    const its = new Map<number, number>()
    for (const input of facts) {
      const feature = featureOfInput(input)
      its.set(feature, (its.get(feature) ?? 0) + (unwanted[input] ?? 0))
    }
    for (const [feature, sum] of its) {
      influence[feature] = (influence[feature] ?? 0) + Math.abs(sum) * factValue(facts.length)
    }
    ofText += Math.abs(dotProduct(unwanted, { text, facts: noInputs }))
  }
  const named = features.map((feature, at) => [feature, influence[at] ?? 0] as const)
  return Object.fromEntries([...named, ['text', ofText]])
}

const noInputs = new Uint32Array()

/** A piece of text and its weight: positive for unwanted mail. */
export type WeighedRow = { row: number; weight: number }

/**
 * Returns the rows of pieces with the largest weights on both sides. Only pieces that occur in
 * enough campaigns, and in messages of enough reporters, may be shown to people.
 */
export function heaviestRows(
  { unwanted }: LinearWeights,
  isShown: (row: number) => boolean,
  count: number,
): WeighedRow[] {
  const rows: WeighedRow[] = []
  for (let row = 0; row < TEXT_ROWS; row++) {
    const weight = unwanted[row] ?? 0
    if (Math.abs(weight) > 1e-6 && isShown(row)) rows.push({ row, weight })
  }
  rows.sort((a, b) => b.weight - a.weight || a.row - b.row)
  const half = Math.floor(Math.min(rows.length, count) / 2)
  return [...rows.slice(0, half), ...rows.slice(rows.length - half)]
}
