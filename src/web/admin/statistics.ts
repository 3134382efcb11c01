import { Router } from 'express'
import { publishStatistics } from '../../reports/month-figures.ts'
import type { Site } from '../site.ts'
import { postAction } from './post-action.ts'

/** The switch of the page of figures. The page itself is the preview for people with a role. */
export function statisticsAdminRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (_req, res) => res.redirect(303, '/statistics'))
  router.post(
    '/',
    postAction(site, {
      actions: publishStatistics,
      back: () => {
        site.statistics.forget()
        return '/statistics'
      },
    }),
  )
  return router
}
