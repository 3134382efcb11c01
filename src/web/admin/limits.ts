import { type Request, type Response, Router } from 'express'
import {
  findShadowBan,
  listHeldReports,
  listRateLimits,
  listShadowBans,
  type RateLimit,
} from '../../db/limits.ts'
import { findReporter, findReporterByEmail, listReporterEmails } from '../../db/reporters.ts'
import { findRawMessage, findReport } from '../../db/reports.ts'
import { unpack } from '../../db/rows.ts'
import { storableText } from '../../mail/text.ts'
import { changeLimit } from '../../people/limits.ts'
import type { OperatorAction } from '../../db/audit-log.ts'
import {
  dropHeldReports,
  type Held,
  imposeShadowBan,
  liftShadowBan,
  releaseHeldReports,
} from '../../reports/shadow-bans.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf, sendMessage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const behaviors: readonly RateLimit['behavior'][] = ['refuse', 'shadow', 'off']

/** The page to view and change rate limits, which takes effect in all processes at once. */
export function limitRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendLimits(req, res, site, []))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const name = form.text('name') ?? ''
    const behavior = behaviors.find((one) => one === form.text('behavior'))
    const change = {
      attemptsMax: numberOf(form.text('attempts')),
      windowMs: numberOf(form.text('seconds')) * 1_000,
      ...(behavior && { behavior }),
    }
    const deed = { at: site.clock(), reporterId: administrator.id }
    const faults = await changeLimit(site.pool, name, change, deed)
    if (faults.length > 0) return sendLimits(req, res, site, faults)
    res.redirect(303, `/admin/limits${queryOf({ done: name })}`)
  })
  return router
}

function numberOf(text: string | undefined): number {
  return /^\d{1,10}(\.\d{1,3})?$/.test(text ?? '') ? Number(text) : Number.NaN
}

async function sendLimits(
  req: Request,
  res: Response,
  site: Needs,
  faults: readonly string[],
): Promise<void> {
  const limits = await listRateLimits(site.pool)
  const done = new URL(req.originalUrl, 'http://site').searchParams.get('done')
  sendAdminPage(req, res, {
    view: 'admin/limits/limits',
    title: 'Limits',
    status: faults.length > 0 ? 422 : 200,
    data: {
      limits: limits.map((limit) => ({
        ...limit,
        seconds: limit.windowMs / 1_000,
        behaviors: behaviors.filter((one) => one !== 'shadow' || maySetAside(limit)),
      })),
      faults,
      done: limits.find(({ name }) => name === done)?.name,
    },
  })
}

function maySetAside({ attempt }: RateLimit): boolean {
  return attempt === 'report' || attempt === 'mail-in'
}

type ShadowNeeds = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader

const LINES = 50
const REASON_CHARS_MAX = 500
const path = '/admin/limits/shadow'

/** The page with reporters whose reports are held, and the decisions about them. */
export function shadowRoutes(site: ShadowNeeds): Router {
  const router = Router()
  router.get('/', (req, res) => sendBans(req, res, site))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const given = { email: form.text('email')?.trim() ?? '', reason: reasonOf(form) }
    const reporter = await findReporterByEmail(site.pool, given.email.slice(0, 320))
    const faults = [
      ...(reporter ? [] : ['No account has this email address.']),
      ...(reporter?.isAdmin ? ['Administrators cannot be banned.'] : []),
      ...(given.reason === '' ? ['Please give a reason.'] : []),
    ]
    if (!reporter || faults.length > 0) return sendBans(req, res, site, { faults, given })
    const deed = { at: site.clock(), reporterId: administrator.id }
    await imposeShadowBan(site, { reporterId: reporter.id, reason: given.reason }, deed)
    res.redirect(303, `${path}/${reporter.id}${queryOf({ done: 'banned' })}`)
  })
  router.get('/:id', (req, res) => sendReporter(req, res, site))
  router.post('/:id', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const { id } = await requireBanned(req.params.id, site)
    const deed = { at: site.clock(), reporterId: administrator.id }
    const done = await doAsAsked(site, id, form, deed)
    res.redirect(303, `${path}/${id}${queryOf(done)}`)
  })
  router.get('/reports/:id/message.eml', async (req, res) => {
    const { id } = req.params
    const packed = isUuid(id) ? await findRawMessage(site.pool, id) : undefined
    if (!packed) throw new ProblemError('not-found', 'The message has been deleted.')
    sendMessage(res, `${id}.eml`, await unpack(packed))
  })
  return router
}

async function doAsAsked(
  site: ShadowNeeds,
  reporterId: string,
  form: Form,
  deed: OperatorAction,
): Promise<Record<string, string>> {
  const reportId = form.text('report')
  if (reportId !== undefined) await requireHeldOf(reporterId, reportId, site)
  const which: Held = reportId === undefined ? { reporterId } : { reportId }
  switch (form.text('do')) {
    case 'lift':
      return { done: (await liftShadowBan(site, reporterId, deed)) ? 'lifted' : 'nothing' }
    case 'release':
      return { done: 'released', count: String(await releaseHeldReports(site, which, deed)) }
    case 'drop':
      return { done: 'dropped', count: String(await dropHeldReports(site, which, deed)) }
    default:
      throw new ProblemError('bad-field', 'Unknown action. Reload the page and try again.')
  }
}

/**
 * Requires a held report of this reporter: a misspelled id must not select all reports, nor one of
 * another reporter.
 */
async function requireHeldOf(
  reporterId: string,
  reportId: string,
  { pool }: ShadowNeeds,
): Promise<void> {
  const report = isUuid(reportId) ? await findReport(pool, reportId) : undefined
  if (report?.reporterId !== reporterId) {
    throw new ProblemError('bad-field', 'This reporter has no held report with this id.')
  }
}

function reasonOf(form: Form): string {
  return storableText(form.text('reason')?.trim() ?? '', REASON_CHARS_MAX)
}

async function requireBanned(id: string, { pool }: ShadowNeeds) {
  const reporter = isUuid(id) ? await findReporter(pool, id) : undefined
  if (!reporter) throw new ProblemError('not-found', 'Reporter not found.')
  return reporter
}

async function sendBans(
  req: Request,
  res: Response,
  site: ShadowNeeds,
  refused?: { faults: readonly string[]; given: { email: string; reason: string } },
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams.get('before')
  const before = isUuid(given) ? given : undefined
  const rows = await listShadowBans(site.pool, { before, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ reporterId }) => ({ before: reporterId }))
  const held = await listHeldReports(site.pool, {
    reporterId: undefined,
    before: undefined,
    limit: LINES,
  })
  const ids = [...lines, ...held].map(({ reporterId }) => reporterId)
  const emails = await listReporterEmails(site.pool, [...new Set(ids)])
  sendAdminPage(req, res, {
    view: 'admin/limits/bans',
    title: 'Shadow bans',
    status: refused ? 422 : 200,
    data: {
      lines: lines.map((line) => ({ ...line, email: emails.get(line.reporterId) })),
      held: held.map((line) => ({ ...line, email: emails.get(line.reporterId) })),
      next,
      faults: refused?.faults ?? [],
      form: refused?.given ?? { email: '', reason: '' },
    },
  })
}

async function sendReporter(
  req: Request<{ id: string }>,
  res: Response,
  site: ShadowNeeds,
): Promise<void> {
  const reporter = await requireBanned(req.params.id, site)
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const before = isUuid(given.get('before')) ? (given.get('before') ?? undefined) : undefined
  const page = { reporterId: reporter.id, before, limit: LINES + 1 }
  const { lines, next } = pageOf(await listHeldReports(site.pool, page), LINES, ({ id }) => ({
    before: id,
  }))
  sendAdminPage(req, res, {
    view: 'admin/limits/banned',
    title: 'Held reports',
    data: {
      account: reporter,
      ban: await findShadowBan(site.pool, reporter.id),
      lines,
      next,
      done: sentenceOf(given.get('done'), given.get('count')),
    },
  })
}

function sentenceOf(done: string | null, count: string | null): string | undefined {
  const moved = /^\d{1,6}$/.test(count ?? '') ? count : '0'
  const many = moved === '1' ? 'One report was' : `${moved} reports were`
  const sentences: Record<string, string> = {
    banned: 'Reporter banned. New reports are held.',
    lifted: 'Ban removed. New reports count.',
    nothing: 'This reporter was not banned.',
    released: `${many} released.`,
    dropped: `${many} discarded.`,
  }
  return Object.hasOwn(sentences, done ?? '') ? sentences[done ?? ''] : undefined
}
