import { LRUCache } from 'lru-cache'
import type { Logger } from './log.ts'
import type { Clock } from './world.ts'

/**
 * An error that the caller made and can correct: returned to the caller, not logged as a failure.
 */
export class CallerError extends Error {
  override name = 'CallerError'
  /** HTTP status for the response, 400 to 499. */
  readonly status: number

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** The server is overloaded: the caller should retry after `retrySeconds`. */
export class BusyError extends Error {
  override name = 'BusyError'
  readonly retrySeconds: number

  constructor(message: string, retrySeconds: number) {
    super(message)
    this.retrySeconds = retrySeconds
  }
}

/** A job that no retry can complete: it becomes a dead letter immediately. */
export class PermanentError extends Error {
  override name = 'PermanentError'
}

/**
 * An error in the command line or the environment: exit code 2, one line for each of `problems`.
 */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** The database is set up in an unsupported way: the message tells the operator what to change. */
export class DatabaseUnsuitable extends Error {
  override name = 'DatabaseUnsuitable'
}

/** The message of any thrown value, without its stack. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}

const LOG_CHARS_MAX = 300

/**
 * Redacts a reason for the log, because remote mail servers and databases quote what they refuse.
 * Removes mail addresses, including our secret ones, and all of a link but its host, because its
 * path may contain a key; truncates long text.
 */
export function forLog(reason: string): string {
  const address = /[^\s<>@"'(),;:[\]]{1,64}@[^\s<>@"'(),;:]{1,253}/g
  const link = /(https?:\/\/[^\s/?#]{1,253})[/?#]\S*/gi
  const short = reason.slice(0, 1_000).replace(link, '$1/…')
  return short.replace(address, '…@…').slice(0, LOG_CHARS_MAX)
}

/**
 * The loggable part of a thrown value; for a database error, which quotes values, only its code.
 */
export function withoutData(error: unknown) {
  const state = sqlState(error)
  const stack = error instanceof Error ? (error.stack ?? '').split('\n    at ').slice(1, 8) : []
  return state === undefined
    ? { reason: forLog(reasonOf(error)), stack }
    : { sqlState: state, stack }
}

/**
 * The SQLSTATE of a database error; undefined for other errors. Every SQLSTATE contains a digit;
 * codes of the same length such as EPIPE contain none.
 */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/**
 * Minimum time in milliseconds between two log lines with the same reason, and maximum number of
 * reasons remembered.
 */
const COMPLAINT_MS = 60_000
const REASONS_MAX = 100

/**
 * Returns a function that logs failures: a new reason immediately, the same reason at most once per
 * `COMPLAINT_MS`.
 */
export function complainer(
  { clock, log }: { clock: Clock; log: Pick<Logger, 'warn'> },
  sentence: string,
): (error: unknown) => void {
  const said = new LRUCache<string, true>({
    max: REASONS_MAX,
    ttl: COMPLAINT_MS,
    perf: { now: () => clock().getTime() },
    ttlResolution: 0,
  })
  return (error) => {
    const reason = reasonOf(error)
    if (said.has(reason)) return
    said.set(reason, true)
    log.warn({ reason }, sentence)
  }
}
