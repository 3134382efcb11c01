import { type Response, Router } from 'express'
import { type Action, runAction } from '../../actions.ts'
import { allQueues, listQueueControls, type QueueControl } from '../../db/queue-controls.ts'
import { pauseQueues, resumeQueues, setConcurrency } from '../../queue/control-queues.ts'
import type { Role } from '../../roles.ts'
import { authenticateRequest } from '../authenticate.ts'
import { readJson } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { QueueState } from '../read-backlogs.ts'
import { queueChangeSchema } from './contract/knowledge-schemas.ts'
import { otherMethods } from './cors.ts'
import { sendJson } from './submission.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'credentials' | 'limits' | 'readBody' | 'readQueues'
>

const BODY_BYTES_MAX = 4_000

/** The queues: `/api/v1/queues`. */
export function queuesApi(site: Needs): Router {
  const router = Router()
  const authenticate = async (req: Parameters<typeof admit>[0], res: Response, need: Role) => {
    const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], need)
    const { id: reporterId, tokenHash } = caller
    await admit(req, res, site, 'read', { reporterId, tokenHash })
    return caller
  }
  router.get('/', async (req, res) => {
    await authenticate(req, res, 'viewer')
    const controls = await readControls(site)
    const queues = (await site.readQueues()).map((queue) => queueJson(queue, controls))
    sendJson(res, 200, { queues })
  })
  router.all('/', otherMethods('GET'))
  router.patch('/:queue', async (req, res) => {
    const caller = await authenticate(req, res, 'operator')
    const body = await site.readBody(req, res, BODY_BYTES_MAX)
    const { queue } = req.params
    const { paused, reason, concurrency } = readJson(body, queueChangeSchema)
    const run = async (action: Action, given: object) => {
      const outcome = await runAction(action, { queue, ...given }, site as Site, caller)
      if (!('problems' in outcome)) return
      throw new ProblemError('bad-field', outcome.problems.map(({ message }) => message).join(' '))
    }
    if (concurrency !== undefined) await run(setConcurrency, { batches: concurrency ?? undefined })
    if (paused === true) await run(pauseQueues, { reason })
    if (paused === false) await run(resumeQueues, {})
    sendJson(res, 200, controlJson(queue, await readControls(site)))
  })
  router.all('/:queue', otherMethods('PATCH'))
  return router
}

type Controls = ReadonlyMap<string, QueueControl>

async function readControls({ pool }: Pick<Site, 'pool'>): Promise<Controls> {
  return new Map((await listQueueControls(pool)).map((control) => [control.queue, control]))
}

function controlJson(name: string, controls: Controls) {
  const own = controls.get(name)
  const paused = [own, controls.get(allQueues)].find((one) => one?.pausedAt)
  return {
    name,
    paused: paused !== undefined,
    paused_at: paused?.pausedAt?.toISOString() ?? null,
    reason: paused?.reason ?? null,
    concurrency: own?.concurrency ?? null,
  }
}

function queueJson(queue: QueueState, controls: Controls) {
  return {
    ...controlJson(queue.name, controls),
    ready: queue.ready,
    later: queue.deferred,
    active: queue.active,
    longest_wait_seconds: Math.round(queue.longestWaitSeconds),
  }
}
