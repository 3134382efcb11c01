import { type Request, type Response, Router } from 'express'
import { listMassActions } from '../../db/mass-actions.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { storableText } from '../../mail/text.ts'
import { countFound, openSearch } from '../../search/find-reports.ts'
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
import { type Language, message } from '../../texts/messages.ts'
import { parseSearch, SEARCH_CHARS_MAX } from '../../search/syntax.ts'
import { isUuid } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendList } from './list-page.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

const path = '/admin/reports/actions'
const SHOWN_MAX = 50
const REFRESH_SECONDS = 3

/** Actions on many reports: their preview, their progress, and the latest ones. */
export function massActionRoutes(site: Site): Router {
  const router = Router()
  router.get('/actions', (req, res) => sendActions(req, res, site))
  router.get('/actions/new', (req, res) => {
    const given = searchParamsOf(req)
    return sendPreview(req, res, site, {
      kind: given.get('kind') ?? '',
      q: given.get('q') ?? '',
      ids: given.get('scope') === 'selected' ? given.getAll('ids') : undefined,
      problems: [],
    })
  })
  router.post(
    '/actions',
    postAction(site, {
      actions: { start: startMassAction, delete: startDeletion },
      fields: (_, form) => ({ ids: form.texts('ids') }),
      back: (_, outcome) => ('id' in outcome ? `${path}/${outcome.id}` : path),
      show: (req, res, { problems, given }: RefusedForm) =>
        sendPreview(req, res, site, {
          kind: given['kind'] ?? '',
          q: given['q'] ?? '',
          ids: given['ids'] ? given['ids'].split(',') : undefined,
          problems,
        }),
    }),
  )
  router.get('/actions/:id', (req, res) => sendProgress(req, res, site))
  router.post(
    '/actions/:id',
    postAction(site, {
      actions: { stop: stopMassAction, undo: undoMassAction },
      fields: (req) => ({ id: req.params['id'] }),
      back: (req) => `${path}/${req.params['id']}`,
    }),
  )
  return router
}

/** What an action is called and does; English is where it is declared. */
function shownEffect(kind: string, language: Language) {
  const { label, meaning, undo, undoMeaning } = massEffectOf(kind)
  const text = (part: string) => message(language, `effects.${kind}${part}`)?.text
  return {
    label: text('') ?? label,
    meaning: text('.meaning') ?? meaning,
    undo,
    undoMeaning: undoMeaning && (text('.undo') ?? undoMeaning),
  }
}

type Preview = {
  kind: string
  q: string
  /** The reports selected one by one; undefined for all that the search finds. */
  ids: readonly string[] | undefined
  problems: readonly string[]
}

async function sendPreview(
  req: Request,
  res: Response,
  { pool, config }: Pick<Site, 'pool' | 'config'>,
  { kind, q, ids, problems }: Preview,
): Promise<void> {
  const known = massKinds.find((one) => one === kind)
  if (!known) throw new ProblemError('bad-field', 'Unknown action. Choose one from the list.')
  if (ids && !ids.every(isUuid)) throw new ProblemError('bad-field', 'These are not valid ids.')
  const parsed = parseSearch(storableText(q, SEARCH_CHARS_MAX + 1))
  if ('problems' in parsed) throw new ProblemError('bad-field', parsed.problems.join(' '))
  const search = ids ? undefined : await openSearch(pool, parsed.clauses)
  const count = search ? await countFound(pool, search, MASS_MAX) : (ids?.length ?? 0)
  const effect = shownEffect(known, visitOf(req).language)
  sendAdminPage(req, res, {
    view: 'admin/mass-action-new',
    title: effect.label,
    status: problems.length > 0 ? 422 : 200,
    data: {
      ...{ kind, q, ids: ids ?? [], count, problems, effect, MASS_MAX },
      isTooMany: count > MASS_MAX,
      does: isDeletion(known) ? 'delete' : 'start',
      needsSecond: config.needsFourEyes && deletesEvidence(known),
    },
  })
}

async function sendProgress(
  req: Request<{ id: string }>,
  res: Response,
  site: Pick<Site, 'pool' | 'clock'>,
): Promise<void> {
  const { id } = req.params
  const described = isUuid(id) ? await describeMassAction(site.pool, id) : undefined
  if (!described) throw new ProblemError('not-found', 'Action not found.')
  const { action, counts } = described
  const effect = shownEffect(action.kind, visitOf(req).language)
  const isRunning = ['running', 'undoing'].includes(action.state)
  if (isRunning) res.setHeader('refresh', String(REFRESH_SECONDS))
  const emails = await listReporterEmails(site.pool, action.reporterId ? [action.reporterId] : [])
  sendAdminPage(req, res, {
    view: 'admin/mass-action',
    title: effect.label,
    data: {
      ...{ action, counts, effect, isRunning },
      total: Object.values(counts).reduce((sum, count) => sum + count, 0),
      who: emails.get(action.reporterId ?? ''),
      mayUndo: mayUndo(action, site.clock()),
      undoUntil: undoUntil(action),
      // The page reloads itself: it must not say that something began when that is over.
      done: isRunning
        ? doneMessage(req, startMassAction, startDeletion, undoMassAction)
        : doneMessage(req, stopMassAction),
    },
  })
}

async function sendActions(
  req: Request,
  res: Response,
  { pool }: Pick<Site, 'pool'>,
): Promise<void> {
  const { language } = visitOf(req)
  await sendList(req, res, {
    view: 'admin/mass-actions',
    title: 'mass.title',
    read: async () => {
      const rows = await listMassActions(pool, SHOWN_MAX)
      return rows.map((row) => ({ ...row, label: shownEffect(row.kind, language).label }))
    },
    actions: [startMassAction, startDeletion],
  })
}
