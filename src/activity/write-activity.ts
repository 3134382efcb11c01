import type { App } from '../app.ts'
import {
  type ActivityProgress,
  claimActivity,
  countReportsByTick,
  countSignUpsByTick,
  deleteMarks,
  deleteSlots,
  findActivityProgress,
  findDatabaseBytes,
  findLastVersion,
  findRunningVersions,
  insertMark,
  keepUsedSeries,
  listSlots,
  seriesIds,
  type SlotRow,
  takeSamples,
  updateActivityProgress,
  upsertSlots,
} from '../db/activity.ts'
import { listBacklogs, listQueueNames } from '../db/jobs.ts'
import { countWaitingMail, listMailTotals } from '../db/mail-relay.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import { families } from './families.ts'
import { levels, packSlot, type Slot, slotStart, TICK_MS, unpackSlots } from './slots.ts'

type Needs = Pick<App, 'pool' | 'clock'>

/** The time in milliseconds after a tick in which its reports and samples become visible. */
const LATE_MS = 3_000
/** The part of an outage that one transaction catches up with. */
const CHUNK_MS = HOUR_MS
/** After a longer outage, what happened before it is left out. */
const CAUGHT_UP_MS_MAX = 2 * DAY_MS
/** A time in which no process wrote that is marked on the graphs. */
const OUTAGE_MS = 60_000
/** A progress further in the future than this is wrong, because the clock was. */
const AHEAD_MS = 60_000

/**
 * Writes the ticks that have ended, and the longer slots that ended with them. Only one process
 * writes at a time, and each transaction begins where the last one ended, so that no tick is left
 * out or counted twice when another process continues. Returns whether this process wrote.
 */
export async function writeActivity(app: Needs): Promise<boolean> {
  const end = new Date(slotStart(app.clock().getTime() - LATE_MS, TICK_MS))
  const seen = await findActivityProgress(app.pool)
  if (seen && isWritten(seen, end)) return false
  for (let chunks = 0; ; chunks++) {
    const isContinued = chunks > 0
    const writtenUntil = await inTransaction(app.pool, async (tx) => {
      const progress = await claimActivity(tx)
      if (!progress || isWritten(progress, end)) return undefined
      return writeChunk(tx, { ...progress, end, isContinued })
    })
    if (writtenUntil === undefined) return isContinued
    if (writtenUntil >= end) return true
  }
}

function isWritten({ writtenUntil }: ActivityProgress, end: Date): boolean {
  if (writtenUntil === null) return false
  return writtenUntil >= end && writtenUntil.getTime() - end.getTime() < AHEAD_MS
}

async function writeChunk(
  tx: Db,
  {
    writtenUntil,
    mailTotals,
    end,
    isContinued,
  }: ActivityProgress & { end: Date; isContinued: boolean },
): Promise<Date> {
  const isUsable = writtenUntil !== null && writtenUntil < end
  const last = isUsable ? writtenUntil.getTime() : end.getTime() - TICK_MS
  const from = new Date(Math.max(last, end.getTime() - CAUGHT_UP_MS_MAX))
  const to = new Date(Math.min(end.getTime(), slotStart(from.getTime(), CHUNK_MS) + CHUNK_MS))
  const ticks = new Ticks(from, to)
  const isLast = to >= end
  // Statements that do not need each other's results are sent together.
  const [totals] = await Promise.all([
    addMail(tx, ticks, mailTotals),
    addCounts(tx, ticks),
    addSamples(tx, ticks),
    isLast && addStates(tx, ticks),
    isLast && markVersions(tx, to),
    !isContinued && end.getTime() - last > OUTAGE_MS && markOutage(tx, last, end),
  ])
  const ids = await seriesIds(tx, ticks.names(), to)
  await Promise.all([
    updateActivityProgress(tx, { writtenUntil: to, mailTotals: totals }),
    upsertSlots(tx, ticks.rows(ids)).then(() => consolidate(tx, from, to)),
  ])
  if (to.getTime() % MINUTE_MS === 0 || to.getTime() - from.getTime() > MINUTE_MS)
    await forget(tx, to)
  return to
}

function markOutage(tx: Db, last: number, end: Date): Promise<void> {
  return insertMark(tx, { at: new Date(last), kind: 'outage', detail: end.toISOString() })
}

/** The ticks of a chunk while they are filled, by the names of the series. */
class Ticks {
  readonly from: Date
  readonly to: Date
  readonly #ticks: { rates: Map<string, number>; states: Map<string, number> }[]
  readonly #durations: Map<string, number[]>[]

  constructor(from: Date, to: Date) {
    this.from = from
    this.to = to
    const length = Math.round((to.getTime() - from.getTime()) / TICK_MS)
    this.#ticks = Array.from({ length }, () => ({ rates: new Map(), states: new Map() }))
    this.#durations = Array.from({ length }, () => new Map())
  }

  get count(): number {
    return this.#ticks.length
  }

  /** The last tick, whose end is the present. */
  get latest(): Date {
    return new Date(this.to.getTime() - TICK_MS)
  }

  /** Adds events to the tick of an instant; earlier ones, which came late, to the first tick. */
  addEvents(at: Date, series: string, amount: number): void {
    const tick = this.#ticks[this.#placeOf(at)]
    if (tick && amount !== 0) tick.rates.set(series, (tick.rates.get(series) ?? 0) + amount)
  }

  /** Adds to a state: those of several processes are added. */
  addState(at: Date, series: string, value: number): void {
    const tick = this.#ticks[this.#placeOf(at)]
    if (tick) tick.states.set(series, (tick.states.get(series) ?? 0) + value)
  }

  addDurations(at: Date, series: string, histogram: readonly number[]): void {
    const known = this.#durations[this.#placeOf(at)]
    const sum = known?.get(series)
    known?.set(
      series,
      sum ? sum.map((count, place) => count + (histogram[place] ?? 0)) : [...histogram],
    )
  }

  names(): string[] {
    const all = this.#ticks.flatMap(({ rates, states }) => [...rates.keys(), ...states.keys()])
    const durations = this.#durations.flatMap((one) => [...one.keys()])
    return [...new Set([...all, ...durations])].sort()
  }

  rows(ids: ReadonlyMap<string, number>): SlotRow[] {
    const ofFamily = <T>(some: ReadonlyMap<string, T>, family: string): [number, T][] =>
      [...some].flatMap(([name, value]) => {
        const id = ids.get(name)
        return id !== undefined && name.startsWith(`${family}/`) ? [[id, value]] : []
      })
    const pointsOf = (some: ReadonlyMap<string, number>, family: string) =>
      new Map(
        ofFamily(some, family).map(([id, value]) => [
          id,
          { count: 1, min: value, mean: value, max: value },
        ]),
      )
    return this.#ticks.flatMap(({ rates, states }, index) =>
      families.map((family) => {
        const slot = {
          ticks: 1,
          rates: pointsOf(rates, family),
          states: pointsOf(states, family),
          durations: new Map(ofFamily(this.#durations[index] ?? new Map(), family)),
        }
        const at = new Date(this.from.getTime() + index * TICK_MS)
        return { level: 0, at, family, ticks: 1, content: packSlot(slot) }
      }),
    )
  }

  #placeOf(at: Date): number {
    return Math.max(0, Math.floor((at.getTime() - this.from.getTime()) / TICK_MS))
  }
}

/** Adds the events that can be counted from rows of the database, for any time. */
async function addCounts(tx: Db, ticks: Ticks): Promise<void> {
  const range = { from: ticks.from, to: ticks.to, tickMs: TICK_MS }
  const [reports, signUps] = await Promise.all([
    countReportsByTick(tx, range),
    countSignUpsByTick(tx, range),
  ])
  for (const { at, name, detail, count } of reports) {
    ticks.addEvents(at, `reports/channel/${name}`, count)
    ticks.addEvents(at, `reports/kind/${detail}`, count)
  }
  for (const { at, count } of signUps) ticks.addEvents(at, 'people/sign-ups', count)
}

/** Adds what the processes handed over. */
async function addSamples(tx: Db, ticks: Ticks): Promise<void> {
  for (const { at, content } of await takeSamples(tx, ticks.to)) {
    for (const [series, amount] of Object.entries(content.counts))
      ticks.addEvents(at, series, amount)
    for (const [series, one] of Object.entries(content.durations))
      ticks.addDurations(at, series, one)
    if (at < ticks.from) continue
    ticks.addState(at, `system/cpu/${content.process}`, content.cpu)
    ticks.addState(at, `system/memory/${content.process}`, content.memory)
  }
}

async function markVersions(tx: Db, at: Date): Promise<void> {
  const detail = await findRunningVersions(tx)
  if (detail === undefined || detail === (await findLastVersion(tx))) return
  await insertMark(tx, { at, kind: 'version', detail })
}

/**
 * Adds the mails since the last chunk, evenly to all ticks, because the totals do not state when
 * they were sent. Returns the totals.
 */
async function addMail(
  tx: Db,
  ticks: Ticks,
  before: Record<string, number>,
): Promise<Record<string, number>> {
  const totals: Record<string, number> = {}
  for (const { kind, outcome, total } of await listMailTotals(tx)) {
    const series = `mail/${kind}/${outcome}`
    totals[series] = total
    const known = before[series] ?? (Object.keys(before).length === 0 ? total : 0)
    const share = Math.max(0, total - known) / ticks.count
    for (let tick = 0; tick < ticks.count; tick++)
      ticks.addEvents(new Date(ticks.from.getTime() + tick * TICK_MS), series, share)
  }
  return totals
}

/** Adds what is known only about the present. */
async function addStates(tx: Db, ticks: Ticks): Promise<void> {
  const at = ticks.latest
  for (const queue of await listBacklogs(tx, await listQueueNames(tx), ticks.to)) {
    ticks.addState(at, `queues/waiting/${queue.name}`, queue.ready + queue.deferred)
    ticks.addState(at, `queues/age/${queue.name}`, queue.oldestJobSeconds)
  }
  // These take longer, and change slowly.
  if (ticks.to.getTime() % MINUTE_MS !== 0) return
  const { waiting, refused } = await countWaitingMail(tx)
  const states = ['queued', 'waiting', 'held'] as const
  for (const kind of ['feedback', 'letter'] as const) {
    for (const state of states) {
      const mails = waiting.find((one) => one.kind === kind && one.state === state)?.mails ?? 0
      ticks.addState(at, `mail/unsent/${state}`, mails)
    }
    ticks.addState(at, 'mail/unsent/refused', refused[kind])
  }
  ticks.addState(at, 'system/database', await findDatabaseBytes(tx))
}

/** Writes the longer slots that ended after `from`, up to `to`, each from those one level below. */
async function consolidate(tx: Db, from: Date, to: Date): Promise<void> {
  for (const [level, { stepMs }] of levels.entries()) {
    if (level === 0) continue
    const first = slotStart(from.getTime(), stepMs)
    const end = slotStart(to.getTime(), stepMs)
    if (end <= first) return
    const range = { level: level - 1, from: new Date(first), to: new Date(end) }
    const rows = longerSlots(await listSlots(tx, [range]), level)
    await upsertSlots(tx, rows)
    if (level === levels.length - 1) await keepUsed(tx, rows, to)
  }
}

/** Combines slots that follow each other into those of a longer level. */
export function longerSlots(children: readonly SlotRow[], level: number): SlotRow[] {
  const stepMs = levels[level]?.stepMs ?? TICK_MS
  const parents = Map.groupBy(
    children,
    ({ at, family }) => `${slotStart(at.getTime(), stepMs)} ${family}`,
  )
  return [...parents.values()].flatMap((some): SlotRow[] => {
    const [first] = some
    if (!first) return []
    const merged = unpackSlots(some)
    const at = new Date(slotStart(first.at.getTime(), stepMs))
    return [{ level, at, family: first.family, ticks: merged.ticks, content: packSlot(merged) }]
  })
}

async function keepUsed(tx: Db, rows: readonly SlotRow[], day: Date): Promise<void> {
  const ids = rows.flatMap((row) => idsOf(unpackSlots([row])))
  const keepMs = levels.at(-1)?.keepMs ?? 0
  await keepUsedSeries(tx, ids, { day, oldest: new Date(day.getTime() - keepMs) })
}

function idsOf({ rates, states, durations }: Slot): number[] {
  return [...rates.keys(), ...states.keys(), ...durations.keys()]
}

/** Deletes what is older than each level keeps, and a slot of the next level. */
async function forget(tx: Db, now: Date): Promise<void> {
  const before = (level: number) => {
    const { stepMs } = levels[Math.min(level + 1, levels.length - 1)] ?? { stepMs: 0 }
    return new Date(now.getTime() - (levels[level]?.keepMs ?? 0) - stepMs)
  }
  await deleteSlots(
    tx,
    levels.map((_, level) => ({ level, before: before(level) })),
  )
  await deleteMarks(tx, before(levels.length - 1))
}
