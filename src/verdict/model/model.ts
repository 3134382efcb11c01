import type { Facts } from '../facts/fact.ts'

/** How the bytes of a model are written: by `signalpost train`, or by CatBoost as JSON. */
export const modelFormats = ['ydf', 'catboost'] as const

/** One of them. */
export type ModelFormat = (typeof modelFormats)[number]

/**
 * What makes a probability of what the trees say: their log odds times `slope`, plus `intercept`
 * (Platt 1999). `1` and `0` leave it as it is.
 */
export type Calibration = { slope: number; intercept: number }

/** A model as it is kept. */
export type KeptModel = {
  version: number
  format: ModelFormat
  content: Uint8Array
  calibration: Calibration
}

/** A model that can be asked. */
export type Model = {
  version: number
  /** The names of what it looks at, see `features.ts`. */
  features: readonly string[]
  /**
   * How likely the message is unwanted, 0 to 1, from its facts and the symbols that were raised.
   * The same for the same, in any process. NaN where its sums are none.
   */
  apply: (facts: Facts, symbols: readonly { name: string }[]) => number
  /** Gives its memory back. It must not be asked any more. */
  close: () => void
}

/** The bytes are no model that could be applied; the message says why, for who brought them. */
export class ModelFault extends Error {
  override name = 'ModelFault'
}

/** The probability that log odds stand for. */
export function logistic(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds))
}

/**
 * The log odds of a probability; of those beyond a millionth of certainty, those of a millionth.
 */
export function logit(probability: number): number {
  const bounded = Math.min(Math.max(probability, 1e-6), 1 - 1e-6)
  return Math.log(bounded / (1 - bounded))
}
