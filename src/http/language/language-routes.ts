import { Router } from 'express'
import { updateReporterSettings } from '../../db/reporter-settings.ts'
import { isLanguage } from './choose-language.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { localPath } from '../pages/sign-in.ts'
import { rememberLanguage, visitOf } from '../pages/visit.ts'

type Needs = Pick<Site, 'pool' | 'publicUrl'> & FormReader

/**
 * The choice of a language at the foot of every page. Of who is signed in it is kept in the
 * account, for its letters too; and in the browser, for after signing out.
 */
export function languageRoutes(site: Needs): Router {
  const router = Router()
  router.post('/language', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const language = form.text('lang')
    if (!isLanguage(language)) throw new ProblemError('bad-field', 'We do not speak it.')
    const { reporter } = visitOf(req)
    if (reporter) await updateReporterSettings(site.pool, reporter.id, { language })
    rememberLanguage(res, language, site)
    res.redirect(303, localPath(form.text('back')))
  })
  return router
}
