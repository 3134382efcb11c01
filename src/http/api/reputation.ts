import { Router } from 'express'
import { listedJson } from '../../verdict/lists/json-list.ts'
import { readListQuestion } from '../../verdict/lists/read-question.ts'
import { admit } from '../limits/admit.ts'
import { listingsOf } from '../lists/lookup.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { otherMethods } from './methods.ts'
import { sendJson } from './results.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'limits' | 'publicUrl'>

/** Whether something is listed: `/api/v1/reputation/NAME`, for anybody, as often as people ask. */
export function reputationApi(site: Needs): Router {
  const router = Router()
  router.get('/:name', async (req, res) => {
    await admit(req, res, site, 'lookup', {})
    const question = readListQuestion(req.params.name)
    if (!question) throw new ProblemError('bad-field', 'This is no address, domain, host or link.')
    const listed = (await listingsOf(question, site)).map(listedJson)
    sendJson(res, 200, {
      name: question.name,
      is_listed: listed.length > 0,
      listed,
      url: `${site.publicUrl}/lookup?q=${encodeURIComponent(question.name)}`,
    })
  })
  router.all('/:name', otherMethods('GET'))
  return router
}
