import { Router, type NextFunction, type Request, type Response } from 'express'
import { requireReporter } from '../pages/signed-in.ts'
import { speakEnglish } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { accountAdminRoutes } from './accounts/accounts.ts'
import { auditRoutes } from './audit.ts'
import { campaignRoutes } from './campaigns.ts'
import { consumerRoutes } from './consumers/consumers.ts'
import { enrollmentRoutes } from './consumers/enrollments.ts'
import { correctionRoutes } from './consumers/corrections.ts'
import { counterRoutes } from './counters.ts'
import { deadLetterRoutes } from './dead-letters.ts'
import { limitRoutes } from './limits/limits.ts'
import { shadowRoutes } from './limits/shadow.ts'
import { inboxRoutes } from './inbox/inbox.ts'
import { suppressionRoutes } from './inbox/suppressions.ts'
import { modelRoutes } from './models.ts'
import { delistingAdminRoutes } from './lists/delistings.ts'
import { listExemptionRoutes } from './lists/exemptions.ts'
import { marketerRoutes } from './marketers/marketers.ts'
import { networkRoutes } from './networks.ts'
import { outboxRoutes } from './outbox/outbox.ts'
import { overviewRoutes } from './overview.ts'
import { reporterRoutes } from './reputations/reporters.ts'
import { reportRoutes } from './reports.ts'
import { reputationRoutes } from './reputations/reputations.ts'
import { ruleRoutes } from './rules.ts'

/** The pages for administrators, in English. */
export function adminRoutes(site: Site): Router {
  const router = Router()
  router.use(administratorsOnly)
  router.use(overviewRoutes(site))
  router.use('/reports', reportRoutes(site))
  router.use('/campaigns', campaignRoutes(site))
  router.use('/accounts', accountAdminRoutes(site))
  router.use('/outbox', outboxRoutes(site))
  router.use('/inbox', inboxRoutes(site))
  router.use('/suppressions', suppressionRoutes(site))
  router.use('/consumers/requests', enrollmentRoutes(site))
  router.use('/consumers', consumerRoutes(site))
  router.use('/networks/corrections', correctionRoutes(site))
  router.use('/networks', networkRoutes(site))
  router.use('/counters', counterRoutes(site))
  router.use('/reputations', reputationRoutes(site))
  router.use('/reporters', reporterRoutes(site))
  router.use('/models', modelRoutes(site))
  router.use('/rules', ruleRoutes(site))
  router.use('/delistings/exemptions', listExemptionRoutes(site))
  router.use('/delistings', delistingAdminRoutes(site))
  router.use('/marketers', marketerRoutes(site))
  router.use('/limits/shadow', shadowRoutes(site))
  router.use('/limits', limitRoutes(site))
  router.use('/dead-letters', deadLetterRoutes(site))
  router.use('/audit', auditRoutes(site))
  return router
}

function administratorsOnly(req: Request, res: Response, next: NextFunction): void {
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  const reporter = requireReporter(req, res)
  if (!reporter) return
  if (!reporter.isAdmin) {
    throw new ProblemError('not-allowed', 'These pages are for administrators.')
  }
  speakEnglish(req)
  next()
}
