import type { ModelReport } from '../../verdict/model/model-report.ts'

/** A curve of shares in numbers that a template only has to print. */
export type RocChart = {
  width: number
  height: number
  plot: { x: number; y: number; size: number }
  /** The curve, as the `points` of a polyline. */
  curve: string
  /** What chance would give. */
  chance: { x1: number; y1: number; x2: number; y2: number }
  /** Lines of tenths, across and upright, with what they stand for. */
  ticks: { at: number; upright: number; text: string }[]
}

const PLOT = { x: 48, y: 12, size: 320 }
const WIDTH = PLOT.x + PLOT.size + 16
const HEIGHT = PLOT.y + PLOT.size + 44
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]

/** Lays the curve out: what is called falsely to the right, what is found upwards. */
export function rocChart(points: ModelReport['roc']): RocChart {
  const across = (share: number) => round(PLOT.x + share * PLOT.size)
  const upwards = (share: number) => round(PLOT.y + (1 - share) * PLOT.size)
  return {
    width: WIDTH,
    height: HEIGHT,
    plot: PLOT,
    curve: points
      .map(({ falsePositives, truePositives }) =>
        [across(falsePositives), upwards(truePositives)].join(','),
      )
      .join(' '),
    chance: { x1: across(0), y1: upwards(0), x2: across(1), y2: upwards(1) },
    ticks: TICKS.map((share) => ({
      at: across(share),
      upright: upwards(share),
      text: `${share * 100} %`,
    })),
  }
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
