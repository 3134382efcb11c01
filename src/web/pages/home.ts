import { Router } from 'express'
import { updateReporterSettings } from '../../db/reporters.ts'
import { isLanguage } from '../../texts/choose-language.ts'
import { webMailEn } from '../../texts/en/help.ts'
import { ProblemError, problems } from '../problem.ts'
import type { Site } from '../site.ts'
import { type FormReader, readShortForm } from './form.ts'
import { sendPage } from './render.ts'
import { localPath } from './sign-in.ts'
import { rememberLanguage, useEnglish, visitOf } from './visit.ts'

/** The home page, and the list of problem types that API responses link to. */
export function homeRoutes(): Router {
  const router = Router()
  router.get('/', (req, res) => {
    sendPage(req, res, { view: 'pages/home', title: visitOf(req).words.home.title })
  })
  router.get('/problems', (req, res) => {
    useEnglish(req)
    const list = Object.entries(problems).map(([name, { status, title }]) => ({
      name,
      status,
      title,
      sentence: visitOf(req).words.problems[name as keyof typeof problems],
    }))
    sendPage(req, res, { view: 'pages/problems', title: 'Problems', data: { list } })
  })
  return router
}

type Needs = Pick<Site, 'pool' | 'publicUrl'> & FormReader

/**
 * The language choice at the bottom of every page. For a signed-in user it is stored in the
 * account, also for letters, and in the browser, for use after signing out.
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

type Guides = ReturnType<typeof visitOf>['words']['help']['sources']

/** The help pages: how to save a message with its header, for each mail program. */
export function helpRoutes(): Router {
  const router = Router()
  router.get('/help', (req, res) => {
    const { help } = visitOf(req).words
    const isWeb = (key: string) => key in webMailEn
    const guides = Object.entries(help.sources).map(([key, { name }]) => ({ key, name }))
    const web = guides.filter(({ key }) => isWeb(key))
    const programs = guides.filter(({ key }) => !isWeb(key))
    sendPage(req, res, { view: 'pages/help', title: help.title, data: { web, programs } })
  })
  router.get('/help/source/:client', (req, res) => {
    const { help } = visitOf(req).words
    const { client } = req.params
    if (!isGuide(help.sources, client)) throw new ProblemError('not-found', 'Guide not found.')
    const guide = help.sources[client]
    const title = help.pageTitle(guide.name)
    sendPage(req, res, { view: 'pages/help-source', title, data: { guide } })
  })
  return router
}

function isGuide(guides: Guides, key: string): key is keyof Guides {
  return Object.hasOwn(guides, key)
}
