import { chanceFrom } from './chance.ts'
import { prefixes, wholePairKey } from '../../src/counting/keys.ts'
import { hexOf } from '../../src/pieces/shingles/hash.ts'
import { packShingles, type PackedShingles } from '../../src/pieces/shingles/packed-shingles.ts'
import { pairTypes, pieceTypes } from '../../src/pieces/shingles/piece-types.ts'
import { inShard, uuidFloor } from '../../src/world.ts'
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

/** A report of one batch, and what it adds to the counters. */
type TortureReport = {
  id: string
  receivedAt: Date
  shingles: PackedShingles
  increments: Increment[]
  /** Whether it is retracted with the next batch. */
  isRetracted: boolean
}

const REPORTS = 8
const PIECES = 6
const piece = pieceTypes['author-address'].number
const [pair = { number: 0, name: '' }] = pairTypes

/** Returns the reports of one batch, always the same for the same arguments. */
export function reportsOf(startMs: number, appender: number, batch: number): TortureReport[] {
  const chance = chanceFrom(appender * 1_000_003 + batch * 7_919 + 3)
  const below = (count: number) => Math.floor(chance() * count)
  return Array.from({ length: REPORTS }, (_, index): TortureReport => {
    const number = ((appender * 100_000 + batch) * REPORTS + index).toString(16).padStart(11, '0')
    const id = inShard(uuidFloor(new Date(startMs)).replace(/0{11}(?=.$)/, number), below(16))
    const receivedAt = new Date(startMs - below(3) * HOUR_MS)
    const person = hash(below(3_000))
    const pieces = Array.from({ length: PIECES }, (_, at) =>
      hash(below(at < 2 ? 5 : 20_000) + 5_000_000),
    )
    const common = { prefix: 'reports', spam: 1, complaint: 1, at: receivedAt } as const
    const distinct = [...new Set(pieces)]
    return {
      ...{ id, receivedAt, isRetracted: below(2) === 0 },
      shingles: packShingles(
        distinct.flatMap((own) => [
          { type: piece, name: '', hash: hexOf(own) },
          { type: pair.number, name: pair.name, hash: hexOf(person), of: hexOf(own) },
        ]),
      ),
      increments: distinct.flatMap((shingle): Increment[] => [
        { shingle, ...common },
        { shingle: wholePairKey(pair.number, shingle), unique: person, ...common },
      ]),
    }
  })
}

/**
 * Returns the increments of the reports of one batch, and of the retractions that come with it:
 * those of half of the reports of the batch before.
 */
export function countsOf(startMs: number, appender: number, batch: number): Increment[] {
  const own = reportsOf(startMs, appender, batch).flatMap(({ increments }) => increments)
  const before = batch === 0 ? [] : reportsOf(startMs, appender, batch - 1)
  const retracted = before.filter(({ isRetracted }) => isRetracted)
  return [...own, ...retracted.flatMap(({ increments }) => reversal(increments, new Date(startMs)))]
}

/** Appenders with this number or a higher one append reports instead of increments. */
export const REPORTS_FROM = 100

function hash(number: number): bigint {
  return BigInt.asUintN(64, BigInt(number + 1) * 0x9e3779b97f4a7c15n)
}
