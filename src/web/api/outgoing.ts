import { Router } from 'express'
import { countSendingEvents } from '../../counting/sending.ts'
import { DAY_MS } from '../../durations.ts'
import { authenticateRequest } from '../authenticate.ts'
import { readJson } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { outgoingEventsSchema } from './contract/knowledge-schemas.ts'
import { otherMethods } from './cors.ts'
import { sendJson } from './submission.ts'

type Needs = Pick<
  Site,
  'pool' | 'clock' | 'config' | 'credentials' | 'limits' | 'readBody' | 'noteSender'
>

const BODY_BYTES_MAX = 500_000
/** Counters are kept for two weeks. */
const AGE_DAYS_MAX = 13

/** Events about outgoing mail: `/api/v1/outgoing-events`. */
export function outgoingApi(site: Needs): Router {
  const router = Router()
  router.post('/', async (req, res) => {
    const { id: reporterId, tokenHash } = await authenticateRequest(
      req,
      site.credentials,
      ['bearer', 'basic'],
      'operator',
    )
    await admit(req, res, site, 'read', { reporterId, tokenHash })
    const body = await site.readBody(req, res, BODY_BYTES_MAX)
    const { events } = readJson(body, outgoingEventsSchema)
    const now = site.clock()
    const dated = events.map(({ at, ...event }) => ({ ...event, at: at ? new Date(at) : now }))
    for (const [index, { at }] of dated.entries()) {
      const ageDays = (now.getTime() - at.getTime()) / DAY_MS
      if (ageDays >= -1 && ageDays <= AGE_DAYS_MAX) continue
      const detail = `events.${index}.at is in the future or older than ${AGE_DAYS_MAX} days.`
      throw new ProblemError('bad-field', detail)
    }
    await countSendingEvents(site.pool, dated, now)
    for (const { user, system, event } of dated) {
      if (event !== 'read') site.noteSender({ user, system })
    }
    sendJson(res, 202, { accepted: dated.length })
  })
  router.all('/', otherMethods('POST'))
  return router
}
