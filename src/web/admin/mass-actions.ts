import { Router } from 'express'
import { listMassActions } from '../../db/mass-actions.ts'
import { dateOf, DAY_MS } from '../../durations.ts'
import { judgeStored } from '../../judging/judge-stored.ts'
import { storableText } from '../../mail/text.ts'
import { listReopenable, oldestAgeMs } from '../../reports/reopen-reports.ts'
import { countFound, listFound, openSearch } from '../../search/find-reports.ts'
import {
  describeMassAction,
  MASS_MAX,
  mayUndo,
  startDeletion,
  startMassAction,
  stopMassAction,
  undoMassAction,
  undoUntil,
} from '../../search/mass-actions.ts'
import { deletesEvidence, isDeletion, massEffectOf, massKinds } from '../../search/mass-effects.ts'
import { effectIn, refusalIn } from '../../texts/phrases.ts'
import { parseSearch, SEARCH_CHARS_MAX } from '../../search/syntax.ts'
import { isUuid } from '../pages/render.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { listPage, readNames } from './list-page.ts'
import { adminPage, type PageCall } from './page.ts'
import { doneMessage, type RefusedForm } from './post-action.ts'

const path = '/admin/reports/actions'
const SHOWN_MAX = 50
/** Number of the newest reports from which a preview is computed. */
const LOOKED_MAX = 500
const REFRESH_SECONDS = 3

/** Actions on many reports: their preview, their progress, and the latest ones. */
export function massActionRoutes(site: Site): Router {
  const { pool } = site
  const router = Router()
  router.use(
    listPage(site, {
      at: '/actions',
      view: 'admin/mass-actions',
      title: 'mass.title',
      read: async (_, { language }) => {
        const rows = await listMassActions(pool, SHOWN_MAX)
        return rows.map((row) => ({ ...row, label: effectIn(language, row.kind).label }))
      },
      after: [startMassAction, startDeletion],
    }),
    adminPage(site, {
      at: '/actions/new',
      view: 'admin/mass-action-new',
      data: (call) => describePreview(call, site),
      form: {
        at: '/actions',
        actions: { start: startMassAction, delete: startDeletion },
        fields: (_, form) => ({ ids: form.texts('ids') }),
        back: (_, outcome) => ('id' in outcome ? `${path}/${outcome.id}` : path),
      },
    }),
    adminPage(site, {
      at: '/actions/:id',
      view: 'admin/mass-action',
      data: (call) => describeProgress(call, site),
      form: {
        actions: { stop: stopMassAction, undo: undoMassAction },
        fields: (req) => ({ id: req.params['id'] }),
      },
    }),
  )
  return router
}

async function describePreview(
  { req, refused, language }: PageCall,
  site: Pick<Site, 'pool' | 'config' | 'clock'>,
) {
  const { pool, config } = site
  const { kind, q, ids } = refused ? chosenAgain(refused) : chosenIn(searchParamsOf(req))
  const known = massKinds.find((one) => one === kind)
  if (!known) throw new ProblemError('bad-field', 'Unknown action. Choose one from the list.')
  if (ids && !ids.every(isUuid)) throw new ProblemError('bad-field', 'These are not valid ids.')
  const parsed = parseSearch(storableText(q, SEARCH_CHARS_MAX + 1))
  if ('problems' in parsed) throw new ProblemError('bad-field', parsed.problems[0] ?? '')
  const search = ids ? undefined : await openSearch(pool, parsed.clauses)
  const count = search ? await countFound(pool, search, MASS_MAX) : (ids?.length ?? 0)
  const newest = { before: undefined, limit: LOOKED_MAX }
  const looked =
    known === 'judge-kept' ? (ids ?? (search ? await listFound(pool, search, newest) : [])) : []
  const effect = effectIn(language, known)
  const blocked = massEffectOf(known).problems?.(config) ?? []
  return {
    title: effect.label,
    ...{ kind, q, ids: ids ?? [], count, effect, MASS_MAX },
    isTooMany: count > MASS_MAX,
    blocked: blocked.map((problem) => refusalIn(language, problem.message).text),
    looked: looked.length,
    judged:
      looked.length > 0
        ? await judgeStored(pool, await listReopenable(pool, looked, site.clock(), site))
        : undefined,
    does: isDeletion(known) ? 'delete' : 'start',
    needsSecond: config.needsFourEyes && deletesEvidence(known),
  }
}

/** The kept reports, of the days in which messages may still be forwarded, to judge them again. */
export function keptReportsPath(site: Pick<Site, 'config' | 'clock'>): string {
  const from = new Date(site.clock().getTime() - oldestAgeMs(site))
  const q = `state:kept after:${dateOf(new Date(from.getTime() - DAY_MS))}`
  return `${path}/new?${new URLSearchParams({ kind: 'judge-kept', q })}`
}

/** An action and the reports selected one by one; without ids, all that the search finds. */
type Choice = { kind: string; q: string; ids: readonly string[] | undefined }

function chosenIn(given: URLSearchParams): Choice {
  const ids = given.get('scope') === 'selected' ? given.getAll('ids') : undefined
  return { kind: given.get('kind') ?? '', q: given.get('q') ?? '', ids }
}

function chosenAgain({ given }: RefusedForm): Choice {
  const ids = given['ids'] ? given['ids'].split(',') : undefined
  return { kind: given['kind'] ?? '', q: given['q'] ?? '', ids }
}

async function describeProgress(
  { req, res, language, texts }: PageCall,
  { pool, clock }: Pick<Site, 'pool' | 'clock'>,
) {
  const { id } = req.params
  const described = isUuid(id) ? await describeMassAction(pool, id) : undefined
  if (!described) throw new ProblemError('not-found', 'Action not found.')
  const { action, counts } = described
  const effect = effectIn(language, action.kind)
  const isRunning = ['running', 'undoing'].includes(action.state)
  if (isRunning) res.setHeader('refresh', String(REFRESH_SECONDS))
  const nameOf = await readNames({ pool }, [action.reporterId], texts)
  return {
    title: effect.label,
    ...{ action, counts, effect, isRunning },
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    who: nameOf(action.reporterId),
    mayUndo: mayUndo(action, clock()),
    undoUntil: undoUntil(action),
    // The page reloads itself: it must not say that something began when that is over.
    done: isRunning
      ? doneMessage(req, startMassAction, startDeletion, undoMassAction)
      : doneMessage(req, stopMassAction),
  }
}
