import {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express'
import { refusalIn } from '../../texts/phrases.ts'
import { failureOf, sendProblem } from '../answer.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { accountHandlers } from './account.ts'
import { cors } from './cors.ts'
import { deskHandlers } from './desk.ts'
import { knowledgeHandlers } from './knowledge.ts'
import { reportHandlers } from './reports.ts'
import { searchHandlers } from './search.ts'
import { operationRoutes } from './serve-operations.ts'
import { signalerHandlers } from './signaler.ts'
import { webhookHandlers } from './webhooks.ts'

/** All routes for programs. Mounted before sessions and pages, which the API does not need. */
export function apiRouter(site: Site): Router {
  const router = Router()
  router.use(cors)
  router.get('/v1/health', refuseWhileSilent(site))
  router.use(apiRoutes(site))
  router.use(() => {
    throw new ProblemError('not-found', 'The API has no such URL.')
  })
  router.use(problemAnswers(site))
  return router
}

/** Programs that watch a site get an answer within two seconds, also while its database hangs. */
function refuseWhileSilent({ readLastKnown }: Pick<Site, 'readLastKnown'>): RequestHandler {
  return async (_req, _res, next) => {
    if (!(await readLastKnown()).silentSince) return next()
    const detail = 'The database does not answer, so the conditions are not known.'
    throw new ProblemError('unavailable', detail, { 'retry-after': '5' })
  }
}

export function apiRoutes(site: Site): Router {
  return operationRoutes(site, {
    ...reportHandlers(site),
    ...accountHandlers(site),
    ...webhookHandlers(site),
    ...knowledgeHandlers(site),
    ...deskHandlers(site),
    ...searchHandlers(site),
    ...signalerHandlers(site),
  })
}

/** Converts thrown errors to problem responses. */
export function problemAnswers(site: Pick<Site, 'publicUrl' | 'log'>) {
  // Express recognizes an error handler by its four parameters.
  return (error: unknown, req: Request, res: Response, next: NextFunction): void => {
    const failure = failureOf(error, req, site.log)
    if (!failure || res.headersSent) return void res.destroy()
    void next
    const detail = refusalIn('en', failure.detail).text
    sendProblem(res, site.publicUrl, { ...failure, detail })
  }
}
