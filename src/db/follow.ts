import { setTimeout as wait } from 'node:timers/promises'
import { sqlState } from '../errors.ts'
import { inTime, type Rounds, runRounds, untilNext } from '../world.ts'
import type { Db } from './pool.ts'
import { prepared } from './prepared.ts'

/**
 * Interval of polling in milliseconds, and the time limit of reading a version: together less than
 * the two seconds in which a change must take effect.
 */
const LOOK_MS = 1_000
const ANSWER_MS_MAX = 900

/** The versions of all settings that processes follow; a change gives a setting another one. */
type Versions = {
  /** The newest rules; 0 if there are only the shipped ones. */
  rules: number
  model: number | undefined
  marketers: number
  /** The lists of rules. */
  lists: number
  /** Rises when a secret comes into force or is ended. */
  secrets: number
}

async function readVersions(db: Db): Promise<Versions> {
  const { rows } = await db.query<Record<keyof Versions, number | null>>(prepared`
    select (select max(version) from rule_sets) as rules,
      (select version from models where state = 'active') as model,
      (select version from marketer_registry where is_only) as marketers,
      (select version from rule_list_edition where is_only) as lists,
      (select (count(*) + count(ended_at))::int from secrets) as secrets`)
  const { rules, model, marketers, lists, secrets } = rows[0] ?? {}
  return {
    rules: rules ?? 0,
    model: model ?? undefined,
    marketers: marketers ?? 0,
    lists: lists ?? 0,
    secrets: secrets ?? 0,
  }
}

const readings = new WeakMap<Db, { startedAt: number; versions: Promise<Versions> }>()
const SHARED_MS = 50

/**
 * Reads the versions, or returns the result of a read that began less than 50 ms ago. Rejects after
 * `ANSWER_MS_MAX`.
 */
function readShared(db: Db): Promise<Versions> {
  const startedAt = performance.now()
  const last = readings.get(db)
  if (last && startedAt - last.startedAt < SHARED_MS) return last.versions
  const versions = inTime(readVersions(db), ANSWER_MS_MAX, undefined).then((read) => {
    if (!read) throw new Error('The database did not answer in time.')
    return read
  })
  readings.set(db, { startedAt, versions })
  return versions
}

/** How a process follows a setting in the database. */
type Followed<Version> = {
  /** Starts to use a version. If it throws, the version is loaded again a second later. */
  load: (version: Version) => Promise<void>
  /** Called after each poll. */
  afterwards?: () => Promise<void>
  /**
   * Receives the first of several consecutive errors. After an error, the loaded version stays in
   * use until the next success.
   */
  onFailure: (error: unknown) => void
}

/**
 * Reads and loads the version of a setting now. Until `close` is called, reads the version again
 * every second, at the same time as those of the other settings, and loads it if it is new. Each
 * read except the first is limited to 0.9 s, so that a connection that stopped responding
 * delays only one of them.
 *
 * @throws the error of the first read or load
 */
export async function follow<Setting extends keyof Versions>(
  db: Db,
  setting: Setting,
  { load, afterwards, onFailure }: Followed<Versions[Setting]>,
): Promise<Rounds> {
  let seen: { version: Versions[Setting] } | undefined

  async function look(reading: Promise<Versions>): Promise<void> {
    const version = (await reading)[setting]
    if (!seen || version !== seen.version) await load(version)
    seen = { version }
    await afterwards?.()
  }

  await look(readVersions(db))
  return lookAgainEvery(LOOK_MS, () => look(readShared(db)), onFailure)
}

/**
 * Calls a function again and again, with a pause after each call, until `close` is called. Reports
 * the first of several consecutive errors.
 */
export function lookAgainEvery(
  pauseMs: number,
  look: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Rounds {
  let isFailing = false
  const lookAgain = async (isClosed: () => boolean) => {
    try {
      await look()
      isFailing = false
    } catch (error) {
      if (!isFailing && !isClosed()) onFailure(error)
      isFailing = true
    }
    return untilNext(pauseMs)
  }
  return runRounds(lookAgain, { firstMs: untilNext(pauseMs) })
}

const lostSocket = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
])
/** Connection errors, too many connections, shutdown, startup and read-only standby. */
const awayState = /^(08...|53[0-9]{3}|57P0[1-5]|25006)$/
/** An internal error; with these words, Citus reports that it lost a node during a statement. */
const INTERNAL_ERROR = 'XX000'
const lostNode =
  /for shard|(active|worker|remote) node|connection marked as|closed the connection|no connection/
const lostWords =
  /connection terminated|not queryable|timeout exceeded when trying to connect|client was closed/i

/**
 * Whether an error means that the database, or a node of it, is unavailable or overloaded, so that
 * the same request may succeed later. Recognizes SQLSTATE classes 08 and 53, codes 57P01 to 57P05,
 * 25006, lost nodes of Citus, socket errors, and the messages of `pg` that have no code.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlState(error)
  if (state === INTERNAL_ERROR) return lostNode.test(error.message)
  if (state !== undefined) return awayState.test(state)
  if ('code' in error && typeof error.code === 'string') return lostSocket.has(error.code)
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return lostWords.test(error.message)
}

/** Pause in milliseconds between two attempts while the database is away. */
const OUTAGE_PAUSE_MS = 1_000

/** Repeats work that meets an outage of the database, until the database is back or `isOver`. */
export async function throughOutage<T>(
  work: () => Promise<T>,
  isOver: () => boolean = () => false,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (isOver() || !isOutage(error)) throw error
      await wait(OUTAGE_PAUSE_MS, undefined, { ref: false })
    }
  }
}
