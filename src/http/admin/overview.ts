import { Router } from 'express'
import { deadLetterQueue } from '../../queue/queues.ts'
import type { Site } from '../site.ts'
import { healthWord } from './health-word.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'config' | 'readQueues'>

/** The first page: how the queues fare, and whether mail leaves. */
export function overviewRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const queues = await site.readQueues()
    sendAdminPage(req, res, {
      view: 'admin/overview',
      title: 'Overview',
      data: {
        queues,
        health: healthWord(queues, deadLetterQueue),
        deadLetterQueue,
        isHeld: site.config.smtpUrl === undefined,
        forwardTo: site.config.forwardTo,
      },
    })
  })
  return router
}
