import { Router } from 'express'
import { updateReporterSettings } from '../../db/reporters.ts'
import { isLanguage } from '../../texts/choose-language.ts'
import { ProblemError, problems } from '../problem.ts'
import { guideOf, listGuides } from '../reporting/guides.ts'
import type { Site } from '../site.ts'
import { type FormReader, readShortForm } from './form.ts'
import { localPath, sendPage } from './render.ts'
import { sampleGraphs } from './sample-graphs.ts'
import { rememberLanguage, useEnglish, visitOf } from './visit.ts'

/** The home page, the list of problem types that API responses link to, and the style guide. */
export function homeRoutes({ clock }: Pick<Site, 'clock'>): Router {
  const router = Router()
  router.get('/', (req, res) => {
    sendPage(req, res, { view: 'pages/home', title: visitOf(req).texts('home.title') })
  })
  router.get('/problems', (req, res) => {
    useEnglish(req)
    const list = Object.entries(problems).map(([name, { status, title }]) => ({
      name,
      status,
      title,
      sentence: visitOf(req).texts(`problems.${name as keyof typeof problems}`),
    }))
    sendPage(req, res, { view: 'pages/problems', title: 'Problems', data: { list } })
  })
  router.get('/styleguide', (req, res) => {
    useEnglish(req)
    const now = clock()
    const stages = [
      { name: 'Arrived', state: 'done', at: now },
      { name: 'Analyzed', state: 'done', at: now },
      { name: 'Contoso notified', state: 'now' },
      { name: 'Answered', state: 'open' },
    ]
    const data = { now, stages, graphs: sampleGraphs(), isStyleguide: true }
    sendPage(req, res, { view: 'pages/styleguide', title: 'Style guide', data })
  })
  return router
}

type Needs = Pick<Site, 'pool' | 'publicUrl'> & FormReader

/**
 * The language choice at the bottom of every page. For a signed-in user it is stored in the
 * account, also for letters, and in the browser, where it applies after signing out.
 */
export function languageRoutes(site: Needs): Router {
  const router = Router()
  router.post('/language', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const language = form.text('lang')
    if (!isLanguage(language))
      throw new ProblemError('bad-field', 'This language is not available.')
    const { reporter } = visitOf(req)
    if (reporter) await updateReporterSettings(site.pool, reporter.id, { language })
    rememberLanguage(res, language, site)
    res.redirect(303, localPath(form.text('back')))
  })
  return router
}

/** The help pages: how to save a message with its header, for each mail program. */
export function helpRoutes(): Router {
  const router = Router()
  router.get('/help', (req, res) => {
    const { texts } = visitOf(req)
    const data = listGuides(texts)
    sendPage(req, res, { view: 'pages/help', title: texts('help.title'), data })
  })
  router.get('/help/source/:client', (req, res) => {
    const { texts } = visitOf(req)
    const guide = guideOf(req.params.client, texts)
    if (!guide) throw new ProblemError('not-found', 'Guide not found.')
    const title = texts('help.pageTitle', { name: guide.name })
    sendPage(req, res, { view: 'pages/help-source', title, data: { guide } })
  })
  return router
}
