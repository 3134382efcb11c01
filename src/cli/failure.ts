import { reasonOf, UsageError } from '../errors.ts'

/** Exit codes: an error, wrong usage or settings, and EX_CONFIG of sysexits.h. */
export const [FAILED, MISUSED, UNSUITABLE] = [1, 2, 78]

/** What a failed command says, and its exit code. */
export type Failure = {
  code: number
  problems: readonly string[]
  /** For an error that its sentence does not explain. */
  stack?: string | undefined
}

/**
 * Explains an error that ended a command. The code is 2 if the command line or a setting is wrong,
 * and 78 if the settings do not fit the database: systemd does not start such a service again.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof UsageError) return { code: MISUSED, problems: error.problems }
  if (!(error instanceof Error)) return { code: FAILED, problems: [reasonOf(error)] }
  const problems = [reasonOf(error)]
  if (error instanceof TypeError && codeOf(error).startsWith('ERR_PARSE_ARGS')) {
    return { code: MISUSED, problems }
  }
  if (error.name === 'DatabaseUnsuitable') return { code: UNSUITABLE, problems }
  if (['BusyError', 'DatabaseUnavailable'].includes(error.name)) return { code: FAILED, problems }
  const unusable = unusableIn(error)
  if (unusable !== undefined) return { code: FAILED, problems: [unusable] }
  return { code: FAILED, problems, stack: error.stack }
}

/** What the operating system refuses because of a wrong path, a full disk or a port in use. */
const refusals = [
  ...['ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'EISDIR', 'EEXIST', 'EROFS', 'ENOSPC', 'ENOTEMPTY'],
  ...['EADDRINUSE', 'EADDRNOTAVAIL'],
]

/** A sentence about a file, a folder or a port that cannot be used; undefined for other errors. */
function unusableIn(error: Error): string | undefined {
  if (!refusals.includes(codeOf(error))) return undefined
  const [, why = error.message] =
    /E[A-Z]+:? (.+?)(?:, \w+ '| [\d.:a-f[\]]+$|$)/.exec(error.message) ?? []
  if ('path' in error && typeof error.path === 'string') return `Cannot use ${error.path}: ${why}.`
  if (!('port' in error && 'address' in error)) return undefined
  return `Cannot listen on port ${String(error.port)} of ${String(error.address)}: ${why}.`
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
