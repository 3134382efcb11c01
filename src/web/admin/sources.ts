import { type Request, type Response, Router } from 'express'
import {
  addMailSource,
  mailSourceKinds,
  readMailSources,
  removeSource,
  SOURCE_DAYS,
} from '../../reports/mail-sources.ts'
import type { Site } from '../site.ts'
import { sendList } from './list-page.ts'
import { postAction, type RefusedForm } from './post-action.ts'

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
  refused?: RefusedForm,
): Promise<void> {
  await sendList(req, res, {
    view: 'admin/sources',
    title: 'sources.title',
    read: () => readMailSources(pool, clock()),
    actions: [addMailSource, removeSource],
    refused,
    data: { kinds: mailSourceKinds, days: SOURCE_DAYS },
  })
}
