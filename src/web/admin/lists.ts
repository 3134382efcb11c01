import { type Request, type Response, Router } from 'express'
import { type DelistingState, listDelistings, listExemptions } from '../../db/listings.ts'
import {
  acceptDelisting,
  exemptFromLists,
  exemptionTerms,
  refuseDelisting,
  removeListExemption,
} from '../../lists/list-actions.ts'
import { storableText } from '../../mail/text.ts'
import { DECISION_DAYS, decisionDue } from '../../verdict/lists/questions.ts'
import { uuidTime } from '../../world.ts'
import type { Form } from '../pages/form.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** Returns the chosen term in days, as text for the action; undefined if the term is permanent. */
export function daysOfTerm(form: Form): string | undefined {
  const term = form.text('term') ?? ''
  return term === 'good' ? undefined : term
}

const LINES = 50
const states: readonly DelistingState[] = ['open', 'automatic', 'accepted', 'refused']

/** The page with delisting requests and the decisions about them. */
export function delistingAdminRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendRequests(req, res, site))
  router.post(
    '/:id',
    postAction(site, {
      actions: { accept: acceptDelisting, refuse: refuseDelisting },
      fields: (req) => ({ id: req.params['id'] }),
      back: () => '/admin/delistings',
      show: (req, res, refused) => sendRequests(req, res, site, refused),
    }),
  )
  return router
}

async function sendRequests(
  req: Request,
  res: Response,
  site: Site,
  refused?: RefusedForm,
): Promise<void> {
  const given = searchParamsOf(req)
  const state = states.find((one) => one === given.get('state')) ?? 'open'
  const wanted = given.get('before')
  const before = isUuid(wanted) ? wanted : undefined
  const rows = await listDelistings(site.pool, { state, before, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ state, before: id }))
  sendAdminPage(req, res, {
    view: 'admin/lists/delistings',
    title: visitOf(req).texts('delistings.title'),
    status: refused ? 422 : 200,
    data: {
      state,
      states,
      fault: refused?.problems.join(' '),
      done: doneMessage(req, acceptDelisting, refuseDelisting),
      days: DECISION_DAYS,
      lines: lines.map((line) => {
        const askedAt = uuidTime(line.id)
        const dueAt = decisionDue(askedAt)
        return { ...line, askedAt, dueAt, isOverdue: dueAt <= site.clock() }
      }),
      terms: exemptionTerms,
      next,
      isFirst: before === undefined,
    },
  })
}

const NAME_CHARS_MAX = 253

/** The page to list and add exemptions from our lists. */
export function listExemptionRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendExemptions(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: { set: exemptFromLists, lift: removeListExemption },
      fields: (_, form) => ({ days: daysOfTerm(form) }),
      back: () => '/admin/delistings/exemptions',
      show: (req, res, refused) => sendExemptions(req, res, site, refused),
    }),
  )
  return router
}

async function sendExemptions(
  req: Request,
  res: Response,
  site: Site,
  refused: RefusedForm = { problems: [], given: {} },
): Promise<void> {
  const given = searchParamsOf(req)
  const after = storableText(given.get('after') ?? '', NAME_CHARS_MAX)
  const rows = await listExemptions(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ name }) => ({ after: name }))
  const now = site.clock()
  sendAdminPage(req, res, {
    view: 'admin/lists/exemptions',
    title: visitOf(req).texts('exemptions.title'),
    status: refused.problems.length > 0 ? 422 : 200,
    data: {
      lines: lines.map((line) => ({
        ...line,
        isOver: line.expiresAt !== null && line.expiresAt <= now,
      })),
      terms: exemptionTerms,
      done: doneMessage(req, exemptFromLists, removeListExemption),
      faults: refused.problems,
      form: refused.given,
      next,
      isFirst: after === '',
    },
  })
}
