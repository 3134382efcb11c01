import { type Request, type Response, Router } from 'express'
import { updateReporterSettings } from '../../db/reporters.ts'
import { type OptionalLetters, parseLettersOffToken } from '../../mail/verp.ts'
import type { Site } from '../site.ts'
import { type FormReader, readShortForm } from './form.ts'
import { sendPage } from './render.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'pool' | 'config'> & FormReader

const changes = {
  advice: { wantsAdvice: false },
  news: { wantsAnswers: false },
  summary: { wantsSummary: false },
} as const satisfies Record<OptionalLetters, object>

/**
 * The page that turns off letters of one kind, reached by the link in them. Letters sent before the
 * path was renamed have the second one.
 */
export function lettersOffRoutes(site: Needs): Router {
  const router = Router()
  const paths = ['/letters/off/:token', '/advice/off/:token']
  router.get(paths, (req: Request<{ token: string }>, res) => {
    const asked = parseLettersOffToken(req.params.token, site.config.secret)
    sendOff(req, res, asked?.letters, 'ask')
  })
  // The body may come from a mail program's own button (RFC 8058); the token is sufficient.
  router.post(paths, async (req: Request<{ token: string }>, res) => {
    await readShortForm(req, res, site)
    const asked = parseLettersOffToken(req.params.token, site.config.secret)
    if (asked) await updateReporterSettings(site.pool, asked.reporterId, changes[asked.letters])
    sendOff(req, res, asked?.letters, 'done')
  })
  return router
}

function sendOff(
  req: Request<{ token: string }>,
  res: Response,
  letters: OptionalLetters | undefined,
  state: 'ask' | 'done',
): void {
  res.setHeader('x-robots-tag', 'noindex, nofollow')
  sendPage(req, res, {
    view: 'pages/letters-off',
    title: visitOf(req).texts('lettersOff.title'),
    status: letters === undefined ? 404 : 200,
    data: { state, letters, action: `/letters/off/${encodeURIComponent(req.params.token)}` },
  })
}
