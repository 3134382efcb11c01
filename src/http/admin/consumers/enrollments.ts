import { Router, type Request, type Response } from 'express'
import { type EnrollmentState, listEnrollments } from '../../../db/enrollment-requests.ts'
import { inTransaction } from '../../../db/pool.ts'
import { decideEnrollment } from '../../../feedback/change-consumer.ts'
import { scopeText } from '../../../verdict/consumers/consumer-scope.ts'
import { uuidTime } from '../../../world.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { isUuid, pageOf, queryOf } from '../../paging.ts'
import { ProblemError } from '../../problem.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const states: readonly EnrollmentState[] = ['proven', 'sent', 'accepted', 'refused']

/** Who asks to be told of what, once the address is proven, and the answer. */
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
    if (!isDone) throw new ProblemError('not-found', 'Nothing waits there.')
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
