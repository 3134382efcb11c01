import type { Router } from 'express'
import type { Action } from '../../actions.ts'
import { listProposedDeletions } from '../../db/proposed-deletions.ts'
import { setContract } from '../../feedback/consumer-actions.ts'
import { proposalActions } from '../../people/confirm-deletion.ts'
import { eraseOnRequest } from '../../reports/erase-account.ts'
import { startDeletion } from '../../search/mass-actions.ts'
import { isUuid } from '../pages/render.ts'
import type { Site } from '../site.ts'
import { searchParamsOf } from '../search-params.ts'
import { listPage, readNames } from './list-page.ts'

const SHOWN_MAX = 100

/** The actions that a second person must confirm: they delete messages or give them away. */
export const proposableActions = [startDeletion, eraseOnRequest, setContract] as readonly Action[]

/** Only administrators may confirm it; the buttons of the others have other values. */
const isForAdministrators = (name: string) => name === eraseOnRequest.name
const usual = proposalActions(proposableActions.filter(({ name }) => !isForAdministrators(name)))
const graver = proposalActions(proposableActions.filter(({ name }) => isForAdministrators(name)))
const GRAVER = 'graver-'

/** Actions that a second person must confirm. */
export function deletionRoutes(site: Site): Router {
  const { pool, clock, config } = site
  return listPage(site, {
    view: 'admin/deletions',
    title: 'deletions.title',
    async read(_, { reporter, texts }) {
      const lines = await listProposedDeletions(pool, clock(), SHOWN_MAX)
      const nameOf = await readNames(
        site,
        lines.flatMap(({ reporterId, given }) => [reporterId, personIn(given)]),
        texts,
      )
      const accountIn = (given: Record<string, unknown>) => {
        const id = personIn(given)
        return id === undefined ? given['account'] : nameOf(id)
      }
      return lines.map(({ reporterId, given, ...line }) => ({
        ...line,
        what: whatOf(line.action),
        person: accountIn(given),
        prefix: isForAdministrators(line.action) ? GRAVER : '',
        search: typeof given['q'] === 'string' ? given['q'] : undefined,
        who: nameOf(reporterId),
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
    form: {
      actions: {
        ...usual,
        [`${GRAVER}confirm`]: graver.confirm,
        [`${GRAVER}withdraw`]: graver.withdraw,
      },
    },
  })
}

/** The id of the account that a proposal is about. */
function personIn({ account }: Record<string, unknown>): string | undefined {
  return typeof account === 'string' && isUuid(account) ? account : undefined
}

function whatOf(action: string): 'originals' | 'erases' | 'deletes' {
  if (action === setContract.name) return 'originals'
  return action === eraseOnRequest.name ? 'erases' : 'deletes'
}
