import { type Request, type Response, Router } from 'express'
import { listDeadLetters } from '../../db/dead-letters.ts'
import { deadLetterQueue } from '../../queue/define-queue.ts'
import { retryDeadLetters } from '../../queue/redrive.ts'
import type { Site } from '../site.ts'
import { digitsParam, sendList, uuidParam } from './list-page.ts'
import { postAction } from './post-action.ts'

/** The page with dead letters, on which they can be retried. */
export function deadLetterRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendDeadLetters(req, res, site))
  router.post(
    '/',
    postAction(site, {
      actions: retryDeadLetters,
      fields: (_, form) => ({ id: form.text('which') === 'all' ? undefined : form.texts('id') }),
      back: () => '/admin/dead-letters',
    }),
  )
  return router
}

async function sendDeadLetters(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
): Promise<void> {
  await sendList(req, res, {
    view: 'admin/dead-letters',
    title: 'deadLetters.title',
    cursor: { at: digitsParam, id: uuidParam },
    read: ({ at, id, limit }) => {
      const before = at && id ? { givenUpMicros: Number(at), id } : undefined
      return listDeadLetters(site.pool, deadLetterQueue, { before, limit })
    },
    next: ({ id, givenUpMicros }) => ({ at: String(givenUpMicros), id }),
    actions: [retryDeadLetters],
    data: { now: site.clock() },
  })
}
