import { Router, type Request, type Response } from 'express'
import { listDeadLetters, type DeadLetterKey } from '../../db/dead-letters.ts'
import { deadLetterQueue } from '../../queue/queues.ts'
import { redriveDeadLetters } from '../../queue/redrive.ts'
import { readShortForm, type FormReader } from '../pages/form.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { isUuid, pageOf } from '../paging.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock'> & FormReader

const LINES = 50

/** Jobs that no retry could save, and the way to try them once more. */
export function deadLetterRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendList(req, res, site))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const which = form.text('which') === 'all' ? 'all' : form.texts('id').filter(isUuid)
    const moved = await redriveDeadLetters(site, which, administrator.id)
    res.redirect(303, `/admin/dead-letters?moved=${moved}`)
  })
  return router
}

async function sendList(req: Request, res: Response, site: Needs): Promise<void> {
  const before = keyOf(req.query['at'], req.query['id'])
  const page = { before, limit: LINES + 1 }
  const rows = await listDeadLetters(site.pool, deadLetterQueue, page)
  const { lines, next } = pageOf(rows, LINES, ({ id, givenUpMicros }) => ({
    at: String(givenUpMicros),
    id,
  }))
  const now = site.clock().getTime()
  const { moved } = req.query
  sendAdminPage(req, res, {
    view: 'admin/dead-letters',
    title: 'Dead letters',
    data: {
      lines: lines.map((line) => ({
        ...line,
        ageSeconds: (now - line.createdAt.getTime()) / 1000,
      })),
      next,
      moved: typeof moved === 'string' && /^\d{1,9}$/.test(moved) ? Number(moved) : undefined,
      isFirst: before === undefined,
    },
  })
}

function keyOf(at: unknown, id: unknown): DeadLetterKey | undefined {
  if (typeof at !== 'string' || !/^\d{1,16}$/.test(at) || !isUuid(id)) return undefined
  return { givenUpMicros: Number(at), id }
}
