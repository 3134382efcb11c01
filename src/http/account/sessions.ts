import { Router, type Request, type Response } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import {
  listSessions,
  removeSession,
  removeSessions,
  type SignedInBrowser,
} from '../../db/sessions.ts'
import type { Words } from '../language/en/words.ts'
import { isUuid } from '../paging.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { closeSession } from '../pages/session.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { shownLine } from '../shown-text.ts'
import type { Site } from '../site.ts'
import { deviceOf } from './device-words.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const page = '/account/sessions'

/** The page with the browsers somebody is signed in with, to end one or all others. */
export function sessionRoutes(site: Needs): Router {
  const router = Router()
  router.get(page, async (req, res) => {
    const reporter = requireReporter(req, res)
    if (reporter) await sendSessions(req, res, site, reporter)
  })
  router.post(page, async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    const handle = form.text('end')
    if (handle === req.session.handle) {
      await closeSession(req)
      return res.redirect(303, '/')
    }
    if (handle === 'others') await removeSessions(site.pool, reporter.id, req.session.handle)
    else if (isUuid(handle)) await removeSession(site.pool, reporter.id, handle)
    res.redirect(303, `${page}?done=ended`)
  })
  return router
}

async function sendSessions(
  req: Request,
  res: Response,
  site: Needs,
  { id }: Reporter,
): Promise<void> {
  const { sessions: words } = visitOf(req).words.ownAccount
  const found = await listSessions(site.pool, id, site.clock())
  const shown = found.map((one) => ({
    ...one,
    device: deviceWords(one, words),
    isHere: one.handle === req.session.handle,
  }))
  sendPage(req, res, {
    view: 'pages/account/sessions',
    title: words.title,
    data: {
      note: req.query['done'] === 'ended' ? words.ended : undefined,
      sessions: shown,
      others: shown.filter(({ isHere }) => !isHere).length,
    },
  })
}

function deviceWords({ agent }: SignedInBrowser, words: Words['ownAccount']['sessions']): string {
  const device = deviceOf(agent)
  return device ? shownLine(words.on(device.browser, device.system), 80) : words.unknown
}
