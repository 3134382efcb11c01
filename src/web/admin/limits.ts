import { type Request, type Response, Router } from 'express'
import type { Outcome } from '../../actions.ts'
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
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendList, uuidParam } from './list-page.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { requireRole } from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'

/**
 * The page to view and change rate limits. A change takes effect in all processes within two
 * seconds.
 */
export function limitRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendLimits(req, res, site, []))
  const show = (req: Request, res: Response, { problems }: RefusedForm) =>
    sendLimits(req, res, site, problems)
  router.post('/', postAction(site, { actions: setLimit, back: () => '/admin/limits', show }))
  return router
}

async function sendLimits(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool'>,
  faults: readonly string[],
): Promise<void> {
  const limits = await listRateLimits(site.pool)
  sendAdminPage(req, res, {
    view: 'admin/limits/limits',
    title: visitOf(req).texts('limits.title'),
    status: faults.length > 0 ? 422 : 200,
    data: {
      limits: limits.map((limit) => ({
        ...limit,
        seconds: limit.windowMs / 1_000,
        behaviors: limitBehaviors.filter((one) => one !== 'shadow' || mayHold(limit)),
      })),
      problems: faults,
      done: doneMessage(req, setLimit),
    },
  })
}

const HELD_SHOWN = 50
const path = '/admin/limits/shadow'

/** The page with reporters whose reports are held, and the decisions about them. */
export function shadowRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendBans(req, res, site))
  const back = (_: Request, outcome: Outcome) => `${path}/${'id' in outcome ? outcome.id : ''}`
  const show = (req: Request, res: Response, refused: RefusedForm) =>
    sendBans(req, res, site, refused)
  router.post('/', postAction(site, { actions: banReporter, back, show }))
  router.get('/:id', (req, res) => sendReporter(req, res, site))
  router.post(
    '/:id',
    postAction(site, {
      actions: { lift: liftBan, release: releaseHeldReports, drop: dropHeldReports },
      fields: (req) => ({ reporter: req.params['id'] }),
      back: (req) => `${path}/${req.params['id']}`,
    }),
  )
  router.get('/reports/:id/message.eml', requireRole(site, 'analyst'), async (req, res) => {
    const { id } = req.params
    const raw = isUuid(id) ? await findRawMessage(site.pool, id) : undefined
    if (!raw) throw new ProblemError('not-found', 'The message has been deleted.')
    await sendMessage(res, `${id}.eml`, raw, 'other')
  })
  return router
}

async function requireBanned(id: string, { pool }: Site) {
  const reporter = isUuid(id) ? await findReporter(pool, id) : undefined
  if (!reporter) throw new ProblemError('not-found', 'Reporter not found.')
  return reporter
}

async function sendBans(
  req: Request,
  res: Response,
  { pool }: Site,
  refused?: RefusedForm,
): Promise<void> {
  const latest = { reporterId: undefined, before: undefined, limit: HELD_SHOWN }
  await sendList(req, res, {
    view: 'admin/limits/bans',
    title: 'bans.title',
    cursor: { before: uuidParam },
    read: async (page) => withEmails(await listShadowBans(pool, page), pool),
    next: ({ reporterId }) => ({ before: reporterId }),
    refused,
    data: { held: await withEmails(await listHeldReports(pool, latest), pool) },
  })
}

async function withEmails<Row extends { reporterId: string }>(rows: readonly Row[], pool: Db) {
  const emails = await listReporterEmails(pool, [
    ...new Set(rows.map(({ reporterId }) => reporterId)),
  ])
  return rows.map((row) => ({ ...row, email: emails.get(row.reporterId) }))
}

async function sendReporter(
  req: Request<{ id: string }>,
  res: Response,
  site: Site,
): Promise<void> {
  const reporter = await requireBanned(req.params.id, site)
  await sendList(req, res, {
    view: 'admin/limits/banned',
    title: 'bans.held',
    cursor: { before: uuidParam },
    read: (page) => listHeldReports(site.pool, { ...page, reporterId: reporter.id }),
    next: ({ id }) => ({ before: id }),
    actions: [banReporter, liftBan, releaseHeldReports, dropHeldReports],
    data: { account: reporter, ban: await findShadowBan(site.pool, reporter.id) },
  })
}
