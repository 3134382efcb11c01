import { type Request, type Response, Router } from 'express'
import { type Action, messageOf, runAction } from '../../actions.ts'
import { listMassActions, type MassAction } from '../../db/mass-actions.ts'
import { type FoundReport, listFoundReports } from '../../db/search.ts'
import type { Role } from '../../roles.ts'
import { COUNT_MAX, countFound, listFound, openSearch } from '../../search/find-reports.ts'
import {
  describeMassAction,
  MASS_MAX,
  mayUndo,
  startMassAction,
  stopMassAction,
  undoMassAction,
} from '../../search/mass-actions.ts'
import { massEffectOf } from '../../search/mass-effects.ts'
import { type Clause, parseSearch } from '../../search/syntax.ts'
import { authenticateRequest } from '../authenticate.ts'
import { readJson, readQuery } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { isUuid, queryOf } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import {
  massChoiceSchema,
  newMassActionSchema,
  searchPageSchema,
} from './contract/search-schemas.ts'
import { otherMethods } from './cors.ts'
import { reportUrl, sendJson } from './submission.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'credentials' | 'limits' | 'publicUrl' | 'readBody'
>

const BODY_BYTES_MAX = 40_000
const LISTED_MAX = 50

async function admitted(req: Request, res: Response, site: Needs, need: Role) {
  const caller = await authenticateRequest(req, site.credentials, ['bearer', 'basic'], need)
  const { id: reporterId, tokenHash } = caller
  await admit(req, res, site, 'read', { reporterId, tokenHash })
  return caller
}

function clausesOf(q: string): readonly Clause[] {
  const parsed = parseSearch(q)
  if ('clauses' in parsed) return parsed.clauses
  throw new ProblemError('bad-field', parsed.problems.join(' '))
}

/** The search of operators: `/api/v1/search`. */
export function searchApi(site: Needs): Router {
  const { pool, publicUrl } = site
  const router = Router()
  router.get('/', async (req, res) => {
    await admitted(req, res, site, 'viewer')
    const { q, before, limit } = readQuery(req, searchPageSchema)
    const search = await openSearch(pool, clausesOf(q))
    const [ids, count] = await Promise.all([
      listFound(pool, search, { before, limit: limit + 1 }),
      countFound(pool, search),
    ])
    const shown = ids.slice(0, limit)
    const query = queryOf({ q, before: shown.at(-1), limit: String(limit) })
    const next = ids.length > limit ? `${publicUrl}/api/v1/search${query}` : null
    if (next !== null) res.setHeader('link', `<${next}>; rel="next"`)
    const found = {
      reports: (await listFoundReports(pool, shown)).map((one) => foundJson(one, publicUrl)),
      count,
      is_count_exact: count <= COUNT_MAX,
      complete_until: search.completeUntil?.toISOString() ?? null,
      next,
    }
    sendJson(res, 200, found)
  })
  router.all('/', otherMethods('GET'))
  return router
}

function foundJson(report: FoundReport, publicUrl: string) {
  const { id, state, receivedAt, kind, subject, author, channel } = report
  return {
    ...{ id, status: state, received_at: receivedAt.toISOString(), kind, subject, author },
    ...{ url: reportUrl(publicUrl, id), channel, reporter_id: report.reporterId },
    ...{ origin: report.originIp, network: report.networkName, verdict: report.verdictClass },
    has_effect: !report.isHeld,
  }
}

/** Actions on many reports: `/api/v1/mass-actions`. */
export function massActionsApi(site: Needs): Router {
  const router = Router()
  const at = (id: string) => `${site.publicUrl}/api/v1/mass-actions/${id}`
  router.get('/', async (req, res) => {
    await admitted(req, res, site, 'viewer')
    const actions = await listMassActions(site.pool, LISTED_MAX)
    sendJson(res, 200, { actions: actions.map(actionJson) })
  })
  router.post('/', async (req, res) => {
    const caller = await admitted(req, res, site, 'operator')
    const body = await site.readBody(req, res, BODY_BYTES_MAX)
    const { reason, per_minute: speed, ...choice } = readJson(body, newMassActionSchema)
    const { action: kind, search: q, ids } = requireChoice(choice)
    const outcome = await run(startMassAction, { kind, q, ids, reason, speed }, site, caller)
    if (!('done' in outcome)) {
      throw new ProblemError('bad-field', messageOf(startMassAction, 'none'))
    }
    const { id = '' } = outcome
    res.setHeader('location', at(id))
    sendJson(res, 202, await describe(id, site))
  })
  router.all('/', otherMethods('GET', 'POST'))
  router.post('/preview', async (req, res) => {
    await admitted(req, res, site, 'viewer')
    const body = await site.readBody(req, res, BODY_BYTES_MAX)
    const { action, search, ids } = requireChoice(readJson(body, massChoiceSchema))
    const { pool } = site
    const reports = ids
      ? new Set(ids).size
      : await countFound(pool, await openSearch(pool, clausesOf(search ?? '')), MASS_MAX)
    const { meaning, undoMeaning } = massEffectOf(action)
    const mayStart = reports > 0 && reports <= MASS_MAX
    sendJson(res, 200, {
      ...{ reports, may_start: mayStart, meaning, undo_meaning: undoMeaning ?? null },
    })
  })
  router.all('/preview', otherMethods('POST'))
  router.get('/:id', async (req, res) => {
    await admitted(req, res, site, 'viewer')
    sendJson(res, 200, await describe(req.params.id, site))
  })
  router.all('/:id', otherMethods('GET'))
  for (const [name, action, status] of endings) {
    router.post(`/:id/${name}`, async (req, res) => {
      const caller = await admitted(req, res, site, 'operator')
      const { id } = await describe(req.params['id'] ?? '', site)
      await run(action, { id }, site, caller)
      sendJson(res, status, await describe(id, site))
    })
    router.all(`/:id/${name}`, otherMethods('POST'))
  }
  return router
}

const endings = [
  ['stop', stopMassAction, 200],
  ['undo', undoMassAction, 202],
] as const

function requireChoice<Choice extends { search?: string | undefined; ids?: string[] | undefined }>(
  choice: Choice,
): Choice {
  if ((choice.search === undefined) !== (choice.ids === undefined)) return choice
  throw new ProblemError('bad-field', 'Give either search or ids.')
}

/** @throws ProblemError if the action is refused */
async function run(
  action: Action,
  given: Readonly<Record<string, unknown>>,
  site: Needs,
  caller: { id: string; role: Role | null },
) {
  const outcome = await runAction(action, given, site as Site, caller)
  if (!('problems' in outcome)) return outcome
  throw new ProblemError('bad-field', outcome.problems.map(({ message }) => message).join(' '))
}

function actionJson(action: MassAction) {
  const { id, kind, query: search, reason, state, perMinute, startedAt, endedAt } = action
  return {
    ...{ id, action: kind, search, reason, state, per_minute: perMinute },
    ...{ started_at: startedAt.toISOString(), ended_at: endedAt?.toISOString() ?? null },
  }
}

async function describe(id: string, { pool, clock }: Needs) {
  const described = isUuid(id) ? await describeMassAction(pool, id) : undefined
  if (!described) throw new ProblemError('not-found', 'There is no such action.')
  const { action, counts: reports } = described
  return { ...actionJson(action), may_undo: mayUndo(action, clock()), reports }
}
