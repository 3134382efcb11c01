import { type Request, type Response, Router } from 'express'
import {
  addMailSource,
  mailSourceKinds,
  readMailSources,
  removeSource,
  SOURCE_DAYS,
} from '../../reports/mail-sources.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

/** The page of spam traps and feedback loops: what they received, and forms to change them. */
export function sourceRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendSources(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: { add: addMailSource, remove: removeSource },
      back: () => '/admin/sources',
      show: (req, res, refused) => sendSources(req, res, site, refused),
    }),
  )
  return router
}

async function sendSources(
  req: Request,
  res: Response,
  { pool, clock }: Pick<Site, 'pool' | 'clock'>,
  refused: RefusedForm = { problems: [], given: {} },
): Promise<void> {
  sendAdminPage(req, res, {
    view: 'admin/sources',
    title: visitOf(req).texts('sources.title'),
    status: refused.problems.length > 0 ? 422 : 200,
    data: {
      sources: await readMailSources(pool, clock()),
      kinds: mailSourceKinds,
      days: SOURCE_DAYS,
      done: doneMessage(req, addMailSource, removeSource),
      faults: refused.problems,
      form: refused.given,
    },
  })
}
