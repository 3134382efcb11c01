import { type NextFunction, type Request, type Response, Router } from 'express'
import { type AuditEntry, listAudit } from '../../db/audit-log.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { useEnglish } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { accountAdminRoutes } from './accounts.ts'
import { campaignRoutes } from './campaigns.ts'
import { consumerRoutes } from './consumers.ts'
import { counterRoutes } from './counters.ts'
import { correctionRoutes, enrollmentRoutes } from './enrollments.ts'
import { healthAdminRoutes } from './health.ts'
import { inboxRoutes, suppressionRoutes } from './inbox.ts'
import { limitRoutes, shadowRoutes } from './limits.ts'
import { delistingAdminRoutes, listExemptionRoutes } from './lists.ts'
import { marketerRoutes } from './marketers.ts'
import { modelRoutes } from './models.ts'
import { networkRoutes } from './networks.ts'
import { outboxRoutes } from './outbox.ts'
import { deadLetterRoutes, overviewRoutes } from './overview.ts'
import { adminReportRoutes } from './reports.ts'
import { reporterRoutes, reputationRoutes } from './reputations.ts'
import { ruleRoutes } from './rules.ts'
import { senderRoutes } from './senders.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool'>

const LINES = 50

function auditRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const before = isUuid(req.query['before']) ? req.query['before'] : undefined
    const rows = await listAudit(site.pool, { before, limit: LINES + 1 })
    const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ before: id }))
    const emails = await listReporterEmails(site.pool, [
      ...new Set(lines.flatMap(({ reporterId }) => reporterId ?? [])),
    ])
    sendAdminPage(req, res, {
      view: 'admin/audit',
      title: 'Audit log',
      data: {
        lines: lines.map((line) => ({ ...line, who: operatorName(line, emails) })),
        next,
        isFirst: before === undefined,
      },
    })
  })
  return router
}

function operatorName({ reporterId }: AuditEntry, emails: ReadonlyMap<string, string>): string {
  return reporterId === null ? 'command line' : (emails.get(reporterId) ?? '')
}

/** The pages for administrators, in English. */
export function adminRoutes(site: Site): Router {
  const router = Router()
  router.use(administratorsOnly)
  router.use(overviewRoutes(site))
  router.use('/health', healthAdminRoutes(site))
  router.use('/reports', adminReportRoutes(site))
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
  router.use('/senders', senderRoutes(site))
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
  useEnglish(req)
  next()
}
