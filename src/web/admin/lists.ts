import { type Request, type Response, Router } from 'express'
import { type DelistingState, listDelistings, listExemptions } from '../../db/listings.ts'
import {
  acceptDelisting,
  exemptFromLists,
  exemptionTerms,
  refuseDelisting,
  removeListExemption,
} from '../../lists/list-actions.ts'
import { DECISION_DAYS, decisionDue } from '../../verdict/lists/questions.ts'
import { uuidTime } from '../../world.ts'
import type { Form } from '../pages/form.ts'
import type { Site } from '../site.ts'
import { choiceOrFirstParam, sendList, textParam, uuidParam } from './list-page.ts'
import { postAction, type RefusedForm } from './post-action.ts'

/** Returns the chosen term in days, as text for the action; undefined if the term is permanent. */
export function daysOfTerm(form: Form): string | undefined {
  const term = form.text('term') ?? ''
  return term === 'good' ? undefined : term
}

const states = ['open', 'automatic', 'accepted', 'refused'] as const satisfies DelistingState[]

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
  const filters = { state: choiceOrFirstParam(states) }
  await sendList(req, res, {
    view: 'admin/lists/delistings',
    title: 'delistings.title',
    base: '/admin/delistings',
    filters,
    cursor: { before: uuidParam },
    read: async (page) => {
      const rows = await listDelistings(site.pool, page)
      return rows.map((row) => {
        const askedAt = uuidTime(row.id)
        return { ...row, askedAt, dueAt: decisionDue(askedAt) }
      })
    },
    next: ({ id }) => ({ before: id }),
    actions: [acceptDelisting, refuseDelisting],
    refused,
    data: { states, days: DECISION_DAYS, terms: exemptionTerms, now: site.clock() },
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
  refused?: RefusedForm,
): Promise<void> {
  await sendList(req, res, {
    view: 'admin/lists/exemptions',
    title: 'exemptions.title',
    cursor: { after: textParam(NAME_CHARS_MAX) },
    read: ({ after = '', limit }) => listExemptions(site.pool, { after, limit }),
    next: ({ name }) => ({ after: name }),
    actions: [exemptFromLists, removeListExemption],
    refused,
    data: { terms: exemptionTerms, now: site.clock() },
  })
}
