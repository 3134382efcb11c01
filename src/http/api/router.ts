import { Router, type NextFunction, type Request, type Response } from 'express'
import { failureOf, sendProblem } from '../answer.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { cors } from './cors.ts'
import { countersApi } from './counters.ts'
import { relaysApi } from './relays.ts'
import { reputationApi } from './reputation.ts'
import { reportsApi } from './reports.ts'
import { signalerApi } from './signaler.ts'

/** Everything for programs. Stands before sessions and pages, so that none of it pays for them. */
export function apiRouter(site: Site): Router {
  const router = Router()
  router.use(cors)
  router.use('/v1/reports', reportsApi(site))
  router.use('/v1/relays', relaysApi(site))
  router.use('/v1/counters', countersApi(site))
  router.use('/v1/reputation', reputationApi(site))
  router.use('/signaler', signalerApi(site))
  router.use(() => {
    throw new ProblemError('not-found', 'The API has no such address.')
  })
  router.use(problemAnswers(site))
  return router
}

/** Turns what was thrown into a problem answer. */
export function problemAnswers(site: Pick<Site, 'publicUrl' | 'log'>) {
  // Express knows an error handler by its four parameters.
  return (error: unknown, _req: Request, res: Response, next: NextFunction): void => {
    const failure = failureOf(error, site.log)
    if (!failure || res.headersSent) return void res.destroy()
    void next
    sendProblem(res, site.publicUrl, failure)
  }
}
