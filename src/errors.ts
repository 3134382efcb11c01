/** The caller did something wrong and can mend it: told to them, never logged as our failure. */
export class CallerError extends Error {
  override name = 'CallerError'
  /** HTTP status that says whose fault it is, 400 to 499. */
  readonly status: number

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.status = status
  }
}

/** There is too much to do at once: the caller should try again after `retrySeconds`. */
export class BusyError extends Error {
  override name = 'BusyError'
  readonly retrySeconds: number

  constructor(message: string, retrySeconds: number) {
    super(message)
    this.retrySeconds = retrySeconds
  }
}

/** No retry can mend this: the job goes to the dead letters at once. */
export class PermanentError extends Error {
  override name = 'PermanentError'
}

/** The command line or the environment is wrong: exit code 2, `problems` one to a line. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/** The database, as it is set up, cannot be used: the message tells the operator what to change. */
export class DatabaseUnfit extends Error {
  override name = 'DatabaseUnfit'
}

/** The words of anything thrown, without its stack. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}

const LOG_CHARS_MAX = 300

/**
 * The words of a reason as a log may hold them: far mail servers and databases quote what they
 * refuse. Addresses are left out, secret ones of ours too, and of words without end the rest.
 */
export function forLog(reason: string): string {
  const address = /[^\s<>@"'(),;:[\]]{1,64}@[^\s<>@"'(),;:]{1,253}/g
  return reason.slice(0, 1_000).replace(address, '…@…').slice(0, LOG_CHARS_MAX)
}

/** What a log may hold of anything thrown; of a database error, which quotes values, its code. */
export function withoutData(error: unknown) {
  const state = sqlState(error)
  const stack = error instanceof Error ? (error.stack ?? '').split('\n    at ').slice(1, 8) : []
  return state === undefined
    ? { reason: forLog(reasonOf(error)), stack }
    : { sqlState: state, stack }
}

/**
 * The SQLSTATE of a database error, or undefined for any other. Each SQLSTATE has a digit: EPIPE
 * and its like, of the same length, have none.
 */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined
}
