import type { Router } from 'express'
import {
  type DelistingRequest,
  type DelistingState,
  findListings,
  listDelistings,
  type ListExemption,
  listExemptions,
} from '../../db/listings.ts'
import { listConfirmedAt } from '../../db/pages.ts'
import {
  acceptDelisting,
  exemptFromLists,
  exemptionReason,
  exemptionTerms,
  refuseDelisting,
  removeListExemption,
} from '../../lists/list-actions.ts'
import { findListedPages } from '../../lists/listed-pages.ts'
import { PAGES_OF_NAME_MAX } from '../../pages/page-actions.ts'
import { listedKinds, listNames, type PublicListing } from '../../verdict/lists/list.ts'
import { DECISION_DAYS, decisionDue } from '../../verdict/lists/questions.ts'
import { uuidTime } from '../../world.ts'
import type { Form } from '../pages/form.ts'
import type { Site } from '../site.ts'
import {
  choiceOrFirstParam,
  DECISIONS_SHOWN,
  listPage,
  readNames,
  textParam,
  uuidParam,
} from './list-page.ts'

/** Returns the chosen term in days, as text for the action; undefined if the term is permanent. */
export function daysOfTerm(form: Form): string | undefined {
  const term = form.text('term') ?? ''
  return term === 'good' ? undefined : term
}

const states = ['open', 'automatic', 'accepted', 'refused'] as const satisfies DelistingState[]

export function delistingAdminRoutes(site: Site): Router {
  const filters = { state: choiceOrFirstParam(states) }
  return listPage(site, {
    view: 'admin/lists/delistings',
    title: 'delistings.title',
    filters,
    cursor: { after: uuidParam },
    read: async (page, { texts }) => {
      const rows = await listDelistings(site.pool, page)
      const listings = await listingsOf(rows, site)
      const pages = await Promise.all(rows.map((row) => pagesToClear(row, site)))
      const exemptions = await Promise.all(rows.map((row) => exemptionOf(row, site)))
      const people = rows.map(({ decidedBy }) => decidedBy)
      const nameOf = await readNames(site, people, texts)
      return rows.map((row, at) => {
        const askedAt = uuidTime(row.id)
        const listing = listings.find(({ list, name }) => list === row.list && name === row.name)
        const kind = row.list === 'pages' ? undefined : listedKinds[row.list]
        return {
          ...{ ...row, kind, listing, askedAt, dueAt: decisionDue(askedAt) },
          ...{ decidedBy: nameOf(row.decidedBy), pages: pages[at], exemption: exemptions[at] },
        }
      })
    },
    next: ({ id }) => ({ after: id }),
    linesMax: DECISIONS_SHOWN,
    data: () => ({ states, days: DECISION_DAYS, terms: exemptionTerms, now: site.clock() }),
    form: {
      at: '/:id',
      actions: { accept: acceptDelisting, refuse: refuseDelisting },
      fields: (req) => ({ id: req.params['id'] }),
      many: 'id',
    },
  })
}

/** The exemption that came of an accepted request, while nobody changed or removed it. */
async function exemptionOf(
  { id, name, state }: Pick<DelistingRequest, 'id' | 'name' | 'state'>,
  { pool }: Site,
): Promise<ListExemption | undefined> {
  if (state !== 'accepted') return undefined
  const [found] = await listExemptions(pool, { after: '', limit: 1, name })
  return found?.reason === exemptionReason(id) ? found : undefined
}

/** The number of confirmed pages that a delisting clears, as in `clearPagesAt`. */
async function pagesToClear(
  { list, name, state }: Pick<PublicListing, 'list' | 'name'> & { state: DelistingState },
  { pool }: Site,
): Promise<number> {
  if (state !== 'open' || list === 'addresses') return 0
  return (await listConfirmedAt(pool, name, PAGES_OF_NAME_MAX)).length
}

/**
 * The entries of the lists, present or past, about which people ask. Hosts that are listed for
 * confirmed pages come first.
 */
async function listingsOf(
  rows: readonly Pick<PublicListing, 'list' | 'name'>[],
  { pool, clock }: Site,
): Promise<PublicListing[]> {
  const named = listNames.map((list) => {
    const names = rows.flatMap((row) => (row.list === list ? [row.name] : []))
    return findListings(pool, list, names)
  })
  return (await Promise.all([findListedPages(pool, rows, clock()), ...named])).flat()
}

const NAME_CHARS_MAX = 253

export function listExemptionRoutes(site: Site): Router {
  return listPage(site, {
    view: 'admin/lists/exemptions',
    title: 'exemptions.title',
    cursor: { after: textParam(NAME_CHARS_MAX) },
    read: ({ after = '', limit }) => listExemptions(site.pool, { after, limit }),
    next: ({ name }) => ({ after: name }),
    data: () => ({ terms: exemptionTerms, now: site.clock() }),
    form: {
      actions: { set: exemptFromLists, lift: removeListExemption },
      fields: (_, form) => ({ days: daysOfTerm(form) }),
    },
  })
}
