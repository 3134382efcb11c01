import { Router } from 'express'
import { updateReporterSettings } from '../../db/reporters.ts'
import { isLanguage } from '../../texts/choose-language.ts'
import { type Code, codesBelow, type ListCode, type Texts } from '../../texts/messages.ts'
import { ProblemError, problems } from '../problem.ts'
import type { Site } from '../site.ts'
import { type FormReader, readShortForm } from './form.ts'
import { sendPage } from './render.ts'
import { localPath } from './sign-in.ts'
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
      { name: 'Contoso told', state: 'now' },
      { name: 'Answered', state: 'open' },
    ]
    sendPage(req, res, { view: 'pages/styleguide', title: 'Style guide', data: { now, stages } })
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
    const named = (start: string) =>
      codesBelow(start)
        .filter(({ rest: [, field] }) => field === 'name')
        .map(({ code, rest: [key] }) => ({ key, name: texts(code as Code) }))
    const data = { web: named(WEB_MAIL), programs: named(PROGRAMS) }
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

const WEB_MAIL = 'help.web.'
const PROGRAMS = 'help.programs.'

/**
 * The guide for a mail program: ways to get a message with its complete header, the best first, and
 * what is not possible. Undefined if there is no guide.
 */
function guideOf(client: string, texts: Texts) {
  const found = [...codesBelow(WEB_MAIL), ...codesBelow(PROGRAMS)].filter(
    ({ rest }) => rest[0] === client,
  )
  const textOf = (field: string) => {
    const code = found.find(({ rest }) => rest[1] === field)?.code
    return code === undefined ? undefined : texts(code as Code)
  }
  const ways = found
    .filter(({ rest: [, field] }) => field !== 'name' && field !== 'note')
    .map(({ code, rest: [, way] }) => ({
      title: texts(`help.ways.${way}` as Code),
      steps: texts(code as ListCode),
    }))
  const name = textOf('name')
  return name === undefined ? undefined : { name, ways, note: textOf('note') }
}
