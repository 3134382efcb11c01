import { type Request, type Response, Router } from 'express'
import { insertAudit } from '../../db/audit-log.ts'
import { type EnrollmentState, listEnrollments } from '../../db/enrollment-requests.ts'
import { listCorrections, removeCorrection } from '../../db/feedback-answers.ts'
import { inTransaction } from '../../db/pool.ts'
import { decideEnrollment } from '../../feedback/change-consumer.ts'
import { parseBlock } from '../../mail/ip-blocks.ts'
import { storableText } from '../../mail/text.ts'
import { scopeText } from '../../verdict/consumers.ts'
import { uuidTime } from '../../world.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const ADDRESS_CHARS_MAX = 320

/** The page with networks that abuse desks disowned, on which a correction can be removed. */
export function correctionRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendCorrections(req, res, site))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const cidr = parseBlock(form.text('cidr') ?? '')
    const address = storableText(form.text('address') ?? '', ADDRESS_CHARS_MAX)
    const isGone = await inTransaction(site.pool, async (tx) => {
      const gone = cidr === undefined ? undefined : await removeCorrection(tx, { cidr, address })
      if (!gone) return false
      const deed = { at: site.clock(), reporterId: administrator.id }
      const detail = `${gone.cidr}: ${gone.address}`
      await insertAudit(tx, { ...deed, action: 'lift correction', detail })
      return true
    })
    const done = isGone ? 'lifted' : 'nothing'
    res.redirect(303, `/admin/networks/corrections${queryOf({ done })}`)
  })
  return router
}

async function sendCorrections(req: Request, res: Response, site: Needs): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const cidr = parseBlock(given.get('after') ?? '')
  const address = storableText(given.get('address') ?? '', ADDRESS_CHARS_MAX)
  const after = cidr === undefined ? undefined : { cidr, address }
  const rows = await listCorrections(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, (last) => {
    return { after: last.cidr, address: last.address }
  })
  const [now, done] = [site.clock(), given.get('done')]
  sendAdminPage(req, res, {
    view: 'admin/consumers/corrections',
    title: 'Network corrections',
    data: {
      lines: lines.map((line) => ({ ...line, isOver: line.until <= now })),
      done:
        done === 'lifted'
          ? 'Correction removed. The desk gets reports about the block again.'
          : done === 'nothing'
            ? 'The correction was not found. It may already have been removed.'
            : undefined,
      next,
      isFirst: after === undefined,
    },
  })
}

const states: readonly EnrollmentState[] = ['proven', 'sent', 'accepted', 'refused']

/** The page with confirmed enrollments that request further scopes, to accept or reject them. */
export function enrollmentRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendRequests(req, res, site))
  router.post('/:id', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const decision = form.text('do') === 'accept' ? 'accepted' : 'refused'
    const deed = { at: site.clock(), reporterId: administrator.id }
    const { id } = req.params
    const isDone =
      isUuid(id) &&
      (await inTransaction(site.pool, (tx) => decideEnrollment(tx, id, decision, deed)))
    if (!isDone)
      throw new ProblemError(
        'not-found',
        'No open request found. It may already have been decided.',
      )
    res.redirect(303, `/admin/consumers/requests${queryOf({ done: decision })}`)
  })
  return router
}

async function sendRequests(req: Request, res: Response, site: Needs): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const state = states.find((one) => one === given.get('state')) ?? 'proven'
  const wanted = given.get('before')
  const before = isUuid(wanted) ? wanted : undefined
  const rows = await listEnrollments(site.pool, { state, before, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ state, before: id }))
  const done = given.get('done')
  sendAdminPage(req, res, {
    view: 'admin/consumers/requests',
    title: 'Enrollments',
    data: {
      state,
      states,
      done: done === 'accepted' || done === 'refused' ? `The request was ${done}.` : undefined,
      lines: lines.map((line) => ({
        ...line,
        askedAt: uuidTime(line.id),
        scopes: line.wish.scopes.map(scopeText),
      })),
      next,
      isFirst: before === undefined,
    },
  })
}
