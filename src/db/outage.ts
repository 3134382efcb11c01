import { sqlState } from '../errors.ts'

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
/** Connection trouble, too many connections, shutting down, starting up, read-only standby. */
const awayState = /^(08...|53[0-9]{3}|57P0[1-5]|25006)$/
const lostWords =
  /connection terminated|not queryable|timeout exceeded when trying to connect|client was closed/i

/**
 * Whether an error says that the database is away or cannot take more just now: the same request
 * may succeed a little later. PostgreSQL's SQLSTATE classes 08, 53 and 57P, the socket's own
 * errors, and the sentences of `pg` that carry no code.
 */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = sqlState(error)
  if (state !== undefined) return awayState.test(state)
  if ('code' in error && typeof error.code === 'string') return lostSocket.has(error.code)
  if (error instanceof AggregateError) return error.errors.some(isOutage)
  return lostWords.test(error.message)
}
