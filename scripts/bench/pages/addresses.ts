import { consumerLink } from '../../../src/feedback/enroll.ts'
import { answerLinks, lettersOffLink } from '../../../src/mail/verp.ts'
import { pages, type ShownContent } from '../../../test/support/pages/page-list.ts'
import type { Seeded } from '../../seeding/instance.ts'
import { secret } from './serve.ts'

/** A page or an operation to measure; without headers, it is requested as signed in. */
export type Address = { path: string; headers?: Record<string, string> }

/** Filters, sorted parts and pages further back, which read other rows than the page itself. */
const more = [
  ...['/reports?words=parcel', '/reports?words=zebra+crossing', '/reports?kind=not-spam'],
  ...['/reports?outcome=asking', '/reports?outcome=answered', '/reports?outcome=taken-back'],
  ...['/reports?outcome=waiting', '/reports?kind=not-spam&outcome=asking&words=zebra'],
  '/reports?from=2026-03-01&to=2026-03-31',
  ...['hour', 'day', 'week', 'month', 'year'].map((period) => `/admin/activity?period=${period}`),
  ...['subject:parcel', 'subject:zebra', 'state:kept', 'state:failed', '-kind:spam'].map(
    (q) => `/admin/reports?q=${q}`,
  ),
  '/admin/reports?q=from:sender-1@shop-1.example',
  '/admin/reports?q=origin:100.64.7.0/24',
  '/admin/reports?q=subject:parcel+state:failed',
  '/admin/reports/actions/new?kind=analyze-again&q=subject:parcel',
  ...['waiting', 'held', 'refused', 'queued'].map((state) => `/admin/outbox?state=${state}`),
  ...['held', 'refused'].map((state) => `/admin/outbox/letters?state=${state}`),
  ...[
    '/admin/inbox?filter=all',
    '/admin/accounts?begin=person-4',
    '/admin/suppressions?q=gone-777',
  ],
  ...['/admin/consumers?q=desk-77', '/admin/consumers?state=enrolled'],
  ...['ready', 'later', 'active', 'ended'].map(
    (state) => `/admin/queues/analyze-report?state=${state}`,
  ),
  ...[
    '/admin/reputations?name=100.64.7',
    '/admin/networks?ip=20.0.7.1',
    '/admin/campaigns?period=month',
  ],
  ...['/admin/audit?text=nothing', '/admin/audit?action=suppress', '/admin/audit?check=1'],
  ...['/statistics.csv', '/healthz', '/metrics', '/lookup?q=100.64.0.7'],
]

/** The operations of the API that read. */
const operations = [
  ...['account', 'reports', 'reports?limit=100', 'webhooks', 'relays', 'health', 'queues'],
  ...['search?q=subject:parcel', 'search?q=-kind:spam', 'mass-actions'],
  ...['counters?kind=ip&value=100.64.7.1', 'reputation/100.64.7.1'],
]

/**
 * Returns the addresses to measure: those of the list of all pages, of reports in each state, other
 * parts of the lists, and the operations of the API.
 */
export async function addressesOf(seeded: Seeded): Promise<Address[]> {
  const { pool, reporterId, email, password } = seeded
  const find = async (query: string, ...values: string[]) =>
    (await pool.query<{ id: string }>(query, values)).rows[0]?.id ?? ''
  const own = await pool.query<{ id: string }>(
    `select distinct on (state) id from (
       select state, id from reports where reporter_id = $1 order by id desc limit 20000) as own
     order by state, id desc`,
    [reporterId],
  )
  const told = await find(
    `select id from reports where reporter_id = $1 and state = 'forwarded'
     order by id desc limit 1`,
    reporterId,
  )
  const middle = await find(
    `select id from reports where reporter_id = $1 order by id limit 1
     offset (select count(*) / 2 from reports where reporter_id = $1)`,
    reporterId,
  )
  const desk = await find(
    `select consumer_id as id from feedback_reports where report_id > $1
     group by 1 order by count(*) desc limit 1`,
    middle,
  )
  const deskReport = await find(
    `select report_id || '.' || number as id from feedback_reports
     where consumer_id = $1 and state = 'sent' order by report_id desc limit 1`,
    desk,
  )
  const [, deskToken = ''] = /consumers\/(.*)/.exec(consumerLink(desk, place).url) ?? []
  const webhook = await find('select id from webhooks limit 1')
  const day = await find(
    'select day::text as id from campaign_days order by day desc limit 1 offset 50',
  )
  const shown: ShownContent = {
    ann: { id: reporterId },
    ...{ told, asking: told, unconfirmed: told, newsletter: told },
    banned: await find('select reporter_id as id from shadow_bans limit 1'),
    campaign: await find(
      'select campaign_id as id from campaign_days order by reports desc limit 1',
    ),
    massAction: await find('select id from mass_actions order by id desc limit 1'),
    staff: await find('select id from reporters where role is not null limit 1'),
    ...{ erasure: 'none', page: 'none', consumer: desk },
    letter: await find('select id from letters limit 1'),
    mail: await find('select id from inbound_mails limit 1'),
    links: {
      ...{ own: consumerLink(desk, place).url, desk: consumerLink(desk, place).url },
      answer: answerLinks({ reportId: told, number: 1 }, place).resolved,
      lettersOff: lettersOffLink(reporterId, 'news', place).url,
      ...{ confirm: '/consumers/enroll/none', delisting: '/lookup/delist/none' },
      ...{ signUp: '/account/confirm/none', reset: '/account/reset/none' },
      ...{ move: '/account/move/none', erased: '/account/erased/none' },
    },
  }
  const listed = pages.flatMap(({ at }) => at(shown)).filter((path) => !notSeeded.includes(path))
  const paths = [
    ...listed.map((path) => path.replace(`${told}.1`, deskReport)),
    ...own.rows.flatMap(({ id }) => [`/reports/${id}`, `/admin/reports/${id}`]),
    ...[`/reports?before=${middle}`, `/reports?after=${middle}`],
    ...[`/reports/${told}/message.eml`, `/admin/campaigns?day=${day}`],
    ...[`${shown.links.desk}/reports.csv`],
    ...more,
  ]
  const basic = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`
  const ofReports = [`reports/${told}`, `webhooks/${webhook}`, `webhooks/${webhook}/deliveries`]
  return [
    ...[...new Set(paths)].map((path) => ({ path })),
    ...[...operations, ...ofReports].map((path) => {
      return { path: `/api/v1/${path}`, headers: { authorization: basic } }
    }),
    { path: '/api/v1/desk/reports', headers: { authorization: `Bearer ${deskToken}` } },
  ]
}

/** Pages of one row each, which a seeded database does not have. */
const notSeeded = [
  '/admin/accounts/erasures/none',
  ...['/admin/models/1', '/admin/rules/versions/1', '/admin/marketers/edit?key=example-shop'],
]

const place = { publicUrl: '', secret }
