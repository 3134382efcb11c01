import { z } from 'zod'
import { oneOf } from '../actions.ts'
import { listPages, type PageState } from '../db/pages.ts'
import { dateOf } from '../durations.ts'
import {
  readPageContacts,
  setContact,
  sourceOf,
  unsetContact,
} from '../feedback/contact-actions.ts'
import { overriddenContacts } from '../origin/networks.ts'
import { clearPage, confirmPage, undecidePage } from '../pages/page-actions.ts'
import { columns, defineQuery, type Operations } from './command.ts'

const LISTED_MAX = 100
const CONTACTS_MAX = 10_000
const states = ['seen', 'confirmed', 'cleared'] as const satisfies PageState[]

const list = defineQuery({
  name: 'pages list',
  summary: 'show the latest pages to which reported messages lead',
  input: z.object({
    state: oneOf(states).default('confirmed').meta({ option: 'state' }),
    host: z.string().optional().meta({ option: 'host' }),
  }),
  async print({ state, host }, { pool }) {
    const pages = await listPages(pool, { state, host, before: undefined, limit: LISTED_MAX })
    if (pages.length === 0) return 'No pages in this state.'
    const rows = pages.map(({ id, type, reports, lastSeen, key }) => {
      return [id, type, String(reports), dateOf(lastSeen), key]
    })
    return columns([['id', 'type', 'reports', 'last', 'page'], ...rows]).join('\n')
  },
})

const listContacts = defineQuery({
  name: 'pages contacts list',
  summary:
    'show the registrars, platforms and CDNs that get notices, their contacts and your overrides',
  async print(_, { pool }) {
    const rows = await readPageContacts(pool, { limit: CONTACTS_MAX })
    if (rows.length === 0) return 'No registrar, platform or CDN was notified yet.'
    const lines = rows.map(({ role, name, notified, override }) => {
      const contacts = notified.map((one) => `${one.contact} (${sourceOf(one)})`)
      const set = override ? `${dateOf(override.setAt)} ${overriddenContacts(override)}` : '–'
      return [role, name, contacts.join(', ') || '–', set, override?.note ?? '']
    })
    return columns([['role', 'name', 'contacts', 'override', 'note'], ...lines]).join('\n')
  },
})

export const operations: Operations = [
  ...[list, confirmPage, clearPage, undecidePage],
  ...[listContacts, setContact, unsetContact],
]
