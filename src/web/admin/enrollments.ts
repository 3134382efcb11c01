import { type Request, type Response, Router } from 'express'
import { type EnrollmentState, listEnrollments } from '../../db/enrollment-requests.ts'
import { listCorrections } from '../../db/feedback-answers.ts'
import { acceptEnrollment, refuseEnrollment } from '../../feedback/decide-enrollment.ts'
import { removeNetworkCorrection } from '../../feedback/network-actions.ts'
import { parseBlock } from '../../mail/ip-blocks.ts'
import { storableText } from '../../mail/text.ts'
import { scopeText } from '../../verdict/consumers.ts'
import { uuidTime } from '../../world.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

const LINES = 50
const ADDRESS_CHARS_MAX = 320

/**
 * The page that lists the networks for which abuse desks answered that they are not responsible. A
 * correction can be removed there.
 */
export function correctionRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendCorrections(req, res, site))
  const back = () => '/admin/networks/corrections'
  router.post('/', postAction(site, { actions: removeNetworkCorrection, back }))
  return router
}

async function sendCorrections(req: Request, res: Response, site: Site): Promise<void> {
  const given = searchParamsOf(req)
  const cidr = parseBlock(given.get('after') ?? '')
  const address = storableText(given.get('address') ?? '', ADDRESS_CHARS_MAX)
  const after = cidr === undefined ? undefined : { cidr, address }
  const rows = await listCorrections(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, (last) => {
    return { after: last.cidr, address: last.address }
  })
  const now = site.clock()
  sendAdminPage(req, res, {
    view: 'admin/consumers/corrections',
    title: visitOf(req).texts('corrections.title'),
    data: {
      lines: lines.map((line) => ({ ...line, isOver: line.until <= now })),
      done: doneMessage(req, removeNetworkCorrection),
      next,
      isFirst: after === undefined,
    },
  })
}

const states: readonly EnrollmentState[] = ['proven', 'sent', 'accepted', 'refused']

/** The page with confirmed enrollments that request further scopes, to accept or reject them. */
export function enrollmentRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendRequests(req, res, site))
  router.post(
    '/:id',
    postAction(site, {
      actions: { accept: acceptEnrollment, refuse: refuseEnrollment },
      fields: (req) => ({ id: req.params['id'] }),
      back: () => '/admin/consumers/requests',
    }),
  )
  return router
}

async function sendRequests(req: Request, res: Response, site: Site): Promise<void> {
  const given = searchParamsOf(req)
  const state = states.find((one) => one === given.get('state')) ?? 'proven'
  const wanted = given.get('before')
  const before = isUuid(wanted) ? wanted : undefined
  const rows = await listEnrollments(site.pool, { state, before, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ state, before: id }))
  sendAdminPage(req, res, {
    view: 'admin/consumers/requests',
    title: visitOf(req).texts('enrollments.title'),
    data: {
      state,
      states,
      done: doneMessage(req, acceptEnrollment, refuseEnrollment),
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
