import { type NextFunction, type Request, type Response, Router } from 'express'
import { failureOf, sendProblem } from '../answer.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { accountApi, countersApi, relaysApi, reputationApi, testMessagesApi } from './account.ts'
import { cors } from './cors.ts'
import { deskApi } from './desk.ts'
import { healthApi } from './health.ts'
import { outgoingApi } from './outgoing.ts'
import { queuesApi } from './queues.ts'
import { reportsApi } from './reports.ts'
import { massActionsApi, searchApi } from './search.ts'
import { signalerApi } from './signaler.ts'
import { webhooksApi } from './webhooks.ts'

/** All routes for programs. Mounted before sessions and pages, which the API does not need. */
export function apiRouter(site: Site): Router {
  const router = Router()
  router.use(cors)
  for (const [path, part] of Object.entries(apiParts(site))) router.use(path, part)
  router.use(() => {
    throw new ProblemError('not-found', 'The API has no such URL.')
  })
  router.use(problemAnswers(site))
  return router
}

/** The routers of the API by path prefix below `/api`. */
export function apiParts(site: Site): Readonly<Record<string, Router>> {
  return {
    '/v1/account': accountApi(site),
    '/v1/reports': reportsApi(site),
    '/v1/webhooks': webhooksApi(site),
    '/v1/relays': relaysApi(site),
    '/v1/test-messages': testMessagesApi(site),
    '/v1/counters': countersApi(site),
    '/v1/reputation': reputationApi(site),
    '/v1/outgoing-events': outgoingApi(site),
    '/v1/desk': deskApi(site),
    '/v1/health': healthApi(site),
    '/v1/queues': queuesApi(site),
    '/v1/search': searchApi(site),
    '/v1/mass-actions': massActionsApi(site),
    '/signaler': signalerApi(site),
  }
}

/** Converts thrown errors to problem responses. */
export function problemAnswers(site: Pick<Site, 'publicUrl' | 'log'>) {
  // Express recognizes an error handler by its four parameters.
  return (error: unknown, req: Request, res: Response, next: NextFunction): void => {
    const failure = failureOf(error, req, site.log)
    if (!failure || res.headersSent) return void res.destroy()
    void next
    sendProblem(res, site.publicUrl, failure)
  }
}
