import { chanceFrom } from './chance.ts'
import { prefixes } from '../../src/counting/keys.ts'
import { type Increment, reversal } from './increments.ts'

/** The table in which appenders record committed batches, in the transaction of each batch. */
export const committedTable = `create table torture_batches (
  appender integer not null, batch integer not null,
  constraint torture_batches_pkey primary key (appender, batch))`

const HOUR_MS = 3_600_000
const INCREMENTS = 200
const REPORT_SHINGLES = 10

/**
 * Returns the increments of one batch, always the same for the same arguments: reports with a few
 * hot keys and many cold ones, and with hot uniques. Some are recent, some are days old, some are
 * older than the retention, and some are retracted.
 */
export function batchOf(startMs: number, appender: number, batch: number): Increment[] {
  const chance = chanceFrom(appender * 1_000_003 + batch * 7_919 + 1)
  const below = (count: number) => Math.floor(chance() * count)
  const ages = [0, 1, 20, 5 * 24, 12 * 24, 30 * 24]
  const batchOfReports: Increment[] = []
  while (batchOfReports.length < INCREMENTS) {
    const at = new Date(startMs - (ages[below(ages.length)] ?? 0) * HOUR_MS)
    const person = hash(below(3_000))
    const report = Array.from({ length: REPORT_SHINGLES }, (_, index): Increment => ({
      prefix: prefixes[below(prefixes.length)] ?? 'reports',
      shingle: hash(below(index < 5 ? 5 : 20_000) + 1_000_000),
      unique: index % 2 ? person : undefined,
      spam: 1,
      complaint: below(2),
      at,
    }))
    batchOfReports.push(...report)
    if (below(4) === 0) batchOfReports.push(...reversal(report, new Date(startMs)))
  }
  return batchOfReports
}

/** Returns the batch's increments of keys that are held back until they were seen three times. */
export function gatedOf(startMs: number, appender: number, batch: number): Increment[] {
  const chance = chanceFrom(appender * 1_000_003 + batch * 7_919 + 2)
  return Array.from({ length: 40 }, () => ({
    prefix: 'checks',
    shingle: hash(Math.floor(chance() * 20_000) + 9_000_000),
    gated: true,
    spam: 1,
    at: new Date(startMs),
  }))
}

function hash(number: number): bigint {
  return BigInt.asUintN(64, BigInt(number + 1) * 0x9e3779b97f4a7c15n)
}
