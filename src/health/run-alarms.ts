import type { App } from '../app.ts'
import { claimAlarms, keepAlarms, releaseAlarms } from '../db/alarm-watch.ts'
import { reasonOf } from '../errors.ts'
import { callOperator } from '../net/operator-http.ts'
import { phrase } from '../phrase.ts'
import { inTime, runRounds, untilNext, uuidv7 } from '../world.ts'
import { composeNotice } from './alarm-text.ts'
import { type AlarmState, decideAlarms, emptyAlarmState } from './alarms.ts'
import type { Channel } from './channels.ts'
import { type Condition, judgeCondition } from './conditions.ts'
import { deliver, type Deliveries, emptyDeliveries, queueNotice } from './deliveries.ts'
import type { ReadHealth } from './read-health.ts'

/** What the process that evaluates stores: what it decided, and what it has delivered. */
export type AlarmWatchState = AlarmState & Deliveries & { calledAt: string | null }

const EVALUATE_MS = 10_000
/** Time in seconds for which a process evaluates without renewing its claim. */
const CLAIM_SECONDS = 30
/** Maximum time in milliseconds to wait for the database; later it counts as away. */
const DATABASE_MS_MAX = 8_000
/** Interval in milliseconds of the calls that say that all is well. */
const HEARTBEAT_MS = 60_000

const emptyState: AlarmWatchState = { ...emptyAlarmState, ...emptyDeliveries, calledAt: null }

type Needs = Pick<App, 'pool' | 'clock' | 'log' | 'config'>
type Tools = { channels: readonly Channel[]; readHealth: ReadHealth }

/** Evaluates the conditions every ten seconds and sends alarms, until closed. */
export function runAlarms(app: Needs, tools: Tools): { close: () => Promise<void> } {
  const watch = createAlarmWatch(app, tools)
  const rounds = runRounds(async () => {
    await watch.evaluate().catch((err: unknown) => app.log.error({ err }, 'Could not send alarms.'))
    return untilNext(EVALUATE_MS)
  })
  return {
    async close() {
      await rounds.close()
      await watch.release()
    },
  }
}

/**
 * Creates the evaluation for one process. Of several processes one evaluates; when it ends, another
 * takes over within half a minute, with the stored state. While the database is away, the one that
 * evaluated last goes on from memory.
 */
export function createAlarmWatch(app: Needs, tools: Tools) {
  const holder = uuidv7(app.clock())
  /** The state that could not be stored; then this process goes on when the database is back. */
  let unstored: AlarmWatchState | undefined
  let last: AlarmWatchState | undefined

  async function evaluate(): Promise<void> {
    try {
      const isForced = unstored !== undefined
      const claimed = await quickly(
        claimAlarms<AlarmWatchState>(app.pool, { holder, seconds: CLAIM_SECONDS, isForced }),
      )
      if (!claimed) {
        last = undefined
        return
      }
      const state = unstored ?? { ...emptyState, ...claimed.state }
      const { conditions } = await quickly(tools.readHealth())
      unstored = undefined
      await act(state, conditions)
    } catch (error) {
      await actWithoutDatabase(error)
    }
  }

  /** Decides and delivers; the decision is stored before anything is sent. */
  async function act(before: AlarmWatchState, conditions: readonly Condition[]): Promise<void> {
    last = decide(before, conditions, app, tools)
    if (!(await keep(last))) return
    const decided = last
    last = await callWhenWell(await deliver(decided, tools.channels, app), conditions, app)
    if (last !== decided) await keep(last)
  }

  function keep(state: AlarmWatchState): Promise<boolean> {
    return quickly(keepAlarms(app.pool, { holder, state, now: app.clock() }))
  }

  async function actWithoutDatabase(error: unknown): Promise<void> {
    const before = unstored ?? last
    if (!before) {
      app.log.debug({ reason: reasonOf(error) }, 'Could not evaluate the conditions. Will retry.')
      return
    }
    const reason = phrase('health-database-away', { reason: reasonOf(error) })
    const measured = { level: 'critical', reason } as const
    const away = judgeCondition('database', measured, {}, app.clock())
    unstored = await deliver(decide(before, [away], app, tools), tools.channels, app)
  }

  return {
    evaluate,
    /** Lets another process take over at once. */
    release: () => quickly(releaseAlarms(app.pool, holder)).catch(() => undefined),
  }
}

function decide(
  before: AlarmWatchState,
  conditions: readonly Condition[],
  app: Needs,
  { channels }: Tools,
): AlarmWatchState {
  const now = app.clock()
  const { quietHours } = app.config.alarms
  const { state, message } = decideAlarms(before, conditions, { now, quietHours })
  const next = { ...before, ...state }
  if (!message) return next
  const codes = message.raised.map(({ code }) => code)
  app.log.warn({ kind: message.kind, raised: codes, over: message.over }, 'The health changed.')
  const notice = composeNotice(uuidv7(now), message, app.config.publicUrl)
  return { ...next, ...queueNotice(next, notice, channels) }
}

/**
 * Calls ALARM_HEARTBEAT_URL once a minute while nothing is critical: the service that expects the
 * calls raises an alarm when they stop.
 */
async function callWhenWell(
  state: AlarmWatchState,
  conditions: readonly Condition[],
  { clock, config, log }: Needs,
): Promise<AlarmWatchState> {
  const { heartbeatUrl } = config.alarms
  const isWell = conditions.every(({ level }) => level !== 'critical')
  const now = clock()
  const sinceMs = now.getTime() - Date.parse(state.calledAt ?? '1970-01-01')
  const isEarly = sinceMs >= 0 && sinceMs < HEARTBEAT_MS - EVALUATE_MS / 2
  if (heartbeatUrl === undefined || !isWell || isEarly) return state
  try {
    await callOperator(heartbeatUrl)
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, 'Could not call ALARM_HEARTBEAT_URL. Will retry.')
  }
  return { ...state, calledAt: now.toISOString() }
}

const LATE = Symbol('late')

/** Rejects when the database takes too long, as if it were away. */
async function quickly<T>(asking: Promise<T>): Promise<T> {
  asking.catch(() => undefined)
  const answer = await inTime(asking, DATABASE_MS_MAX, LATE)
  if (answer === LATE) throw new Error('The database does not answer in time.')
  return answer
}
