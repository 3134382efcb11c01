import type { App } from '../app.ts'
import { createCounterReader } from '../counting/reader.ts'
import { readVolumes } from '../counting/volumes.ts'
import { listToldComplaints, type ToldComplaints } from '../db/feedback-reports.ts'
import { dateOf, DAY_MS } from '../durations.ts'
import { parseIp } from '../mail/ip.ts'
import { block24Or48 } from '../mail/ip-blocks.ts'
import { REPORTERS_FLOOR, REPORTS_FLOOR } from './hide-small-counts.ts'

export type ComplaintCount = { day: string; name: string; complaints: number }

/** How often people complained about mail of an address that mail servers checked here. */
type ComplaintRate = { name: string; complaints: number; messages: number; percent: number }

/** What a desk or a marketer sees of the complaints that it was notified of. */
export type ComplaintFigures = {
  /** The first and the last day, in UTC. */
  from: string
  until: string
  /** All days, the newest first; null: none, or too few to be shown. */
  days: { day: string; complaints: number | null }[]
  /** By range: /24, and /48 for IPv6. */
  ranges: ComplaintCount[]
  addresses: ComplaintCount[]
  /** Of the newest 14 of these days. */
  rates: ComplaintRate[]
}

const DAYS = 30
const RATE_DAYS = 14
/** Days after its end on which a day may still change: by mail that waits, and by retractions. */
const SETTLED_DAYS = 2
const ROWS_MAX = 100_000
const RATES_MAX = 100
/** Fewer messages give no rate. */
const MESSAGES_MIN = 100

/**
 * Returns the figures for a consumer. Numbers that could reveal a reporter are left out; see
 * `hiddenFigures`. Days that may still change are left out too, so that the difference of two
 * requests shows no single report.
 */
export async function readComplaintFigures(
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
  consumerId: string,
): Promise<ComplaintFigures> {
  const now = clock()
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  const until = new Date(today - SETTLED_DAYS * DAY_MS)
  const from = new Date(until.getTime() - DAYS * DAY_MS)
  const rows = await listToldComplaints(pool, consumerId, { from, until, limit: ROWS_MAX })
  // The oldest day of a list that was cut is incomplete.
  const cut = rows.length === ROWS_MAX ? rows.at(-1)?.day : undefined
  const figures = hiddenFigures(rows.filter(({ day }) => day !== cut))
  const days = Array.from({ length: DAYS }, (_, at) => {
    const day = dateOf(new Date(until.getTime() - (at + 1) * DAY_MS))
    return { day, complaints: figures.totals.get(day) ?? null }
  })
  const newest = days[RATE_DAYS - 1]?.day ?? ''
  const counters = createCounterReader({ pool, clock }, { keysMax: 1_000, freshMs: 0 })
  const rates = await ratesOf(
    figures.addresses.filter(({ day }) => day >= newest),
    counters,
  )
  const { ranges, addresses } = figures
  return { from: dateOf(from), until: days[0]?.day ?? '', days, ranges, addresses, rates }
}

type Part = { name: string; rows: readonly ToldComplaints[] }

/**
 * The complaints by day, by range, and by address in the ranges that are shown. A number is shown
 * if it is of at least `REPORTS_FLOOR` complaints by `REPORTERS_FLOOR` people. What the parts of a
 * shown number leave over can be computed, so it is nothing, or reaches the same floors and is of
 * two parts at least; for this, further parts are hidden, the smallest first.
 */
export function hiddenFigures(rows: readonly ToldComplaints[]): {
  totals: Map<string, number>
  ranges: ComplaintCount[]
  addresses: ComplaintCount[]
} {
  const totals = new Map<string, number>()
  const [ranges, addresses]: [ComplaintCount[], ComplaintCount[]] = [[], []]
  for (const [day, its] of Map.groupBy(rows, (row) => row.day)) {
    if (!isShowable(its)) continue
    totals.set(day, sumOf(its))
    for (const range of shownParts(partsBy(its, ({ ip }) => rangeOf(ip)))) {
      ranges.push({ day, name: range.name, complaints: sumOf(range.rows) })
      for (const { name, rows: of } of shownParts(partsBy(range.rows, ({ ip }) => ip))) {
        addresses.push({ day, name, complaints: sumOf(of) })
      }
    }
  }
  return { totals, ranges, addresses }
}

function partsBy(rows: readonly ToldComplaints[], nameOf: (row: ToldComplaints) => string): Part[] {
  return [...Map.groupBy(rows, nameOf)].map(([name, its]) => ({ name, rows: its }))
}

function shownParts(parts: readonly Part[]): Part[] {
  const sorted = parts.toSorted(
    (one, other) => sumOf(other.rows) - sumOf(one.rows) || (one.name < other.name ? -1 : 1),
  )
  const shown = sorted.filter(({ rows }) => isShowable(rows))
  const hidden = sorted.filter(({ rows }) => !isShowable(rows))
  const reveals = () =>
    hidden.length === 1 || (hidden.length > 0 && !isShowable(hidden.flatMap(({ rows }) => rows)))
  while (shown.length > 0 && reveals()) hidden.push(...shown.splice(-1))
  return shown
}

function isShowable(rows: readonly ToldComplaints[]): boolean {
  const people = new Set(rows.map(({ reporterId }) => reporterId))
  return sumOf(rows) >= REPORTS_FLOOR && people.size >= REPORTERS_FLOOR
}

function sumOf(rows: readonly { complaints: number }[]): number {
  return rows.reduce((sum, { complaints }) => sum + complaints, 0)
}

function rangeOf(ip: string): string {
  const address = parseIp(ip)
  return address ? block24Or48(address) : ip
}

async function ratesOf(
  counts: readonly ComplaintCount[],
  counters: Parameters<typeof readVolumes>[0],
): Promise<ComplaintRate[]> {
  const sums = [...Map.groupBy(counts, ({ name }) => name)]
    .map(([name, its]) => ({ name, complaints: sumOf(its) }))
    .toSorted((one, other) => other.complaints - one.complaints)
    .slice(0, RATES_MAX)
  const volumes = await readVolumes(
    counters,
    sums.map(({ name }) => ({ kind: 'address', name })),
  )
  return sums.flatMap(({ name, complaints }, at) => {
    const messages = complaints + (volumes[at]?.quiet ?? 0)
    if (messages - complaints < MESSAGES_MIN) return []
    return [{ name, complaints, messages, percent: percentOf(complaints / messages) }]
  })
}

/** Two significant digits. */
function percentOf(share: number): number {
  return Number((share * 100).toPrecision(2))
}
