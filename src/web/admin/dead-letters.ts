import { type Request, type Response, Router } from 'express'
import { type DeadLetterKey, listDeadLetters } from '../../db/dead-letters.ts'
import { deadLetterQueue } from '../../queue/define-queue.ts'
import { retryDeadLetters } from '../../queue/redrive.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

const LINES = 50

/** The page with dead letters, on which they can be retried. */
export function deadLetterRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendList(req, res, site))
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

async function sendList(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
): Promise<void> {
  const before = keyOf(req.query['at'], req.query['id'])
  const page = { before, limit: LINES + 1 }
  const rows = await listDeadLetters(site.pool, deadLetterQueue, page)
  const { lines, next } = pageOf(rows, LINES, ({ id, givenUpMicros }) => ({
    at: String(givenUpMicros),
    id,
  }))
  const now = site.clock().getTime()
  sendAdminPage(req, res, {
    view: 'admin/dead-letters',
    title: visitOf(req).texts('deadLetters.title'),
    data: {
      lines: lines.map((line) => ({
        ...line,
        ageSeconds: (now - line.createdAt.getTime()) / 1000,
      })),
      next,
      done: doneMessage(req, retryDeadLetters),
      isFirst: before === undefined,
    },
  })
}

function keyOf(at: unknown, id: unknown): DeadLetterKey | undefined {
  if (typeof at !== 'string' || !/^\d{1,16}$/.test(at) || !isUuid(id)) return undefined
  return { givenUpMicros: Number(at), id }
}
