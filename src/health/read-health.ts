import type { App } from '../app.ts'
import { findAlarms } from '../db/alarm-watch.ts'
import { isOutage } from '../db/follow.ts'
import { type HealthSettings, listHealthSettings, listProcesses } from '../db/health.ts'
import { type Db, onConnection } from '../db/pool.ts'
import { reasonOf } from '../errors.ts'
import { phrase } from '../phrase.ts'
import type { AlarmState } from './alarms.ts'
import {
  type Condition,
  type ConditionCode,
  conditionCodes,
  judgeCondition,
  type Level,
  type Measurement,
  worstLevel,
} from './conditions.ts'
import type { Deliveries } from './deliveries.ts'
import type { ProcessFacts, RunningProcess } from './heartbeat.ts'
import { measures, measuringAt } from './measures.ts'

type Health = {
  level: Level
  at: Date
  conditions: readonly Condition[]
  processes: readonly RunningProcess[]
}

/**
 * Reads all conditions; `isFresh` after a change, which must show at once. Rejects if the database
 * is away.
 */
export type ReadHealth = (options?: { isFresh: boolean }) => Promise<Health>

export type HealthNeeds = Pick<App, 'pool' | 'clock' | 'config'>

/** Time in milliseconds for which the result is reused, and for which that of slow measures is. */
const REMEMBERED_MS = 2_000

type Remembered = { at: number; measured: Measurement }

/**
 * Creates a function that measures all conditions. Callers within two seconds, and while the
 * database does not answer, share one result; measures that read much are repeated at their own,
 * longer intervals.
 */
export function createReadHealth(app: HealthNeeds): ReadHealth {
  const remembered = new Map<ConditionCode, Remembered>()
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<Health> | undefined
  let isPending = false
  return ({ isFresh } = { isFresh: false }) => {
    const now = app.clock().getTime()
    const isOld = now - readAt > REMEMBERED_MS || now < readAt
    if (isFresh || !reading || (isOld && !isPending)) {
      readAt = now
      isPending = true
      const begun = onConnection(app.pool, (db) => readHealth(app, db, remembered))
      const settled = (isUsable: boolean) => {
        if (reading !== begun) return
        isPending = false
        if (!isUsable) reading = undefined
      }
      begun.then(
        () => settled(true),
        () => settled(false),
      )
      reading = begun
    }
    return reading
  }
}

async function readHealth(
  app: HealthNeeds,
  db: Db,
  remembered: Map<ConditionCode, Remembered>,
): Promise<Health> {
  const now = app.clock()
  const [settings, alarms, processes] = await Promise.all([
    listHealthSettings(db),
    findAlarms<AlarmState & Deliveries>(db),
    listProcesses<ProcessFacts>(db),
  ])
  const settingsOf = new Map(settings.map((one) => [one.code, one]))
  const doneAt = settingsOf.get('backup')?.doneAt ?? null
  const measuring = measuringAt(now, db, { config: app.config, processes, alarms, doneAt })
  const conditions = await Promise.all(
    conditionCodes.map(async (code) => {
      const { measure, everyMs = 0 } = measures[code]
      const before = remembered.get(code)
      const ageMs = now.getTime() - (before?.at ?? 0)
      const isFresh = before !== undefined && ageMs >= 0 && ageMs < everyMs
      const measured = isFresh ? before.measured : await measure(measuring).catch(unmeasured)
      if (!isFresh && everyMs > 0) remembered.set(code, { at: now.getTime(), measured })
      const condition = judgeCondition(code, measured, settingsOf.get(code) ?? noSettings, now)
      return { ...condition, since: badSince(alarms.state, condition) }
    }),
  )
  return { level: worstLevel(conditions.map(({ level }) => level)), at: now, conditions, processes }
}

/**
 * Since when a condition is bad, at the earliest: what waits longest now may have been preceded by
 * others, so the evaluation of alarms may have seen it bad before.
 */
function badSince(
  alarms: AlarmState | null,
  { code, level, since }: Pick<Condition, 'code' | 'level' | 'since'>,
): Date | null {
  const seen = alarms?.watched[code]?.badSince
  if (!seen || (level !== 'warning' && level !== 'critical')) return since
  const seenAt = new Date(seen)
  return since && since < seenAt ? since : seenAt
}

const noSettings: Partial<HealthSettings> = {}

/** A measure that fails is unknown, unless the database is away: then nothing is known. */
function unmeasured(error: unknown): Measurement {
  if (isOutage(error)) throw error
  const reason = phrase('health-unmeasured', { reason: reasonOf(error) })
  return { level: 'unknown', reason, cause: 'unmeasured' }
}
