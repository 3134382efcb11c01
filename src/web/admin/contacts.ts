import type { Router } from 'express'
import {
  contactRoles,
  readPageContacts,
  setContact,
  sourceOf,
  unsetContact,
} from '../../feedback/contact-actions.ts'
import { overriddenContacts } from '../../origin/networks.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { listPage, readNames, textParam } from './list-page.ts'

const KEY_CHARS_MAX = 300

/** The registrars and platforms that get notices about pages; the form overrides a contact. */
export function contactRoutes(site: Site): Router {
  const { pool } = site
  return listPage(site, {
    view: 'admin/pages/contacts',
    title: 'contacts.title',
    cursor: { after: textParam(KEY_CHARS_MAX) },
    async read(page, { texts }) {
      const rows = await readPageContacts(pool, page)
      const people = rows.map(({ override }) => override?.setBy)
      const nameOf = await readNames(site, people, texts)
      return rows.map(({ override, notified, ...row }) => ({
        ...row,
        override: override && { ...override, abuse: overriddenContacts(override) },
        setBy: nameOf(override?.setBy ?? null),
        notified: notified.map((one) => ({ ...one, source: sourceOf(one) })),
      }))
    },
    next: ({ key }) => ({ after: key }),
    data({ req, refused }) {
      const given = Object.fromEntries(searchParamsOf(req))
      return { roles: contactRoles, form: refused?.given ?? given }
    },
    form: { actions: { set: setContact, unset: unsetContact } },
  })
}
