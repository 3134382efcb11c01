import type { Router } from 'express'
import type { Action } from '../../actions.ts'
import { listProposedDeletions } from '../../db/proposed-deletions.ts'
import { setContract } from '../../feedback/consumer-actions.ts'
import { listReporterEmails } from '../../db/reporters.ts'
import { proposalActions } from '../../people/confirm-deletion.ts'
import { startDeletion } from '../../search/mass-actions.ts'
import type { Site } from '../site.ts'
import { searchParamsOf } from '../search-params.ts'
import { listPage } from './list-page.ts'

const SHOWN_MAX = 100

/** The actions that a second person must confirm: they delete messages or give them away. */
export const proposableActions = [startDeletion, setContract] as readonly Action[]

const { confirm, withdraw } = proposalActions(proposableActions)

/** Actions that a second person must confirm. */
export function deletionRoutes(site: Site): Router {
  const { pool, clock, config } = site
  return listPage(site, {
    view: 'admin/deletions',
    title: 'deletions.title',
    async read(_, { reporter }) {
      const lines = await listProposedDeletions(pool, clock(), SHOWN_MAX)
      const emails = await listReporterEmails(
        pool,
        lines.map(({ reporterId }) => reporterId),
      )
      return lines.map(({ reporterId, given, ...line }) => ({
        ...line,
        isContract: line.action === setContract.name,
        search: typeof given['q'] === 'string' ? given['q'] : undefined,
        who: emails.get(reporterId ?? ''),
        isCommand: reporterId === null,
        isOwn: reporterId === reporter?.id,
      }))
    },
    data({ req, texts }) {
      const isNew = searchParamsOf(req).get('done') === 'proposed'
      return {
        needsFourEyes: config.needsFourEyes,
        ...(isNew && { done: texts('deletions.isProposed') }),
      }
    },
    form: { actions: { confirm, withdraw } },
  })
}
