import { type NextFunction, type Request, type Response, Router } from 'express'
import { listQueueControls } from '../../db/queue-controls.ts'
import type { Role } from '../../roles.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { statisticsAdminRoutes } from '../pages/statistics.ts'
import type { Site } from '../site.ts'
import { accountAdminRoutes, roleAdminRoutes } from './accounts.ts'
import { activityRoutes } from './activity.ts'
import { auditRoutes } from './audit.ts'
import { campaignRoutes } from './campaigns.ts'
import { contactRoutes } from './contacts.ts'
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
import { pageRoutes } from './pages.ts'
import { partnerRoutes } from './partners.ts'
import { deadLetterRoutes, queueRoutes } from './queues.ts'
import { adminReportRoutes } from './reports.ts'
import { reporterRoutes, reputationRoutes } from './reputations.ts'
import { requireRole } from './require-role.ts'
import { createFormRoles, roleTable } from './role-table.ts'
import { ruleListRoutes } from './rule-lists.ts'
import { ruleRoutes } from './rules.ts'
import { searchRoutes } from './search-reports.ts'
import { secretRoutes } from './secret.ts'
import { senderRoutes } from './senders.ts'
import { setFrame } from './send-admin-page.ts'
import { simulationRoutes } from './simulations.ts'
import { mailServerRoutes, sourceRoutes } from './sources.ts'
import { trialRoutes } from './trial.ts'

type Area = readonly [path: string, role: Role, ...routes: ((site: Site) => Router)[]]

/**
 * The areas of the administration by path, the lowest role that may read each, and its routes. The
 * menu hides what a person may not read. Actions declare their own roles (`defineAction`).
 */
const areas: readonly Area[] = [
  ['/', 'viewer', dashboardRoutes],
  ['/live', 'viewer', liveRoutes],
  ['/health', 'viewer', healthAdminRoutes],
  ['/activity', 'viewer', activityRoutes],
  ['/reports', 'viewer', searchRoutes, massActionRoutes, adminReportRoutes],
  ['/campaigns', 'viewer', campaignRoutes],
  ['/pages/contacts', 'viewer', contactRoutes],
  ['/pages', 'viewer', pageRoutes],
  ['/partners', 'viewer', partnerRoutes],
  ['/accounts', 'administrator', accountAdminRoutes],
  ['/roles', 'administrator', roleAdminRoutes],
  ['/outbox', 'viewer', outboxRoutes],
  ['/inbox', 'viewer', inboxRoutes],
  ['/suppressions', 'viewer', suppressionRoutes],
  ['/consumers/requests', 'viewer', enrollmentRoutes],
  ['/consumers', 'viewer', consumerRoutes],
  ['/networks/corrections', 'viewer', correctionRoutes],
  ['/networks', 'viewer', networkRoutes],
  ['/counters', 'viewer', counterRoutes],
  ['/reputations', 'viewer', reputationRoutes],
  ['/reporters', 'viewer', reporterRoutes],
  ['/senders', 'viewer', senderRoutes],
  ['/sources', 'viewer', sourceRoutes],
  ['/mail-servers', 'viewer', mailServerRoutes],
  ['/simulations', 'viewer', simulationRoutes],
  ['/models', 'viewer', modelRoutes],
  ['/rules', 'viewer', ruleRoutes],
  ['/rule-lists', 'viewer', ruleListRoutes],
  ['/delistings/exemptions', 'viewer', listExemptionRoutes],
  ['/delistings', 'viewer', delistingAdminRoutes],
  ['/marketers/proposals', 'viewer', proposalRoutes],
  ['/marketers', 'viewer', marketerRoutes],
  ['/limits/shadow', 'viewer', shadowRoutes],
  ['/limits', 'viewer', limitRoutes],
  ['/queues', 'viewer', queueRoutes],
  ['/dead-letters', 'viewer', deadLetterRoutes],
  ['/statistics', 'viewer', statisticsAdminRoutes],
  ['/deletions', 'viewer', deletionRoutes],
  ['/audit', 'operator', auditRoutes],
  ['/secret', 'operator', secretRoutes],
  ['/trial', 'administrator', trialRoutes],
]

/** The pages for people with a role. */
export function adminRoutes(site: Site): Router {
  const router = Router()
  router.use(signedInOnly)
  router.use(async (req, _res, next) => {
    const controls = await listQueueControls(site.pool)
    const paused = controls.flatMap(({ queue, pausedAt }) => (pausedAt ? [queue] : []))
    setFrame(req, { formRoles, roleOf, paused })
    next()
  })
  for (const [path, role, ...routes] of areas) {
    router.use(path, requireRole(site, role), ...routes.map((routesOf) => routesOf(site)))
  }
  const formRoles = createFormRoles(roleTable(router))
  return router
}

const PREFIX = '/admin'

/** The role that may read a page of the administration; undefined for other addresses. */
function roleOf(href: string): Role | undefined {
  const path = new URL(href, 'http://site').pathname
  const within = areas.filter(([area]) =>
    area === '/' ? path === PREFIX : `${path}/`.startsWith(`${PREFIX}${area}/`),
  )
  return within.toSorted(([one], [other]) => other.length - one.length)[0]?.[1]
}

function signedInOnly(req: Request, res: Response, next: NextFunction): void {
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  requireReporter(req)
  next()
}
