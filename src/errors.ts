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

/** The words of anything thrown, without its stack. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
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
