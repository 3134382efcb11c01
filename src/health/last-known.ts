import type { App } from '../app.ts'
import { findAlarms, type StoredAlarms } from '../db/alarm-watch.ts'
import type { Outage } from '../outage/outage.ts'
import { inTime, runRounds, systemElapsed, untilNext } from '../world.ts'
import type { AlarmState } from './alarms.ts'
import { type ConditionCode, conditionCodes, type Level, worstLevel } from './conditions.ts'

/** What the last evaluation for alarms found. Silenced conditions are not among the bad ones. */
type EvaluatedHealth = {
  at: Date
  level: Level
  bad: readonly { code: ConditionCode; level: Level }[]
}

/** What a process knows without waiting for the database. */
export type LastKnown = {
  /** Since when the database has not answered; undefined while it does. */
  silentSince: Date | undefined
  /** As the database last told; undefined if it never did, or if nothing was ever evaluated. */
  health: EvaluatedHealth | undefined
}

/** Asks the database for a moment, and returns what is known then. Never rejects. */
export type ReadLastKnown = () => Promise<LastKnown>

/** Time in milliseconds after which a question without an answer is not waited for. */
const ANSWER_MS = 1_200
/** Interval in milliseconds at which it is asked, so that something is known when it hangs. */
const REFRESH_MS = 30_000

/**
 * Creates a reader of what is last known, for answers that must come while the database hangs. One
 * question at a time waits for the database, however many callers there are.
 */
export function createLastKnown(
  { pool, clock }: Pick<App, 'pool' | 'clock'>,
  outage: Pick<Outage, 'since' | 'run'>,
): { read: ReadLastKnown; close: () => void } {
  let health: EvaluatedHealth | undefined
  let unanswered: Date | undefined
  let asking: { answer: Promise<boolean>; since: number } | undefined

  async function ask(): Promise<boolean> {
    unanswered ??= clock()
    // An error that is no outage is an answer, too.
    const told = await outage
      .run<StoredAlarms<AlarmState> | 'away'>(
        () => findAlarms<AlarmState>(pool),
        () => 'away',
      )
      .catch(() => undefined)
    if (told === 'away') return false
    unanswered = undefined
    const { state, evaluatedAt } = told ?? {}
    if (state && evaluatedAt) health = healthOf(state, evaluatedAt)
    return true
  }

  async function read(): Promise<LastKnown> {
    const since = outage.since()
    if (since) return { silentSince: unanswered ?? since, health }
    asking ??= { answer: ask().finally(() => (asking = undefined)), since: systemElapsed() }
    const leftMs = Math.max(0, asking.since + ANSWER_MS - systemElapsed())
    const isAnswered = await inTime(asking.answer, leftMs, false)
    return { silentSince: isAnswered ? undefined : (unanswered ?? outage.since()), health }
  }

  const refreshing = runRounds(() => read().then(() => untilNext(REFRESH_MS)), {
    firstMs: untilNext(REFRESH_MS),
  })
  return { read, close: () => void refreshing.close() }
}

function healthOf({ watched }: AlarmState, at: Date): EvaluatedHealth {
  const bad = conditionCodes.flatMap((code) => {
    const { badSince = null, criticalSince = null } = watched[code] ?? {}
    if (badSince === null) return []
    return [{ code, level: criticalSince === null ? ('warning' as const) : ('critical' as const) }]
  })
  return { at, level: worstLevel(bad.map(({ level }) => level)), bad }
}
