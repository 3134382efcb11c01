import { hash } from 'node:crypto'
import type { TrainingRow } from './training-row.ts'

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
export const usualShares: SplitShares = { train: 0.6, calibrate: 0.15 }

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
