import { expect, test } from 'vitest'
import { calibrate, uncalibrated } from '../../../../src/verdict/model/load-model.ts'
import {
  brierOf,
  calibrationOf,
  rocOf,
  shareOf,
  thresholdsOf,
} from '../../../../src/verdict/model/figures.ts'
import { logistic } from '../../../../src/verdict/model/model.ts'

/** Makes rows from pairs `[probability, 1 if unwanted]`. */
const rows = (...given: readonly [number, 0 | 1][]) =>
  given.map(([probability, unwanted]) => ({ probability, isUnwanted: unwanted === 1 }))

test.for([
  ['those that are told apart', rows([0.9, 1], [0.8, 1], [0.2, 0], [0.1, 0]), 1],
  ['the wrong way around', rows([0.1, 1], [0.9, 0]), 0],
  ['all the same', rows([0.5, 1], [0.5, 0], [0.5, 0]), 0.5],
  // Three of the four pairs are in order.
  ['one out of order', rows([0.9, 1], [0.6, 0], [0.4, 1], [0.2, 0]), 0.75],
  // The equal pair counts half.
  ['one pair equal', rows([0.9, 1], [0.6, 1], [0.6, 0], [0.2, 0]), 0.875],
] as const)('the area below the curve of %s', ([, scored, area]) => {
  expect(rocOf(scored)?.auc).toBeCloseTo(area, 12)
})

test('the curve begins with nothing selected, ends with everything, and never falls', () => {
  const scored = Array.from({ length: 5_000 }, (_, n) => ({
    probability: ((n * 7919) % 5_003) / 5_003,
    isUnwanted: (n * 31) % 7 < 3,
  }))
  const points = rocOf(scored)?.points ?? []
  expect(points.length).toBeLessThanOrEqual(60)
  expect(points[0]).toEqual({ threshold: 1, falsePositives: 0, truePositives: 0 })
  expect(points.at(-1)).toMatchObject({ falsePositives: 1, truePositives: 1 })
  for (const [at, point] of points.slice(1).entries()) {
    const before = points[at]
    expect(point.falsePositives).toBeGreaterThanOrEqual(before?.falsePositives ?? 2)
    expect(point.truePositives).toBeGreaterThanOrEqual(before?.truePositives ?? 2)
  }
})

test('a single class has no curve', () => {
  expect(rocOf(rows([0.9, 1], [0.2, 1]))).toBeUndefined()
})

test('precision and recall count rows at or above the threshold', () => {
  const scored = rows([0.95, 1], [0.9, 0], [0.9, 1], [0.3, 1], [0.1, 0])
  const [figures] = thresholdsOf(scored, [0.9])
  expect(figures?.precision).toMatchObject({ hits: 2, of: 3 })
  expect(figures?.recall).toMatchObject({ hits: 2, of: 3 })
})

test('the interval of a proportion is Wilson’s', () => {
  // The expected values are from Newcombe (1998), table I: 81 of 263, and 1 of 29.
  expect(shareOf(81, 263).low).toBeCloseTo(0.2553, 4)
  expect(shareOf(81, 263).high).toBeCloseTo(0.3662, 4)
  expect(shareOf(1, 29).low).toBeCloseTo(0.0061, 4)
  expect(shareOf(1, 29).high).toBeCloseTo(0.1718, 4)
  expect(shareOf(0, 20)).toMatchObject({ share: 0, low: 0 })
  expect(shareOf(0, 20).high).toBeCloseTo(0.1611, 4)
  expect(shareOf(0, 0)).toMatchObject({ low: 0, high: 1 })
})

test('bins include their lower edge, and the last one includes 1', () => {
  const bins = calibrationOf(rows([0.1, 0], [0.19, 1], [1, 1]))
  expect(bins.map(({ from, observed }) => [from, observed.hits, observed.of])).toEqual([
    [0.1, 1, 2],
    [0.9, 1, 1],
  ])
  expect(bins[0]?.meanPredicted).toBeCloseTo(0.145, 12)
})

test('the errors of the probabilities are squared', () => {
  expect(brierOf(rows([0.9, 1], [0.2, 0]))).toBeCloseTo((0.01 + 0.04) / 2, 12)
})

test('an overconfident model is calibrated down to the true frequency', () => {
  // The model predicts 99 % and 1 %, and is right in eight of ten cases.
  const scored = Array.from({ length: 1_000 }, (_, n) => {
    const isHigh = n % 2 === 0
    return { logOdds: isHigh ? Math.log(99) : -Math.log(99), isUnwanted: n % 10 < 8 === isHigh }
  })
  const { slope, intercept } = calibrate(scored)
  const high = logistic(slope * Math.log(99) + intercept)
  const observed = scored.filter((one) => one.logOdds > 0 && one.isUnwanted).length / 500
  expect(high).toBeCloseTo(observed, 2)
})

test('a calibration never reverses the order, and needs ten rows of both classes', () => {
  const wrong = Array.from({ length: 100 }, (_, n) => ({
    logOdds: n % 2 === 0 ? 2 : -2,
    isUnwanted: n % 2 === 1,
  }))
  expect(calibrate(wrong)).toEqual(uncalibrated)
  expect(calibrate(wrong.slice(0, 2))).toEqual(uncalibrated)
})

test('perfectly separated rows have a finite calibration', () => {
  const scored = Array.from({ length: 60 }, (_, n) => ({
    logOdds: n % 2 === 0 ? 14 : -14,
    isUnwanted: n % 2 === 0,
  }))
  const { slope, intercept } = calibrate(scored)
  expect(Number.isFinite(slope) && Number.isFinite(intercept)).toBe(true)
  expect(logistic(slope * 13 + intercept)).toBeGreaterThan(0.9)
})
