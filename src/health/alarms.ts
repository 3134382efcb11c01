import { DAY_MS, HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { Phrase } from '../phrase.ts'
import {
  type Cause,
  type Condition,
  type ConditionCode,
  conditionCodes,
  definitionOf,
} from './conditions.ts'

type AlarmLevel = 'warning' | 'critical'

/** What a message says of a bad condition, and what to do about it. */
type Account = {
  reason: Phrase
  advice: ConditionCode | Cause
  /** The name of the action that repairs it. */
  action: string | null
}

export type Alarm = Account & { code: ConditionCode; level: AlarmLevel }

/**
 * An alarm that was sent and is not over. `good`: the condition is good, and the alarm is over if
 * it stays so. `unclear`: it is unknown or could not be evaluated, or another condition explains
 * it. Its account is of when it was last bad.
 */
export type StandingAlarm = Alarm & { now: 'bad' | 'good' | 'unclear' }

/** One message to the operators, about everything that belongs together. */
export type AlarmMessage = {
  kind: 'alarm' | 'reminder' | 'all-clear' | 'update'
  at: string
  /** What is new or has become worse. */
  raised: readonly Alarm[]
  over: readonly ConditionCode[]
  standing: readonly StandingAlarm[]
}

/** What is known about a condition. Times are in ISO 8601. */
type Watched = {
  /** Since when it has been bad, and critical, without a break. */
  badSince: string | null
  criticalSince: string | null
  goodSince: string | null
  /** The level in the last message about it; null: no alarm stands. */
  notified: AlarmLevel | null
  /** The times at which it became good while its alarm stood. */
  endedAt: readonly string[]
  reason: Phrase | null
  /** Absent in the state of earlier versions. */
  advice?: Account['advice']
  action?: Account['action']
}

/**
 * The alarms that were sent, and the changes that wait to be sent. It is stored, so that a restart
 * neither repeats nor loses an alarm.
 */
export type AlarmState = {
  watched: Partial<Record<ConditionCode, Watched>>
  decidedAt: string | null
  /** Since when a change waits for others that belong to it. */
  groupedSince: string | null
  sentAt: readonly string[]
  /** When standing alarms were last listed in a message. */
  listedAt: string | null
}

/** The daily hours in which warnings wait, in minutes of the day of a time zone. */
export type QuietHours = { from: number; to: number; zone: string }

export const emptyAlarmState: AlarmState = {
  ...{ watched: {}, decidedAt: null, groupedSince: null, sentAt: [], listedAt: null },
}

/** Time in milliseconds that a change waits for others, to be sent in the same message. */
const GROUP_MS = 15_000
/** At most this number of messages are sent in each ten minutes; further changes wait. */
const MESSAGES_MAX = 3
const MESSAGES_MS = 10 * MINUTE_MS
/** Time in milliseconds for which a condition must be good before its alarm is over. */
const OVER_MS = MINUTE_MS
/** A condition that became good this often in an hour flaps: its alarm ends after a longer time. */
const FLAPS = 2
const ENDS_KEPT = 10
const FLAPS_MS = HOUR_MS
const FLAPPING_OVER_MS = 30 * MINUTE_MS
/** After a longer pause of the evaluation, or a jump of the clock, bounds must hold anew. */
const GAP_MS = 2 * MINUTE_MS

const unwatched: Watched = {
  ...{ badSince: null, criticalSince: null, goodSince: null, notified: null, endedAt: [] },
  reason: null,
}

/**
 * Decides whether operators get a message now.
 *
 * An alarm is raised when a bound was exceeded for the time of the condition, and when it became
 * critical. A change waits 15 seconds for others; at most three messages are sent in ten minutes.
 * An alarm is over when the condition was good for a minute, or for half an hour if it flaps.
 * Unknown changes nothing. Silenced conditions, and those that another one explains, raise no
 * alarm; warnings wait for the end of the quiet hours. What stands is listed once a day.
 */
export function decideAlarms(
  before: AlarmState,
  conditions: readonly Condition[],
  { now, quietHours }: { now: Date; quietHours?: QuietHours | undefined },
): { state: AlarmState; message: AlarmMessage | undefined } {
  const state = atTime(before, now)
  const isQuiet = quietHours !== undefined && isWithin(quietHours, now)
  const bad = new Set<string>(
    conditions.filter(({ level }) => isBad(level)).map(({ code }) => code),
  )
  const watched = { ...state.watched }
  for (const condition of conditions) {
    const isHidden = definitionOf(condition.code).hiddenBy?.some((code) => bad.has(code)) === true
    watched[condition.code] = watch(watched[condition.code] ?? unwatched, condition, {
      now,
      isHidden,
    })
  }
  const due = dueOf(watched, { now, isQuiet })
  const next = { ...state, watched }
  if (due.raised.length + due.over.length === 0) {
    return remind({ ...next, groupedSince: null }, conditions, { now, isQuiet })
  }
  const groupedSince = state.groupedSince ?? now.toISOString()
  const isFull = state.sentAt.length >= MESSAGES_MAX
  if (isFull || ageOf(groupedSince, now) < GROUP_MS) {
    return { state: { ...next, groupedSince }, message: undefined }
  }
  return announce(next, due, { now, conditions })
}

type Due = { raised: Alarm[]; over: ConditionCode[] }

/** Moves times of the future to now, and removes those that no longer count. */
function atTime(state: AlarmState, now: Date): AlarmState {
  const notLater = (at: string | null) => (at !== null && new Date(at) > now ? iso(now) : at)
  const sinceMs = state.decidedAt === null ? 0 : ageOf(state.decidedAt, now)
  const hasGap = sinceMs > GAP_MS || sinceMs < 0
  const held = (at: string | null) => (hasGap && at !== null ? iso(now) : at)
  const recent = (times: readonly string[], ms: number) =>
    times.map((at) => notLater(at) ?? at).filter((at) => ageOf(at, now) < ms)
  const watched = Object.entries(state.watched).map(([code, one]) => {
    const { badSince, criticalSince, goodSince, endedAt } = one
    const times = {
      ...{ badSince: held(badSince), criticalSince: held(criticalSince) },
      ...{ goodSince: held(goodSince), endedAt: recent(endedAt, FLAPS_MS) },
    }
    return [code, { ...one, ...times }]
  })
  return {
    watched: Object.fromEntries(watched) as AlarmState['watched'],
    decidedAt: iso(now),
    groupedSince: notLater(state.groupedSince),
    sentAt: recent(state.sentAt, MESSAGES_MS),
    listedAt: notLater(state.listedAt),
  }
}

function watch(
  before: Watched,
  { level, reason, advice, action, silencedUntil }: Condition,
  { now, isHidden }: { now: Date; isHidden: boolean },
): Watched {
  const none = { badSince: null, criticalSince: null, goodSince: null }
  if (level === 'unknown') return { ...before, ...none }
  const isSilenced = silencedUntil !== null
  if (isBad(level)) {
    const account = { reason, advice, action }
    if (isHidden || isSilenced) return { ...before, ...none, ...account }
    const badSince = before.badSince ?? iso(now)
    const criticalSince = level === 'critical' ? (before.criticalSince ?? iso(now)) : null
    return { ...before, badSince, criticalSince, goodSince: null, ...account }
  }
  if (isSilenced) return { ...before, ...none, notified: null }
  const isEnd = before.badSince !== null && before.notified !== null
  const endedAt = isEnd ? [...before.endedAt, iso(now)].slice(-ENDS_KEPT) : before.endedAt
  return { ...before, ...none, endedAt, goodSince: before.goodSince ?? iso(now) }
}

function dueOf(
  watched: AlarmState['watched'],
  { now, isQuiet }: { now: Date; isQuiet: boolean },
): Due {
  const due: Due = { raised: [], over: [] }
  for (const code of conditionCodes) {
    const one = watched[code]
    if (!one) continue
    const holdMs = definitionOf(code).holdSeconds * 1_000
    const held = (since: string | null) => since !== null && ageOf(since, now) >= holdMs
    const level = held(one.criticalSince) ? 'critical' : held(one.badSince) ? 'warning' : undefined
    const isWorse =
      level && (one.notified === null || (one.notified === 'warning' && level === 'critical'))
    const account = accountOf(code, one)
    if (isWorse && account && !(isQuiet && level === 'warning')) {
      due.raised.push({ code, level, ...account })
    }
    const overMs = one.endedAt.length >= FLAPS ? FLAPPING_OVER_MS : OVER_MS
    const isOver = one.goodSince !== null && ageOf(one.goodSince, now) >= overMs
    if (one.notified !== null && isOver && !(isQuiet && one.notified === 'warning'))
      due.over.push(code)
  }
  return due
}

function announce(
  state: AlarmState,
  { raised, over }: Due,
  { now, conditions }: { now: Date; conditions: readonly Condition[] },
): { state: AlarmState; message: AlarmMessage } {
  const watched = { ...state.watched }
  for (const { code, level } of raised) {
    watched[code] = { ...(watched[code] ?? unwatched), notified: level }
  }
  for (const code of over) watched[code] = { ...(watched[code] ?? unwatched), notified: null }
  const codes = new Set(raised.map(({ code }) => code))
  const standing = standingOf(watched, conditions).filter(({ code }) => !codes.has(code))
  const ended = standing.length > 0 ? 'update' : 'all-clear'
  const kind = raised.length > 0 ? 'alarm' : ended
  return {
    state: {
      ...{ watched, decidedAt: state.decidedAt, groupedSince: null, listedAt: iso(now) },
      sentAt: [...state.sentAt, iso(now)],
    },
    message: { kind, at: iso(now), raised, over, standing },
  }
}

function remind(
  state: AlarmState,
  conditions: readonly Condition[],
  { now, isQuiet }: { now: Date; isQuiet: boolean },
): { state: AlarmState; message: AlarmMessage | undefined } {
  const silenced = new Set(
    conditions.filter(({ silencedUntil }) => silencedUntil).map(({ code }) => code),
  )
  const standing = standingOf(state.watched, conditions).filter(({ code }) => !silenced.has(code))
  const maySend = standing.some(
    ({ level, now: state }) => state !== 'good' && (level === 'critical' || !isQuiet),
  )
  const isDue = state.listedAt === null || ageOf(state.listedAt, now) >= DAY_MS
  if (!maySend || !isDue) return { state, message: undefined }
  return {
    state: { ...state, sentAt: [...state.sentAt, iso(now)], listedAt: iso(now) },
    message: { kind: 'reminder', at: iso(now), raised: [], over: [], standing },
  }
}

function standingOf(
  watched: AlarmState['watched'],
  conditions: readonly Condition[],
): StandingAlarm[] {
  // While the database is away, only that is evaluated.
  const evaluated = new Set(conditions.map(({ code }) => code))
  return conditionCodes.flatMap((code) => {
    const one = watched[code]
    const account = one && accountOf(code, one)
    if (!one?.notified || !account) return []
    const known = one.badSince !== null ? 'bad' : one.goodSince !== null ? 'good' : 'unclear'
    const now = evaluated.has(code) ? known : 'unclear'
    return [{ code, level: one.notified, ...account, now }]
  })
}

function accountOf(code: ConditionCode, one: Watched): Account | undefined {
  const { reason, advice = code, action = definitionOf(code).action ?? null } = one
  return reason === null ? undefined : { reason, advice, action }
}

/** Whether an instant is in the quiet hours, which may include midnight. */
export function isWithin({ from, to, zone }: QuietHours, at: Date): boolean {
  const parts = new Intl.DateTimeFormat('en-GB', {
    ...({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: zone } as const),
  }).formatToParts(at)
  const numberOf = (type: string) => Number(parts.find((part) => part.type === type)?.value ?? 0)
  const minute = numberOf('hour') * 60 + numberOf('minute')
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to
}

function isBad(level: Condition['level']): level is AlarmLevel {
  return level === 'warning' || level === 'critical'
}

function ageOf(at: string, now: Date): number {
  return now.getTime() - Date.parse(at)
}

function iso(at: Date): string {
  return at.toISOString()
}
