import { Router } from 'express'
import type { Condition } from '../../health/conditions.ts'
import type { RunningProcess } from '../../health/heartbeat.ts'
import { textsIn } from '../../texts/messages.ts'
import { inEnglish } from '../../texts/phrases.ts'
import { authenticateRequest } from '../authenticate.ts'
import { admit } from '../limits.ts'
import type { Site } from '../site.ts'
import { otherMethods } from './cors.ts'
import { sendJson } from './submission.ts'

type Needs = Pick<Site, 'config' | 'credentials' | 'limits' | 'readHealth'>

/** All conditions of health: `/api/v1/health`. */
export function healthApi(site: Needs): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const { id: reporterId, tokenHash } = await authenticateRequest(
      req,
      site.credentials,
      ['bearer', 'basic'],
      'viewer',
    )
    await admit(req, res, site, 'read', { reporterId, tokenHash })
    const { level, at, conditions, processes } = await site.readHealth()
    sendJson(res, 200, {
      level,
      at: at.toISOString(),
      conditions: conditions.map(conditionJson),
      processes: processes.map(processJson),
    })
  })
  router.all('/', otherMethods('GET'))
  return router
}

function conditionJson(condition: Condition) {
  const { code, level, value, unit, bounds, reason, since, action, silencedUntil } = condition
  const texts = textsIn('en')
  return {
    code,
    title: texts(`health.titles.${code}`),
    level,
    value,
    unit,
    warning: bounds.warning,
    critical: bounds.critical,
    since: since && since.toISOString(),
    reason: inEnglish(reason),
    phrase: { code: reason.code, params: reason.params ?? {} },
    advice: texts(`health.advice.${code}`),
    action,
    silenced_until: silencedUntil && silencedUntil.toISOString(),
  }
}

function processJson({ host, name, version, startedAt, seenAt }: RunningProcess) {
  const times = { started_at: startedAt.toISOString(), seen_at: seenAt.toISOString() }
  return { host, name, version, ...times }
}
