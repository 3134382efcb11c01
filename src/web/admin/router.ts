import { type NextFunction, type Request, type Response, Router } from 'express'
import { listQueueControls } from '../../db/queue-controls.ts'
import { requireReporter } from '../pages/signed-in.ts'
import type { Site } from '../site.ts'
import { accountAdminRoutes, roleAdminRoutes } from './accounts.ts'
import { activityRoutes } from './activity.ts'
import { type Area, areaRoles } from './area-roles.ts'
import { auditRoutes } from './audit.ts'
import { campaignRoutes } from './campaigns.ts'
import { consumerRoutes } from './consumers.ts'
import { counterRoutes } from './counters.ts'
import { correctionRoutes, enrollmentRoutes } from './enrollments.ts'
import { healthAdminRoutes } from './health.ts'
import { inboxRoutes, suppressionRoutes } from './inbox.ts'
import { limitRoutes, shadowRoutes } from './limits.ts'
import { delistingAdminRoutes, listExemptionRoutes } from './lists.ts'
import { marketerRoutes, proposalRoutes } from './marketers.ts'
import { massActionRoutes } from './mass-actions.ts'
import { modelRoutes } from './models.ts'
import { networkRoutes } from './networks.ts'
import { outboxRoutes } from './outbox.ts'
import { dashboardRoutes, liveRoutes } from './dashboard.ts'
import { deletionRoutes } from './deletions.ts'
import { deadLetterRoutes, queueRoutes } from './queues.ts'
import { adminReportRoutes } from './reports.ts'
import { reporterRoutes, reputationRoutes } from './reputations.ts'
import { requireRole } from './require-role.ts'
import { createFormRoles, roleTable } from './role-table.ts'
import { ruleRoutes } from './rules.ts'
import { searchRoutes } from './search-reports.ts'
import { senderRoutes } from './senders.ts'
import { setFrame } from './send-admin-page.ts'
import { mailServerRoutes, sourceRoutes } from './sources.ts'
import { statisticsAdminRoutes } from './statistics.ts'

/** The pages for people with a role. Each area needs the role in `areaRoles`. */
export function adminRoutes(site: Site): Router {
  const router = Router()
  const mount = (area: Area, routes: Router) => {
    router.use(area, requireRole(site, areaRoles[area]), routes)
  }
  router.use(signedInOnly)
  router.use(async (req, _res, next) => {
    const controls = await listQueueControls(site.pool)
    const paused = controls.flatMap(({ queue, pausedAt }) => (pausedAt ? [queue] : []))
    setFrame(req, { formRoles, paused })
    next()
  })
  mount('/', dashboardRoutes(site))
  mount('/live', liveRoutes(site))
  mount('/health', healthAdminRoutes(site))
  mount('/activity', activityRoutes(site))
  mount('/reports', searchRoutes(site))
  mount('/reports', massActionRoutes(site))
  mount('/reports', adminReportRoutes(site))
  mount('/campaigns', campaignRoutes(site))
  mount('/accounts', accountAdminRoutes(site))
  mount('/roles', roleAdminRoutes(site))
  mount('/outbox', outboxRoutes(site))
  mount('/inbox', inboxRoutes(site))
  mount('/suppressions', suppressionRoutes(site))
  mount('/consumers/requests', enrollmentRoutes(site))
  mount('/consumers', consumerRoutes(site))
  mount('/networks/corrections', correctionRoutes(site))
  mount('/networks', networkRoutes(site))
  mount('/counters', counterRoutes(site))
  mount('/reputations', reputationRoutes(site))
  mount('/reporters', reporterRoutes(site))
  mount('/senders', senderRoutes(site))
  mount('/sources', sourceRoutes(site))
  mount('/mail-servers', mailServerRoutes(site))
  mount('/models', modelRoutes(site))
  mount('/rules', ruleRoutes(site))
  mount('/delistings/exemptions', listExemptionRoutes(site))
  mount('/delistings', delistingAdminRoutes(site))
  mount('/marketers/proposals', proposalRoutes(site))
  mount('/marketers', marketerRoutes(site))
  mount('/limits/shadow', shadowRoutes(site))
  mount('/limits', limitRoutes(site))
  mount('/queues', queueRoutes(site))
  mount('/dead-letters', deadLetterRoutes(site))
  mount('/statistics', statisticsAdminRoutes(site))
  mount('/deletions', deletionRoutes(site))
  mount('/audit', auditRoutes(site))
  const formRoles = createFormRoles(roleTable(router))
  return router
}

function signedInOnly(req: Request, res: Response, next: NextFunction): void {
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  requireReporter(req)
  next()
}
