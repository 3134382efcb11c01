import { Router, type Request, type Response } from 'express'
import { listRateLimits, type RateLimit } from '../../../db/rate-limits.ts'
import { changeLimit } from '../../../intake/limits/change-limit.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { queryOf } from '../../paging.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const behaviors: readonly RateLimit['behavior'][] = ['refuse', 'shadow', 'off']

/** How often anybody may do something; and the way to change it, for all processes at once. */
export function limitRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendLimits(req, res, site, []))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const name = form.text('name') ?? ''
    const behavior = behaviors.find((one) => one === form.text('behavior'))
    const change = {
      attemptsMax: numberOf(form.text('attempts')),
      windowMs: numberOf(form.text('seconds')) * 1_000,
      ...(behavior && { behavior }),
    }
    const deed = { at: site.clock(), reporterId: administrator.id }
    const faults = await changeLimit(site.pool, name, change, deed)
    if (faults.length > 0) return sendLimits(req, res, site, faults)
    res.redirect(303, `/admin/limits${queryOf({ done: name })}`)
  })
  return router
}

function numberOf(text: string | undefined): number {
  return /^\d{1,10}(\.\d{1,3})?$/.test(text ?? '') ? Number(text) : Number.NaN
}

async function sendLimits(
  req: Request,
  res: Response,
  site: Needs,
  faults: readonly string[],
): Promise<void> {
  const limits = await listRateLimits(site.pool)
  const done = new URL(req.originalUrl, 'http://site').searchParams.get('done')
  sendAdminPage(req, res, {
    view: 'admin/limits/limits',
    title: 'Limits',
    status: faults.length > 0 ? 422 : 200,
    data: {
      limits: limits.map((limit) => ({
        ...limit,
        seconds: limit.windowMs / 1_000,
        behaviors: behaviors.filter((one) => one !== 'shadow' || maySetAside(limit)),
      })),
      faults,
      done: limits.find(({ name }) => name === done)?.name,
    },
  })
}

function maySetAside({ attempt }: RateLimit): boolean {
  return attempt === 'report' || attempt === 'mail-in'
}
