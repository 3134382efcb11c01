import { type Request, type Response, Router } from 'express'
import type { Action } from '../../actions.ts'
import { listProposedDeletions } from '../../db/proposed-deletions.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { proposalActions } from '../../people/confirm-deletion.ts'
import { startDeletion } from '../../search/mass-actions.ts'
import type { Site } from '../site.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { doneMessage, postAction } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

const SHOWN_MAX = 100

/** The actions that delete messages or reports. */
export const deletingActions = [startDeletion] as readonly Action[]

const { confirm, withdraw } = proposalActions(deletingActions)

/** Deletions that a second person must confirm. */
export function deletionRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendDeletions(req, res, site))
  router.post(
    '/',
    postAction(site, { actions: { confirm, withdraw }, back: () => '/admin/deletions' }),
  )
  return router
}

async function sendDeletions(req: Request, res: Response, { pool, clock, config }: Site) {
  const lines = await listProposedDeletions(pool, clock(), SHOWN_MAX)
  const proposers = lines.flatMap(({ reporterId }) => reporterId ?? [])
  const emails = await listReporterEmails(pool, proposers)
  const { texts, reporter } = visitOf(req)
  const isNew = searchParamsOf(req).get('done') === 'proposed'
  sendAdminPage(req, res, {
    view: 'admin/deletions',
    title: texts('deletions.title'),
    data: {
      lines: lines.map(({ reporterId, given, ...line }) => ({
        ...line,
        search: typeof given['q'] === 'string' ? given['q'] : undefined,
        who: emails.get(reporterId ?? ''),
        isCommand: reporterId === null,
        isOwn: reporterId === reporter?.id,
      })),
      needsFourEyes: config.needsFourEyes,
      done: isNew ? texts('deletions.isProposed') : doneMessage(req, confirm, withdraw),
    },
  })
}
