import { Router } from 'express'
import { listAudit, type AuditEntry } from '../../db/audit-log.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { isUuid, pageOf } from '../paging.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool'>

const LINES = 50

/** What administrators did. */
export function auditRoutes(site: Needs): Router {
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
        lines: lines.map((line) => ({ ...line, who: whoOf(line, emails) })),
        next,
        isFirst: before === undefined,
      },
    })
  })
  return router
}

function whoOf({ reporterId }: AuditEntry, emails: ReadonlyMap<string, string>): string {
  return reporterId === null ? 'command line' : (emails.get(reporterId) ?? '')
}
