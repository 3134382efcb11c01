import { runAction } from '../../../src/actions.ts'
import { startMassAction } from '../../../src/search/mass-actions.ts'
import { inShard } from '../../../src/world.ts'
import { exampleShop } from '../../db/marketers/newsletters.ts'
import { ruleText } from '../rule-facts.ts'
import type { KeyedSite } from './keyed-site.ts'

/** A request that changes something: the fields of a form, or JSON for the API. */
export type SentForm = {
  at: string
  fields?: Readonly<Record<string, string>>
  json?: object
  /** Every role is refused, because the request would end the account or the site of the test. */
  isRefused?: true
}

type FormsOf = (site: KeyedSite) => readonly SentForm[] | Promise<readonly SentForm[]>

const reason = 'A test.'
let leavers = 0
const marketer = {
  ...{ is_new: '', kind: 'marketer', name: 'A shop', state: 'confirmed', practice: 'Asks twice.' },
  ...{ signers: 'shop.example.org', website: 'https://www.example.org/', advice_en: 'Click.' },
}

/** Forms of the administration, for every thing that each of them may do (its field `do`). */
const administration: Record<string, FormsOf> = {
  '/admin': () => [{ at: '/admin', fields: { queue: 'analyze-report' } }],
  '/admin/trial': () => [
    // A site that sends mail, as the releases below need, is no trial.
    { at: '/admin/trial', fields: { do: 'fill' }, isRefused: true },
    { at: '/admin/trial', fields: { do: 'remove' }, isRefused: true },
  ],
  '/admin/health': () => {
    const bounds = { condition: 'backup', warning: '30', critical: '60', hours: '1', reason }
    const found = { queue: 'send-letter', email: 'keys-reporter@desk.example' }
    return [{ at: '/admin/health', fields: { ...bounds, ...found } }]
  },
  '/admin/reports/saved': () => [
    { at: '/admin/reports/saved', fields: { name: 'Fwd', q: 'subject:fwd' } },
  ],
  '/admin/reports/export': () =>
    ['csv', 'jsonl', 'mbox'].map((format) => {
      return { at: '/admin/reports/export', fields: { format, q: 'kind:spam' } }
    }),
  '/admin/reports/actions': ({ reported: [id = ''] }) => {
    const at = '/admin/reports/actions'
    return [
      { at, fields: { do: 'start', kind: 'send-again', ids: id, reason } },
      { at, fields: { do: 'start', kind: 'send-again', q: `id:${id}`, reason } },
      { at, fields: { do: 'start', kind: 'send-again', q: `id:${id}` }, isRefused: true },
      { at, fields: { do: 'delete', kind: 'delete-messages', ids: id, reason } },
    ]
  },
  '/admin/reports/actions/:id': async (site) => [
    { at: `/admin/reports/actions/${await startedAction(site)}` },
  ],
  '/admin/accounts': () => {
    const fields = { id: 'eve@reporters.example', address: 'eve@reporters.example' }
    return [{ at: '/admin/accounts', fields }]
  },
  '/admin/accounts/:id': async ({ site }) => {
    const { id } = await site.addPerson(`leaver-${++leavers}@reporters.example`)
    const fields = { address: `left-${leavers}@reporters.example`, role: 'viewer', how: 'keep' }
    const words = ['rename', 'role', 'no-second-step', 'disable', 'enable', 'erase']
    return words.map((word) => ({ at: `/admin/accounts/${id}`, fields: { ...fields, do: word } }))
  },
  '/admin/roles': () => [
    { at: '/admin/roles', fields: { account: 'eve@reporters.example', role: 'viewer' } },
  ],
  '/admin/outbox/letters/release': () => [{ at: '/admin/outbox/letters/release' }],
  '/admin/outbox/letters/resend': ({ letters: [letter = ''] }) => [
    { at: '/admin/outbox/letters/resend', fields: { letter } },
    { at: '/admin/outbox/letters/resend' },
  ],
  '/admin/outbox/waiting': () => [{ at: '/admin/outbox/waiting' }],
  '/admin/outbox/release': () => [{ at: '/admin/outbox/release' }],
  '/admin/outbox/resend': () => [{ at: '/admin/outbox/resend' }],
  '/admin/outbox/:reportId/:number/release': ({ reported }) =>
    reported.map((id) => ({ at: `/admin/outbox/${id}/1/release` })),
  '/admin/outbox/:reportId/:number/resend': ({ reported }) =>
    reported.flatMap((id) => [
      { at: `/admin/outbox/${id}/1/resend` },
      { at: `/admin/outbox/${id}/1/resend`, fields: { which: 'consumer' } },
    ]),
  '/admin/inbox/:id': ({ mails: [mail = ''] }) => [{ at: `/admin/inbox/${mail}` }],
  '/admin/suppressions': () => [
    {
      at: '/admin/suppressions',
      fields: { address: 'abuse@desk.example', reason, term: 'good', days: '3' },
    },
  ],
  '/admin/consumers/requests/:id': async (site) =>
    decided(`/admin/consumers/requests/${await idIn(site, 'enrollment_requests')}`),
  '/admin/consumers': () => [
    { at: '/admin/consumers', fields: { address: 'another@desk.example' } },
  ],
  '/admin/consumers/:id': ({ shown: { consumer } }) => {
    const telling = {
      format: 'arf',
      form: 'headers',
      pace: 'digest',
      takes: 'phishing',
    }
    const fields = {
      ...telling,
      hourlyMax: '60',
      scopes: '192.0.2.0/24',
      note: 'A desk',
      days: '1',
      reason,
    }
    return [{ at: `/admin/consumers/${consumer}`, fields }]
  },
  '/admin/networks/corrections': () => [
    {
      at: '/admin/networks/corrections',
      fields: { cidr: '198.51.100.0/24', address: 'abuse@desk.example' },
    },
  ],
  '/admin/networks': () => [
    { at: '/admin/networks', fields: { cidr: '192.0.2.0/24', abuse: 'abuse@host.example' } },
  ],
  '/admin/reputations/subject': () => [
    {
      at: '/admin/reputations/subject',
      fields: { kind: 'address', name: '192.0.2.7', mark: 'exempt', reason },
    },
  ],
  '/admin/senders': async (site) => [
    { at: '/admin/senders', fields: { id: await idIn(site, 'sender_alerts') } },
  ],
  '/admin/sources': () => [
    { at: '/admin/sources', fields: { address: '@other.example', kind: 'trap', note: 'Closed' } },
  ],
  '/admin/mail-servers': () => [
    { at: '/admin/mail-servers', fields: { domain: 'other.example', host: '192.0.2.7' } },
  ],
  '/admin/simulations': async (site) => {
    const id = await idIn(site, 'simulations')
    const fields = { id, name: 'x', vendor: 'other', signers: 'training.example.org' }
    return [{ at: '/admin/simulations', fields }]
  },
  '/admin/campaigns/:id': ({ shown: { campaign } }) => {
    const at = `/admin/campaigns/${campaign}`
    return [{ at, fields: { do: 'decide', says: 'spam', reason } }]
  },
  '/admin/pages/:id/decision': ({ shown: { page } }) => [
    { at: `/admin/pages/${page}/decision`, fields: { do: 'clear', reason } },
  ],
  '/admin/pages/:id': ({ shown: { page } }) => [
    { at: `/admin/pages/${page}`, fields: { do: 'confirm', type: 'malware', reason } },
  ],
  '/admin/pages/contacts': () => [
    {
      at: '/admin/pages/contacts',
      fields: { do: 'set', role: 'registrar', name: 'A registrar', abuse: 'none' },
    },
  ],
  '/admin/partners': () => [{ at: '/admin/partners', fields: { do: 'enable', partner: 'apwg' } }],
  '/admin/rule-lists': () => [
    {
      at: '/admin/rule-lists',
      fields: { do: 'add', list: 'sent-words', kind: 'words', note: reason },
    },
  ],
  '/admin/rule-lists/:list': () => [
    { at: '/admin/rule-lists/casino-words', fields: { do: 'remove', entries: 'roulette' } },
  ],
  '/admin/rule-lists/:list/add': () => [
    { at: '/admin/rule-lists/casino-words/add', fields: { entries: 'roulette', note: reason } },
  ],
  '/admin/rule-lists/:list/try': () => [
    { at: '/admin/rule-lists/casino-words/try', fields: { entries: 'roulette' } },
  ],
  '/admin/models': () => [{ at: '/admin/models', fields: { version: '1', automatic: 'off' } }],
  '/admin/rules/edit': () =>
    ['check', 'try', 'apply'].map((word) => {
      const content = ruleText('FWD', 'report.kind == "spam"', 9)
      const fields = { content, base: '1', last: '50', do: word }
      // Rules that were not tested are not applied.
      return {
        at: '/admin/rules/edit',
        fields,
        ...(word === 'apply' && ({ isRefused: true } as const)),
      }
    }),
  '/admin/rules/versions/:version': () => [{ at: '/admin/rules/versions/1' }],
  '/admin/delistings/exemptions': () => [
    {
      at: '/admin/delistings/exemptions',
      fields: { name: '192.0.2.44', reason, term: 'good', days: '3' },
    },
  ],
  '/admin/delistings/:id': async (site) =>
    decided(`/admin/delistings/${await idIn(site, 'delisting_requests')}`),
  '/admin/marketers/proposals': () => [
    { at: '/admin/marketers/proposals', fields: { signer: 'example.net', list_id: '' } },
  ],
  '/admin/marketers': () => [
    { at: '/admin/marketers', fields: { ...marketer, key: exampleShop.key } },
    { at: '/admin/marketers', fields: { key: 'sendgrid', do: 'reset' } },
  ],
  '/admin/limits/shadow': () => [
    { at: '/admin/limits/shadow', fields: { email: 'keys-reporter@desk.example', reason } },
  ],
  '/admin/limits/shadow/:id': ({ shown }) => [{ at: `/admin/limits/shadow/${shown.banned}` }],
  '/admin/limits': () => [
    {
      at: '/admin/limits',
      fields: {
        'read-minute.attempts': '900',
        'read-minute.window': '1',
        'read-minute.unit': 'minutes',
        'read-minute.behavior': 'refuse',
      },
    },
  ],
  '/admin/queues': () => [{ at: '/admin/queues', fields: { queue: 'keep-house', ...queueFields } }],
  '/admin/queues/:name': () => [{ at: '/admin/queues/keep-house', fields: queueFields }],
  '/admin/dead-letters': () => [
    { at: '/admin/dead-letters', fields: { which: 'chosen', id: inShard(absent, 1) } },
  ],
  '/admin/statistics': () => [{ at: '/admin/statistics', fields: { public: 'on' } }],
  '/admin/deletions': () => [{ at: '/admin/deletions', fields: { id: absent } }],
}

const absent = '01999999-0000-7000-8000-000000000000'
const queueFields = { reason, batches: '2', id: absent }

/** Forms of signed-in people, sent with the ids of another person's reports. */
const personal: Record<string, FormsOf> = {
  '/account/address': () => [
    { at: '/account/address', fields: { email: 'x@desk.example', now: 'wrong' }, isRefused: true },
  ],
  '/account/erase': () => [
    { at: '/account/erase', fields: { how: 'keep', now: 'wrong' }, isRefused: true },
  ],
  '/account/export': () => [{ at: '/account/export', fields: { now: 'wrong' }, isRefused: true }],
  '/account/password': () => [
    { at: '/account/password', fields: { now: 'wrong' }, isRefused: true },
  ],
  '/account/second-step': () => [
    { at: '/account/second-step', fields: { do: 'off', now: 'wrong' }, isRefused: true },
  ],
  '/account/sessions': () => [{ at: '/account/sessions', fields: { end: 'none' } }],
  '/account/tokens': () => [
    { at: '/account/tokens', fields: { name: 'A program', scope: 'report' } },
  ],
  '/language': () => [{ at: '/language', fields: { lang: 'en', back: '/reports' } }],
  '/lookup/delist': () => [
    {
      at: '/lookup/delist',
      fields: {
        ...{ list: 'addresses', name: '192.0.2.9' },
        ...{ asker: 'Ann', contact: 'ann@host.example', done: 'Closed.' },
      },
    },
  ],
  '/relays': () => [{ at: '/relays', fields: { do: 'add', cidr: '192.0.2.99' } }],
  '/report': () => [
    {
      at: '/report',
      fields: { 'reporting[raw_email]': 'Subject: x\nFrom: a@b.example\n\nHello', kind: 'spam' },
    },
  ],
  '/report/look': () => [
    {
      at: '/report/look',
      fields: { 'reporting[raw_email]': 'Subject: x\nFrom: a@b.example\n\nHello' },
    },
  ],
  '/report/share': () => [{ at: '/report/share', fields: { text: 'Hello' } }],
  ...Object.fromEntries(
    ['answer', 'confirm', 'original', 'restore', 'retract', 'unsubscribe'].map((word) => [
      `/reports/:id/${word}`,
      ({ reported }: KeyedSite) =>
        reported.map((id) => ({ at: `/reports/${id}/${word}`, isRefused: true as const })),
    ]),
  ),
  '/settings': () => [{ at: '/settings', fields: { language: 'en', wants_answers: 'yes' } }],
  '/settings/webhooks': () => [
    {
      at: '/settings/webhooks',
      fields: { do: 'add', url: 'https://hooks.example.org/y', events: 'report.told' },
    },
    { at: '/settings/webhooks', fields: { do: 'test', id: absent }, isRefused: true },
  ],
  '/sign-in': () => [
    {
      at: '/sign-in',
      fields: { 'user[email_or_login]': 'x', 'user[password]': 'y' },
      isRefused: true,
    },
  ],
  '/sign-up': () => [
    { at: '/sign-up', fields: { email: 'x@new.example', language: 'en', agree: 'yes' } },
  ],
  '/forgotten': () => [{ at: '/forgotten', fields: { email: 'ann@reporters.example' } }],
  '/consumers/enroll': () => [
    {
      at: '/consumers/enroll',
      fields: { address: 'abuse@third.example', scopes: '192.0.2.0/24', format: 'arf' },
      isRefused: true,
    },
  ],
}

/** Requests of programs. */
const api: Record<string, FormsOf> = {
  'post /api/signaler': () => [{ at: '/api/signaler', fields: { message: '' }, isRefused: true }],
  'post /api/v1/desk/answers': ({ reported: [id = ''] }) => [
    {
      at: '/api/v1/desk/answers',
      json: { reports: [`${id}.1`], answer: 'resolved' },
      isRefused: true,
    },
  ],
  'post /api/v1/mass-actions': ({ reported: [id = ''] }) => [
    { at: '/api/v1/mass-actions', json: { action: 'send-again', ids: [id], reason } },
    {
      at: '/api/v1/mass-actions',
      json: { action: 'send-again', search: 'subject:fwd', reason, per_minute: 1 },
    },
  ],
  'post /api/v1/mass-actions/preview': ({ reported: [id = ''] }) => [
    { at: '/api/v1/mass-actions/preview', json: { action: 'send-again', ids: [id] } },
    { at: '/api/v1/mass-actions/preview', json: { action: 'send-again', search: 'subject:fwd' } },
  ],
  'post /api/v1/mass-actions/:id/stop': async (site) => [
    { at: `/api/v1/mass-actions/${await startedAction(site)}/stop`, json: {} },
  ],
  'post /api/v1/mass-actions/:id/undo': async (site) => [
    { at: `/api/v1/mass-actions/${await startedAction(site)}/undo`, json: {} },
  ],
  'post /api/v1/outgoing-events': () => [
    {
      at: '/api/v1/outgoing-events',
      json: { events: [{ event: 'complaint', user: 'ann', recipient: 'x' }] },
    },
  ],
  'patch /api/v1/queues/:queue': () => [
    { at: '/api/v1/queues/keep-house', json: { paused: true, reason } },
    { at: '/api/v1/queues/keep-house', json: { paused: false } },
  ],
  'put /api/v1/relays': () => [{ at: '/api/v1/relays', json: { cidr: '192.0.2.98' } }],
  'delete /api/v1/relays': () => [{ at: '/api/v1/relays?cidr=192.0.2.98' }],
  'post /api/v1/test-messages': () => [{ at: '/api/v1/test-messages', json: {} }],
  'post /api/v1/reports': () => [
    { at: '/api/v1/reports', json: { message: 'x' }, isRefused: true },
  ],
  'post /api/v1/reports/bulk': () => [
    { at: '/api/v1/reports/bulk', json: { reports: 'x' }, isRefused: true },
  ],
  'post /api/v1/reports/look': () => [
    { at: '/api/v1/reports/look', json: { message: 'x' }, isRefused: true },
  ],
  ...Object.fromEntries(
    ['confirmation', 'restoration'].map((word) => [
      `post /api/v1/reports/:id/${word}`,
      ({ reported }: KeyedSite) =>
        reported.map((id) => ({
          at: `/api/v1/reports/${id}/${word}`,
          json: {},
          isRefused: true as const,
        })),
    ]),
  ),
  'delete /api/v1/reports/:id': ({ reported }) =>
    reported.map((id) => ({ at: `/api/v1/reports/${id}` })),
  'post /api/v1/webhooks': () => [
    {
      at: '/api/v1/webhooks',
      json: { url: 'https://hooks.example.org/z', events: ['report.told'] },
    },
  ],
  ...Object.fromEntries(
    ['patch /api/v1/webhooks/:id', 'delete /api/v1/webhooks/:id'].map((route) => [
      route,
      () => [{ at: `/api/v1/webhooks/${absent}`, json: {}, isRefused: true as const }],
    ]),
  ),
  ...Object.fromEntries(
    ['secret', 'test'].map((word) => [
      `post /api/v1/webhooks/:id/${word}`,
      () => [{ at: `/api/v1/webhooks/${absent}/${word}`, json: {}, isRefused: true as const }],
    ]),
  ),
}

/** Requests by method and route. A new route needs an entry here, or a reason below. */
export const sentForms: Readonly<Record<string, FormsOf>> = {
  ...posted(administration),
  ...posted(personal),
  ...api,
}

const isOwners = 'Only its owner knows the address, which contains the key.'
const isFronts = 'Only fronts can send it, with the front key.'

/** Routes whose answers no role can get. */
export const notSent: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['/account/confirm/:token', '/account/move/:token', '/account/reset/:token'],
      ...['/advice/off/:token', '/letters/off/:token', '/answer/:token/:kind'],
      ...['/consumers/:token', '/consumers/:token/reports', '/consumers/enroll/:token'],
    ].map((route) => [`post ${route}`, isOwners]),
  ),
  ...Object.fromEntries(
    ['limits', 'password', 'reports', 'token', 'valid'].map((word) => [
      `post /api/front/${word}`,
      isFronts,
    ]),
  ),
  'post /sign-in/code': 'It is shown between the two steps of signing in.',
  'post /sign-out': 'It ends the session of the test.',
}

function posted(forms: Record<string, FormsOf>): Record<string, FormsOf> {
  return Object.fromEntries(Object.entries(forms).map(([route, of]) => [`post ${route}`, of]))
}

/** The two answers to a request. The first decides it, so the second is refused. */
function decided(at: string): SentForm[] {
  const fields = { answer: 'Thank you.' }
  return [
    { at, fields: { ...fields, do: 'accept' } },
    { at, fields: { ...fields, do: 'refuse' }, isRefused: true },
  ]
}

/** Starts an action on many reports that can be undone; no worker does it. */
async function startedAction({ site, reported }: KeyedSite): Promise<string> {
  const given = { kind: 'list-origin', ids: reported, reason }
  const outcome = await runAction(startMassAction, given, site.app, null)
  return 'id' in outcome ? (outcome.id ?? absent) : absent
}

async function idIn({ site }: KeyedSite, table: string): Promise<string> {
  const { rows } = await site.app.pool.query<{ id: string }>(
    `select id from ${table} order by id limit 1`,
  )
  return rows[0]?.id ?? absent
}
