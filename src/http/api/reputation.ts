import { Router } from 'express'
import { listedJson } from '../../verdict/lists/json-list.ts'
import { readListQuestion } from '../../verdict/lists/read-question.ts'
import { askerOf } from '../lists/asker.ts'
import { listingsOf } from '../lists/lookup.ts'
import { createThrottle } from '../lists/throttle.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { otherMethods } from './methods.ts'
import { sendJson } from './results.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'publicUrl'>

const limits = { perMinute: 60, askersMax: 10_000 }

/** Whether something is listed: `/api/v1/reputation/NAME`, for anybody, as often as people ask. */
export function reputationApi(site: Needs): Router {
  const throttle = createThrottle(limits)
  const router = Router()
  router.get('/:name', async (req, res) => {
    const waitSeconds = throttle(askerOf(req), site.clock())
    if (waitSeconds !== undefined) {
      const detail = `At most ${limits.perMinute} questions a minute; use the lists for more.`
      throw new ProblemError('too-often', detail, { 'retry-after': String(waitSeconds) })
    }
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
