import type { IncomingMessage } from 'node:http'
import type { Response } from 'express'
import { isOutage } from '../db/follow.ts'
import { BusyError, CallerError, sqlState, withoutData } from '../errors.ts'
import type { Logger } from '../log.ts'
import { concealKeys } from '../mail/conceal-keys.ts'
import { AbortedError } from './bodies/read-body.ts'
import { ProblemError, type ProblemName, problemOf, problems, problemType } from './problem.ts'
import { idIn, requestIdOf } from './request-id.ts'

export type FailedRequest = {
  problem: ProblemName
  status: number
  detail: string
  headers: Readonly<Record<string, string>>
  about?: ProblemError['about']
}

/**
 * Converts a thrown error to a response with the id of the request; undefined if the client has
 * disconnected. Keys in the detail are masked, because it may repeat what was sent. Our own
 * failures are logged here, once, with that id, without the data that the error quotes.
 */
export function failureOf(
  error: unknown,
  req: IncomingMessage,
  log: Logger,
): FailedRequest | undefined {
  if (error instanceof AbortedError) return undefined
  const requestId = requestIdOf(req)
  const url = 'originalUrl' in req ? String(req.originalUrl) : (req.url ?? '')
  const failure = describe(error, { requestId, about: idIn(url) }, log)
  const detail = concealKeys(failure.detail)
  return { ...failure, detail, headers: { ...failure.headers, 'x-request-id': requestId } }
}

/** The id of a request, and the first id in its URL, such as that of a report. */
type RequestIds = { requestId: string; about: string | undefined }

function describe(error: unknown, ids: RequestIds, log: Logger): FailedRequest {
  if (error instanceof ProblemError) {
    const { problem, status, message, headers, about } = error
    return { problem, status, detail: message, headers, about }
  }
  if (error instanceof CallerError) return callerFailure(error.status, error.message)
  if (error instanceof BusyError) {
    const headers = { 'retry-after': String(error.retrySeconds) }
    return { problem: 'unavailable', status: 503, detail: error.message, headers }
  }
  const status = clientStatus(error)
  if (status !== undefined) {
    return callerFailure(status, 'The URL or the header of the request is malformed.')
  }
  if (isOutage(error)) {
    logOutage(error, ids, log)
    return {
      problem: 'unavailable',
      status: 503,
      detail: 'The database is temporarily unavailable. Nothing was stored. Try again shortly.',
      headers: { 'retry-after': '5' },
    }
  }
  log.error({ ...ids, ...withoutData(error) }, 'A request failed.')
  const advice = `Try again, or contact us with the number ${ids.requestId}.`
  const detail = `An internal error occurred. ${advice}`
  return { problem: 'internal', status: 500, detail, headers: {} }
}

const OUTAGE_LOG_MS = 10_000
let outageLoggedAt = Number.NEGATIVE_INFINITY

/**
 * Logs an outage of the database, at most once every ten seconds; the metrics count the failed
 * requests.
 */
function logOutage(error: unknown, ids: RequestIds, log: Logger): void {
  if (performance.now() - outageLoggedAt < OUTAGE_LOG_MS) return
  outageLoggedAt = performance.now()
  log.warn(
    { ...ids, sqlState: sqlState(error) },
    'The database is unavailable. Clients are asked to retry later.',
  )
}

/** Sends a problem response (RFC 9457). */
export function sendProblem(res: Response, publicUrl: string, failure: FailedRequest): void {
  const problem = problemOf(publicUrl, failure.problem, failure.detail, failure.about)
  res
    .status(failure.status)
    .set({ ...failure.headers, 'cache-control': 'no-store', 'content-type': problemType })
    .end(JSON.stringify({ ...problem, status: failure.status }))
}

function callerFailure(status: number, detail: string): FailedRequest {
  const named = Object.entries(problems).find(([, problem]) => problem.status === status)
  const problem = (named?.[0] ?? 'bad-request') as ProblemName
  return { problem, status, detail, headers: {} }
}

/**
 * Returns the 4xx status that Express set on an error caused by the client; undefined for other
 * errors.
 */
function clientStatus(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof URIError) return 400
  if (!('status' in error) || typeof error.status !== 'number') return undefined
  return error.status >= 400 && error.status < 500 ? error.status : undefined
}
