import { setTimeout as wait } from 'node:timers/promises'
import { sqlState } from '../errors.ts'

/**
 * Interval of polling in milliseconds, and the time limit of reading a version: together less than
 * the two seconds in which a change must take effect.
 */
const LOOK_MS = 800
const ANSWER_MS_MAX = 1_000

/** A setting in the database that a process follows. */
type Followed<Version> = {
  readVersion: () => Promise<Version>
  /** Starts to use a version. If it throws, the version is loaded again 0.8 s later. */
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
 * 0.8 s after the previous read and loads it if it is new. Each read except the first is limited to
 * one second, so that a connection that stopped responding delays only one of them.
 *
 * @throws the error of the first read or load
 */
export async function follow<Version>(
  followed: Followed<Version>,
): Promise<{ close: () => Promise<void> }> {
  const { readVersion, load, afterwards, onFailure } = followed
  let seen: { version: Version } | undefined
  let isClosed = false
  let isFailing = false
  let timer: NodeJS.Timeout | undefined

  async function look(reading: Promise<Version>): Promise<void> {
    const version = await reading
    if (!seen || version !== seen.version) await load(version)
    seen = { version }
    await afterwards?.()
  }

  async function lookAgain(): Promise<void> {
    try {
      await look(inTime(readVersion()))
      isFailing = false
    } catch (error) {
      if (!isFailing && !isClosed) onFailure(error)
      isFailing = true
    }
    lookLater()
  }

  function lookLater(): void {
    if (isClosed) return
    timer = setTimeout(() => (looking = lookAgain()), LOOK_MS)
    timer.unref()
  }

  let looking = look(readVersion())
  await looking
  lookLater()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await looking
    },
  }
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  const stop = new AbortController()
  const late = wait(ANSWER_MS_MAX, undefined, { signal: stop.signal, ref: false }).then(() => {
    throw new Error('The database did not answer in time.')
  })
  late.catch(() => undefined)
  return Promise.race([reading, late]).finally(() => stop.abort())
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
/** Connection errors, too many connections, shutdown, startup, read-only standby. */
const awayState = /^(08...|53[0-9]{3}|57P0[1-5]|25006)$/
const lostWords =
  /connection terminated|not queryable|timeout exceeded when trying to connect|client was closed/i

/**
 * Whether an error means that the database is unavailable or overloaded, so that the same request
 * may succeed later. Recognizes SQLSTATE classes 08 and 53, codes 57P01 to 57P05 and 25006, socket
 * errors, and the messages of `pg` that have no code.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlState(error)
  if (state !== undefined) return awayState.test(state)
  if ('code' in error && typeof error.code === 'string') return lostSocket.has(error.code)
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return lostWords.test(error.message)
}
