import type { Action, Operator } from '../../actions.ts'
import { listMassActions, type MassAction } from '../../db/mass-actions.ts'
import { type FoundReport, listFoundReports } from '../../db/search.ts'
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
import { doneIn, effectIn } from '../../texts/phrases.ts'
import { isUuid, pageOf } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { Handlers } from './serve-operations.ts'
import { linkToNext, refusedProblem, reportUrl, runForCaller } from './submission.ts'

const LISTED_MAX = 50

export function searchHandlers(site: Site) {
  const { pool, publicUrl } = site
  return {
    async 'search-reports'({ query: { q, before, limit }, res }) {
      const search = await openSearch(pool, clausesOf(q))
      const [ids, count] = await Promise.all([
        listFound(pool, search, { before, limit: limit + 1 }),
        countFound(pool, search),
      ])
      const page = pageOf(ids, limit, (before) => ({ q, before, limit: String(limit) }))
      const next = linkToNext(res, page.next && `${publicUrl}/api/v1/search${page.next}`)
      return {
        reports: (await listFoundReports(pool, page.lines)).map((one) => foundJson(one, publicUrl)),
        count,
        is_count_exact: count <= COUNT_MAX,
        complete_until: search.completeUntil?.toISOString() ?? null,
        next,
      }
    },
    async 'list-mass-actions'() {
      return { actions: (await listMassActions(pool, LISTED_MAX)).map(actionJson) }
    },
    async 'start-mass-action'({ caller, body: { reason, per_minute: speed, ...choice }, res }) {
      const { action: kind, search: q, ids } = requireChoice(choice)
      const outcome = await runForCaller(
        startMassAction,
        { kind, q, ids, reason, speed },
        site,
        caller,
      )
      if (!('done' in outcome)) {
        throw new ProblemError('bad-field', doneIn('en', startMassAction, 'none') ?? '')
      }
      const { id = '' } = outcome
      res.setHeader('location', `${publicUrl}/api/v1/mass-actions/${id}`)
      return describe(id, site)
    },
    async 'preview-mass-action'({ body }) {
      const { action, search, ids } = requireChoice(body)
      const reports = ids
        ? new Set(ids).size
        : await countFound(pool, await openSearch(pool, clausesOf(search ?? '')), MASS_MAX)
      const { meaning, undoMeaning } = effectIn('en', action)
      const isBlocked = (massEffectOf(action).problems?.(site.config) ?? []).length > 0
      const mayStart = reports > 0 && reports <= MASS_MAX && !isBlocked
      return { reports, may_start: mayStart, meaning, undo_meaning: undoMeaning ?? null }
    },
    'read-mass-action': ({ path: { id } }) => describe(id, site),
    'stop-mass-action': (call) => end(stopMassAction, call, site),
    'undo-mass-action': (call) => end(undoMassAction, call, site),
  } satisfies Partial<Handlers>
}

function clausesOf(q: string): readonly Clause[] {
  const parsed = parseSearch(q)
  if ('clauses' in parsed) return parsed.clauses
  throw refusedProblem(parsed.problems)
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

function requireChoice<Choice extends { search?: string | undefined; ids?: string[] | undefined }>(
  choice: Choice,
): Choice {
  if ((choice.search === undefined) !== (choice.ids === undefined)) return choice
  throw new ProblemError('bad-field', 'Give either search or ids.')
}

async function end(
  action: Action,
  { caller, path }: { caller: Operator; path: { id: string } },
  site: Site,
) {
  const { id } = await describe(path.id, site)
  await runForCaller(action, { id }, site, caller)
  return describe(id, site)
}

function actionJson(action: MassAction) {
  const { id, kind, query: search, reason, state, perMinute, startedAt, endedAt } = action
  return {
    ...{ id, action: kind, search, reason, state, per_minute: perMinute },
    ...{ started_at: startedAt.toISOString(), ended_at: endedAt?.toISOString() ?? null },
  }
}

async function describe(id: string, { pool, clock }: Pick<Site, 'pool' | 'clock'>) {
  const described = isUuid(id) ? await describeMassAction(pool, id) : undefined
  if (!described) throw new ProblemError('not-found', 'There is no such action.')
  const { action, counts: reports } = described
  return { ...actionJson(action), may_undo: mayUndo(action, clock()), reports }
}
