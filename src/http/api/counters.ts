import { Router } from 'express'
import { authenticate } from '../authenticate.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { counterQuestionSchema } from './contract/schemas/knowledge-schemas.ts'
import { otherMethods } from './methods.ts'
import { readQuery } from './read-json.ts'
import { sendJson } from './results.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'credentials'>

/** What is counted of a link, an address, a file …: `/api/v1/counters`, for administrators. */
export function countersApi(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    await authenticate(req, site.credentials, ['bearer', 'basic'], 'admin')
    const { series, ...given } = readQuery(req, counterQuestionSchema)
    // Loaded by the first who asks: taking messages apart needs much that intake does not.
    const { ask } = await import('../../counters/look-up/ask.ts')
    const answer = await ask(site, given, series)
    if ('fault' in answer) throw new ProblemError('bad-field', answer.fault)
    sendJson(res, 200, answer)
  })
  router.all('/', otherMethods('GET'))
  return router
}
