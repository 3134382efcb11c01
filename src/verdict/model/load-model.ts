import { loadCatBoost } from './catboost.ts'
import { loadLinear } from './linear.ts'
import { type Calibration, type KeptModel, logistic, type Model } from './model.ts'

/** The calibration that changes nothing. */
export const uncalibrated: Calibration = { slope: 1, intercept: 0 }

/** Minimum number of rows of each kind for a calibration, and maximum number of steps. */
const ROWS_MIN = 10
const STEPS_MAX = 100
/** Regularization. Keeps the steps finite when the two kinds are perfectly separated. */
const RIDGE = 1e-3
/** Minimum step length. A step is halved until it improves the fit or falls below this length. */
const LENGTH_MIN = 1e-6

/**
 * Fits slope and intercept of the log odds to rows that were not used for training: Platt scaling
 * (1999), with targets slightly away from 0 and 1, by Newton's method (Lin, Lin and Weng 2007).
 * Never reverses the order.
 */
export function calibrate(
  scored: readonly { logOdds: number; isUnwanted: boolean }[],
): Calibration {
  const unwanted = scored.filter(({ isUnwanted }) => isUnwanted).length
  const wanted = scored.length - unwanted
  if (unwanted < ROWS_MIN || wanted < ROWS_MIN) return uncalibrated
  const high = (unwanted + 1) / (unwanted + 2)
  const low = 1 / (wanted + 2)
  const rows = scored.map(({ logOdds, isUnwanted }) => ({
    at: logOdds,
    target: isUnwanted ? high : low,
  }))
  let [slope, intercept] = [0, Math.log((unwanted + 1) / (wanted + 1))]
  let misfit = misfitOf(rows, slope, intercept)
  for (let step = 0; step < STEPS_MAX; step++) {
    const change = newtonStep(rows, slope, intercept)
    let length = 1
    let next = misfit
    do {
      next = misfitOf(rows, slope + length * change.slope, intercept + length * change.intercept)
      if (next < misfit) break
      length /= 2
    } while (length > LENGTH_MIN)
    if (misfit - next < 1e-10) break
    slope += length * change.slope
    intercept += length * change.intercept
    misfit = next
  }
  const isSound = Number.isFinite(slope) && Number.isFinite(intercept) && slope > 0
  return isSound ? { slope, intercept } : uncalibrated
}

type Target = { at: number; target: number }

/**
 * Returns the negative log-likelihood, with a penalty that pulls the slope to 1 and the intercept
 * to 0.
 */
function misfitOf(rows: readonly Target[], slope: number, intercept: number): number {
  let misfit = (RIDGE / 2) * ((slope - 1) ** 2 + intercept ** 2)
  for (const { at, target } of rows) {
    const logOdds = slope * at + intercept
    // log(1 + exp(x)) without overflow.
    misfit += Math.max(logOdds, 0) + Math.log1p(Math.exp(-Math.abs(logOdds))) - target * logOdds
  }
  return misfit
}

function newtonStep(rows: readonly Target[], slope: number, intercept: number): Calibration {
  // The gradient and the curvature of the log-likelihood, including the regularization.
  let [bySlope, byIntercept] = [RIDGE * (slope - 1), RIDGE * intercept]
  let [aa, ab, bb] = [RIDGE, 0, RIDGE]
  for (const { at, target } of rows) {
    const probability = logistic(slope * at + intercept)
    const missed = probability - target
    const weight = probability * (1 - probability)
    bySlope += missed * at
    byIntercept += missed
    aa += weight * at * at
    ab += weight * at
    bb += weight
  }
  const determinant = aa * bb - ab * ab
  return {
    slope: -(bb * bySlope - ab * byIntercept) / determinant,
    intercept: -(aa * byIntercept - ab * bySlope) / determinant,
  }
}

/**
 * Loads a stored model.
 *
 * @throws ModelFault when the model cannot be read or applied
 */
export function loadModel(kept: KeptModel): Model {
  return kept.format === 'catboost' ? loadCatBoost(kept) : loadLinear(kept)
}
