import type { Db } from './pool.ts'
import { changesAny, rowOf } from './rows.ts'

/** The stored state of the alarms; null before the first evaluation. */
export type StoredAlarms<State> = { state: State | null; evaluatedAt: Date | null }

/** Returns the state as last stored, and when the conditions were last evaluated. */
export async function findAlarms<State extends object>(db: Db): Promise<StoredAlarms<State>> {
  const found = await rowOf(db)<StoredAlarms<State>>`
    select state, evaluated_at as "evaluatedAt" from alarm_watch`
  return found ?? { state: null, evaluatedAt: null }
}

/**
 * Makes a process the one that evaluates, for some seconds, and returns the stored state; undefined
 * while another process is it. With `isForced` it takes over from the other one.
 */
export function claimAlarms<State extends object>(
  db: Db,
  { holder, seconds, isForced }: { holder: string; seconds: number; isForced: boolean },
): Promise<StoredAlarms<State> | undefined> {
  return rowOf(db)`
    update alarm_watch
    set holder = ${holder}, held_until = database_clock() + interval '1 second' * ${seconds}::int
    where holder is null or holder = ${holder} or held_until < database_clock() or ${isForced}
    returning state, evaluated_at as "evaluatedAt"`
}

/** Stores the state after an evaluation; false if another process has taken over. */
export function keepAlarms(
  db: Db,
  { holder, state, now }: { holder: string; state: object; now: Date },
): Promise<boolean> {
  return changesAny(db)`
    update alarm_watch set state = ${JSON.stringify(state)}, evaluated_at = ${now}
    where holder = ${holder}`
}

/** Lets another process take over at once. */
export async function releaseAlarms(db: Db, holder: string): Promise<void> {
  await changesAny(db)`
    update alarm_watch set holder = null, held_until = null where holder = ${holder}`
}
