import { Router } from 'express'
import { listRateLimits } from '../../db/limits.ts'
import type { Db } from '../../db/pool.ts'
import { findReporter, listReporterEmails } from '../../db/reporters.ts'
import { findRawMessage } from '../../db/reports.ts'
import { findShadowBan, listHeldReports, listShadowBans } from '../../db/shadow-bans.ts'
import { limitBehaviors, mayHold, setLimit } from '../../people/limit-actions.ts'
import {
  banReporter,
  dropHeldReports,
  liftBan,
  releaseHeldReports,
} from '../../reports/shadow-bans.ts'
import { isUuid, sendMessage } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { listPage, uuidParam } from './list-page.ts'
import { adminPage } from './page.ts'
import { requireRole } from './require-role.ts'

/**
 * The page to view and change rate limits. A change takes effect in all processes within two
 * seconds.
 */
export function limitRoutes(site: Site): Router {
  return adminPage(site, {
    view: 'admin/limits/limits',
    title: 'limits.title',
    data: async () => ({
      limits: (await listRateLimits(site.pool)).map((limit) => ({
        ...limit,
        seconds: limit.windowMs / 1_000,
        behaviors: limitBehaviors.filter((one) => one !== 'shadow' || mayHold(limit)),
      })),
    }),
    form: { actions: setLimit },
  })
}

const HELD_SHOWN = 50

/** The page with reporters whose reports are held, and the decisions about them. */
export function shadowRoutes(site: Site): Router {
  const { pool } = site
  const latest = { reporterId: undefined, before: undefined, limit: HELD_SHOWN }
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/limits/bans',
      title: 'bans.title',
      cursor: { before: uuidParam },
      read: async (page) => withEmails(await listShadowBans(pool, page), pool),
      next: ({ reporterId }) => ({ before: reporterId }),
      data: async () => ({ held: await withEmails(await listHeldReports(pool, latest), pool) }),
      form: {
        actions: banReporter,
        back: (_, outcome) => `/admin/limits/shadow/${'id' in outcome ? outcome.id : ''}`,
      },
    }),
    listPage(site, {
      at: '/:id',
      view: 'admin/limits/banned',
      title: 'bans.held',
      cursor: { before: uuidParam },
      read: async (page, { req }) => {
        const { id: reporterId } = await requireBanned(req.params['id'], site)
        return listHeldReports(pool, { ...page, reporterId })
      },
      next: ({ id }) => ({ before: id }),
      data: async ({ req }) => {
        const account = await requireBanned(req.params['id'], site)
        return { account, ban: await findShadowBan(pool, account.id) }
      },
      form: {
        actions: { lift: liftBan, release: releaseHeldReports, drop: dropHeldReports },
        fields: (req) => ({ reporter: req.params['id'] }),
      },
      after: [banReporter],
    }),
  )
  router.get('/reports/:id/message.eml', requireRole(site, 'analyst'), async (req, res) => {
    const { id } = req.params
    const raw = isUuid(id) ? await findRawMessage(pool, id) : undefined
    if (!raw) throw new ProblemError('not-found', 'The message has been deleted.')
    await sendMessage(res, `${id}.eml`, raw, 'other')
  })
  return router
}

async function requireBanned(id: unknown, { pool }: Site) {
  const reporter = isUuid(id) ? await findReporter(pool, id) : undefined
  if (!reporter) throw new ProblemError('not-found', 'Reporter not found.')
  return reporter
}

async function withEmails<Row extends { reporterId: string }>(rows: readonly Row[], pool: Db) {
  const ids = rows.map(({ reporterId }) => reporterId)
  const emails = await listReporterEmails(pool, ids)
  return rows.map((row) => ({ ...row, email: emails.get(row.reporterId) }))
}
