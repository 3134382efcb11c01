import { type Request, type Response, Router } from 'express'
import { listReceivingHosts } from '../../db/receiving-hosts.ts'
import { addReceivingHost, dropReceivingHost } from '../../reports/receiving-hosts.ts'
import type { Site } from '../site.ts'
import { sendList } from './list-page.ts'
import { postAction, type RefusedForm } from './post-action.ts'

/** The page of the hosts that receive mail for domains, with forms to change them. */
export function mailServerRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendMailServers(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: { add: addReceivingHost, remove: dropReceivingHost },
      back: () => '/admin/mail-servers',
      show: (req, res, refused) => sendMailServers(req, res, site, refused),
    }),
  )
  return router
}

async function sendMailServers(
  req: Request,
  res: Response,
  { pool }: Pick<Site, 'pool'>,
  refused?: RefusedForm,
): Promise<void> {
  await sendList(req, res, {
    view: 'admin/mail-servers',
    title: 'mailServers.title',
    read: () => listReceivingHosts(pool),
    actions: [addReceivingHost, dropReceivingHost],
    refused,
  })
}
