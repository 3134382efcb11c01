import { Router } from 'express'
import { webMailEn } from '../language/en/sources/web-mail.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'

type Guides = ReturnType<typeof visitOf>['words']['help']['sources']

/** Help pages: how to have a message with its header lines, for each mail program. */
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
    if (!isGuide(help.sources, client)) throw new ProblemError('not-found', 'No such guide.')
    const guide = help.sources[client]
    const title = help.pageTitle(guide.name)
    sendPage(req, res, { view: 'pages/help-source', title, data: { guide } })
  })
  return router
}

function isGuide(guides: Guides, key: string): key is keyof Guides {
  return Object.hasOwn(guides, key)
}
