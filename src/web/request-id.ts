import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import type { Logger } from '../log.ts'
import { systemRandom } from '../world.ts'
import { routeOf } from './metrics.ts'
import { isUuid } from './pages/render.ts'

const ids = new WeakMap<IncomingMessage, string>()

/** The id of a request in the log and in the header of a problem; created when it is first used. */
export function requestIdOf(req: IncomingMessage): string {
  return ids.getOrInsertComputed(req, () => systemRandom(6).toString('hex'))
}

/** The first id in a URL: of a report, mostly. */
export function idIn(url: string): string | undefined {
  return url.split(/[/?]/).find(isUuid)
}

/**
 * Logs each request with its id, its route and the id in its path, or of the report that it
 * created. Only at the level `debug`; otherwise it costs nothing.
 */
export function logRequests(log: Logger): RequestHandler {
  if (!log.isLevelEnabled('debug')) return (_req, _res, next) => next()
  return (req, res, next) => {
    const start = performance.now()
    res.once('finish', () => {
      const durationMs = Math.round(performance.now() - start)
      const about = idIn(String(res.getHeader('location') ?? '')) ?? idIn(req.originalUrl)
      const request = { requestId: requestIdOf(req), method: req.method, route: routeOf(req) }
      log.debug({ ...request, status: res.statusCode, durationMs, about }, 'Answered a request.')
    })
    next()
  }
}
