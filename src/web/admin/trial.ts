import { Router } from 'express'
import { listReportersAt } from '../../db/reporters.ts'
import { fillSamples, removeSamples } from '../../reports/sample-actions.ts'
import { SAMPLE_DOMAIN } from '../../reports/queues.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { adminPage } from './page.ts'

/** The page of a trial instance, which adds and removes sample data. Others do not have it. */
export function trialRoutes(site: Site): Router {
  const router = Router()
  router.use((req, _res, next) => {
    if (!site.isTrial(req)) throw new ProblemError('not-found', 'Page not found.')
    next()
  })
  router.use(
    adminPage(site, {
      view: 'admin/trial',
      title: 'trial.title',
      async data() {
        const accounts = await listReportersAt(site.pool, SAMPLE_DOMAIN)
        const isRemoving = accounts.some(({ state }) => state === 'erasing')
        return { state: isRemoving ? 'removing' : accounts.length > 0 ? 'filled' : 'empty' }
      },
      form: { actions: { fill: fillSamples, remove: removeSamples } },
    }),
  )
  return router
}
