import type { ShownSite } from './shown-site.ts'

/** The kinds of viewers of a page. */
export type Viewer = 'stranger' | 'reporter' | 'administrator'

/** The addresses of the content of a site. */
export type ShownContent = Omit<ShownSite, 'site' | 'ann' | 'admin' | 'close'> & {
  ann: { id: string }
}

/** A page: its route as in the router, its viewers, and addresses that show it. */
export type ListedPage = {
  route: string
  viewer: Viewer
  at: (shown: ShownContent) => readonly string[]
}

const stranger: Record<string, ListedPage['at']> = {
  '/': () => ['/'],
  '/sign-in': () => ['/sign-in'],
  '/problems': () => ['/problems'],
  '/styleguide': () => ['/styleguide'],
  '/privacy': () => ['/privacy'],
  '/sign-up': () => ['/sign-up'],
  '/forgotten': () => ['/forgotten'],
  '/account/confirm/:token': ({ links }) => [links.signUp, '/account/confirm/none'],
  '/account/reset/:token': ({ links }) => [links.reset],
  '/account/erased/:token': ({ links }) => [links.erased],
  '/help': () => ['/help'],
  '/help/source/:client': () => ['/help/source/outlook-classic', '/help/source/gmail'],
  '/docs': () => ['/docs'],
  '/outlook': () => ['/outlook'],
  '/thunderbird': () => ['/thunderbird'],
  '/lookup': () => ['/lookup', '/lookup?q=192.0.2.7', '/lookup?q=x.example', '/lookup?q=%00'],
  '/lookup/delist': () => ['/lookup/delist?list=addresses&name=192.0.2.7'],
  '/lookup/delist/:token': ({ links }) => [links.delisting],
  '/lists': () => ['/lists'],
  '/statistics': () => ['/statistics', '/statistics?year=2025'],
  '/consumers/enroll': () => ['/consumers/enroll'],
  '/consumers/enroll/sent': () => ['/consumers/enroll/sent'],
  '/consumers/enroll/:token': ({ links }) => [links.confirm, '/consumers/enroll/none'],
  '/consumers/sample': () => ['/consumers/sample'],
  '/consumers/:token': ({ links }) => [links.own],
  '/consumers/:token/reports': ({ links }) => [
    ...[`${links.desk}/reports`, `${links.desk}/reports?open=1&done=1`, `${links.own}/reports`],
  ],
  '/consumers/:token/complaints': ({ links }) => [`${links.desk}/complaints`],
  '/consumers/:token/reports/:number': ({ links, told }) => [`${links.desk}/reports/${told}.1`],
  '/answer/:token/:kind': ({ links }) => [links.answer],
  '/letters/off/:token': ({ links }) => [links.lettersOff],
  '/advice/off/:token': ({ links }) => [links.lettersOff.replace('/letters/', '/advice/')],
}

const reporter: Record<string, ListedPage['at']> = {
  '/report': () => ['/report'],
  '/report/sent': ({ told, unconfirmed }) => [`/report/sent?id=${told}&id=${unconfirmed}`],
  '/reports': () => ['/reports'],
  '/reports/:id': ({ told, asking, unconfirmed, newsletter }) =>
    [told, asking, unconfirmed, newsletter].map((id) => `/reports/${id}`),
  '/reports/statistics': () => ['/reports/statistics'],
  '/reports/:id/message': ({ told, newsletter }) =>
    [told, newsletter].map((id) => `/reports/${id}/message`),
  '/reports/:id/original': ({ told }) => [`/reports/${told}/original`],
  '/reports/:id/retract': ({ told }) => [`/reports/${told}/retract`],
  '/reports/:id/told/:number': ({ told }) => [`/reports/${told}/told/1`],
  '/relays': () => ['/relays'],
  '/settings': () => ['/settings'],
  '/account/password': () => ['/account/password'],
  '/account/move/:token': ({ links }) => [links.move],
  '/account/second-step': () => ['/account/second-step'],
  '/account/sessions': () => ['/account/sessions'],
  '/account/tokens': () => ['/account/tokens'],
  '/account/export': () => ['/account/export'],
  '/account/erase': () => ['/account/erase'],
  '/settings/webhooks': () => ['/settings/webhooks'],
}

const administrator: Record<string, ListedPage['at']> = {
  '/admin': () => ['/admin'],
  '/admin/activity': () =>
    ['hour', 'year&compare=before'].flatMap((period) =>
      ['reports', 'mail', 'desks', 'queues', 'checks', 'people', 'system'].map(
        (group) => `/admin/activity?group=${group}&period=${period}`,
      ),
    ),
  '/admin/reports': () => ['/admin/reports', '/admin/reports?q=kind:spam'],
  '/admin/reports/actions': () => ['/admin/reports/actions'],
  '/admin/reports/actions/new': () => ['/admin/reports/actions/new?kind=retract&q=kind:spam'],
  '/admin/reports/actions/:id': ({ massAction }) => [`/admin/reports/actions/${massAction}`],
  '/admin/reports/:id': ({ told }) => [`/admin/reports/${told}`],
  '/admin/campaigns': () => ['/admin/campaigns'],
  '/admin/accounts': () => ['/admin/accounts'],
  '/admin/accounts/:id': ({ ann }) => [`/admin/accounts/${ann.id}`],
  '/admin/accounts/:id/role': ({ staff }) => [`/admin/accounts/${staff}/role`],
  '/admin/accounts/:id/erase': ({ ann }) => [`/admin/accounts/${ann.id}/erase`],
  '/admin/accounts/erasures': () => ['/admin/accounts/erasures'],
  '/admin/accounts/erasures/:id': ({ erasure }) => [`/admin/accounts/erasures/${erasure}`],
  '/admin/roles': () => ['/admin/roles'],
  '/admin/pages': () => ['/admin/pages', '/admin/pages?state=confirmed'],
  '/admin/pages/contacts': () => ['/admin/pages/contacts'],
  '/admin/partners': () => ['/admin/partners'],
  '/admin/pages/:id': ({ page }) => [`/admin/pages/${page}`],
  '/admin/campaigns/:id': ({ campaign }) => [`/admin/campaigns/${campaign}`],
  '/admin/outbox': () => ['/admin/outbox', '/admin/outbox?state=sent'],
  '/admin/outbox/:reportId/:number': ({ told }) => [`/admin/outbox/${told}/1`],
  '/admin/outbox/waiting': () => ['/admin/outbox/waiting'],
  '/admin/outbox/letters': () => ['/admin/outbox/letters'],
  '/admin/outbox/letters/:id': ({ letter }) => [`/admin/outbox/letters/${letter}`],
  '/admin/inbox': () => ['/admin/inbox'],
  '/admin/inbox/:id': ({ mail }) => [`/admin/inbox/${mail}`],
  '/admin/suppressions': () => ['/admin/suppressions'],
  '/admin/consumers': () => ['/admin/consumers'],
  '/admin/consumers/:id': ({ consumer }) => [`/admin/consumers/${consumer}`],
  '/admin/consumers/:id/stop': ({ consumer }) => [`/admin/consumers/${consumer}/stop`],
  '/admin/consumers/requests': () => ['/admin/consumers/requests'],
  '/admin/networks': () => ['/admin/networks', '/admin/networks?ip=198.51.100.23'],
  '/admin/networks/corrections': () => ['/admin/networks/corrections'],
  '/admin/counters': () => ['/admin/counters', '/admin/counters?kind=ip&value=198.51.100.23'],
  '/admin/reputations': () => ['/admin/reputations', '/admin/reputations?name=192.0.2.7'],
  '/admin/reputations/subject': () => [
    '/admin/reputations/subject?kind=address&name=198.51.100.23',
  ],
  '/admin/reporters/:id': ({ ann }) => [`/admin/reporters/${ann.id}`],
  '/admin/senders': () => ['/admin/senders', '/admin/senders?user=ann'],
  '/admin/sources': () => ['/admin/sources'],
  '/admin/mail-servers': () => ['/admin/mail-servers'],
  '/admin/simulations': () => ['/admin/simulations'],
  '/admin/trial': () => ['/admin/trial'],
  '/admin/health': () => ['/admin/health'],
  '/admin/models': () => ['/admin/models'],
  '/admin/models/:version': () => ['/admin/models/1'],
  '/admin/rules': () => ['/admin/rules'],
  '/admin/rules/edit': () => ['/admin/rules/edit'],
  '/admin/rules/facts': () => ['/admin/rules/facts'],
  '/admin/rules/versions': () => ['/admin/rules/versions'],
  '/admin/rules/versions/:version': () => ['/admin/rules/versions/1'],
  '/admin/rule-lists': () => ['/admin/rule-lists'],
  '/admin/rule-lists/:list': () => ['/admin/rule-lists/casino-words'],
  '/admin/rule-lists/:list/add': () => ['/admin/rule-lists/casino-words/add'],
  '/admin/delistings': () => ['/admin/delistings'],
  '/admin/delistings/exemptions': () => ['/admin/delistings/exemptions'],
  '/admin/marketers': () => ['/admin/marketers', '/admin/marketers?kind=service'],
  '/admin/marketers/edit': () => [
    '/admin/marketers/edit',
    '/admin/marketers/edit?key=example-shop',
    '/admin/marketers/edit?key=sendgrid',
  ],
  '/admin/marketers/proposals': () => ['/admin/marketers/proposals'],
  '/admin/queues': () => ['/admin/queues'],
  '/admin/queues/:name': () => [
    '/admin/queues/analyze-report',
    '/admin/queues/keep-house?state=later',
  ],
  '/admin/dead-letters': () => ['/admin/dead-letters'],
  '/admin/limits': () => ['/admin/limits'],
  '/admin/limits/shadow': () => ['/admin/limits/shadow'],
  '/admin/limits/shadow/:id': ({ banned }) => [`/admin/limits/shadow/${banned}`],
  '/admin/deletions': () => ['/admin/deletions'],
  '/admin/audit': () => ['/admin/audit', '/admin/audit?check=1&text=a'],
  '/admin/secret': () => ['/admin/secret'],
}

/** All pages. A new page needs an entry here, and is then covered by all tests of pages. */
export const pages: readonly ListedPage[] = [
  ...listed('stranger', stranger),
  ...listed('reporter', reporter),
  ...listed('administrator', administrator),
]

/** Addresses that answer GET but are not pages: for programs, for browsers, and downloads. */
export const notPages: readonly RegExp[] = [
  // This page is shown only during sign-in; test/browser/second-step.test.ts checks it there.
  /^\/sign-in\/code$/,
  /^\/api(\/|$)/,
  /^\/assets\//,
  /^\/(healthz|readyz|metrics|robots\.txt|security\.txt|openapi\.json|manifest\.webmanifest)$/,
  /^\/\.well-known\//,
  /\/message\.eml$/,
  /^\/admin\/limits\/shadow\/messages\/:id$/,
  /^\/admin\/live$/,
  /^\/(?:lists|lists\/:folder|outlook)\/:file$/,
  /^\/thunderbird\/signalpost-thunderbird\.xpi$/,
  /^\/admin\/(?:audit|simulations)\/export\./,
  /^\/admin\/simulations\/key\.txt$/,
  /\/(?:statistics|reports|complaints)\.csv$/,
  // Leads to the page of figures.
  /^\/admin\/statistics$/,
]

function listed(viewer: Viewer, routes: Record<string, ListedPage['at']>): ListedPage[] {
  return Object.entries(routes).map(([route, at]) => ({ route, viewer, at }))
}
