import { Router } from 'express'
import { problems } from '../problem.ts'
import { sendPage } from './render.ts'
import { speakEnglish, visitOf } from './visit.ts'

/** The first page, and the list of problem types that the API's answers lead to. */
export function homeRoutes(): Router {
  const router = Router()
  router.get('/', (req, res) => {
    sendPage(req, res, { view: 'pages/home', title: visitOf(req).words.home.title })
  })
  router.get('/problems', (req, res) => {
    speakEnglish(req)
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
