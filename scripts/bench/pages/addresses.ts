import type { Seeded } from '../../seeding/instance.ts'

/** A page to measure. */
export type Address = { name: string; path: string }

const publicPages = ['/', '/sign-in', '/report', '/lookup', '/lists', '/relays', '/settings']

const filters = {
  'the newest': '',
  'search with many results': '?words=parcel',
  'search without results': '?words=zebra+crossing',
  'of one kind': '?kind=not-spam',
  asking: '?outcome=asking',
  answered: '?outcome=answered',
  'taken back': '?outcome=taken-back',
  'not finished': '?outcome=waiting',
  'not spam with a question, without results': '?kind=not-spam&outcome=asking&words=zebra',
}

const adminPages = [
  ...['', '/reports', '/campaigns', '/outbox', '/outbox/letters', '/inbox', '/suppressions'],
  ...['/consumers', '/consumers/requests', '/networks', '/networks/corrections', '/counters'],
  ...['/reputations', '/models', '/rules', '/rules/facts', '/rules/versions', '/delistings'],
  ...['/delistings/exemptions', '/marketers', '/marketers/proposals', '/dead-letters', '/audit'],
  ...['/health', '/activity', '/activity?period=year'],
  ...['/activity?group=desks&compare=before'],
  ...['/queues', '/accounts', '/roles', '/senders', '/limits', '/deletions', '/reports/actions'],
  ...['/reports?q=subject:parcel', '/reports?q=subject:zebra', '/reports?q=state:kept'],
  ...['/reports?q=state:failed', '/reports?q=from:sender-1@shop-1.example'],
  ...['/reports?q=origin:100.64.7.0/24', '/reports?q=subject:parcel+state:failed'],
  ...['/outbox?state=waiting', '/outbox?state=sent', '/outbox?state=refused'],
]

/**
 * Returns every page: the public ones, those of the busy reporter, and those of administrators,
 * with reports of each kind.
 */
export async function pagesOf({ pool, reporterId }: Seeded): Promise<Address[]> {
  const byState = await pool.query<{ state: string; id: string }>(
    `select distinct on (state) state, id from (
       select state, id from reports where reporter_id = $1 order by id desc limit 20000) as own
     order by state, id desc`,
    [reporterId],
  )
  const middle = await pool.query<{ id: string }>(
    'select id from reports where reporter_id = $1 order by id limit 1 offset 50000',
    [reporterId],
  )
  const told = byState.rows.find(({ state }) => state === 'forwarded')?.id ?? ''
  const [day] = (
    await pool.query<{ day: string; id: string }>(
      `select day::text, campaign_id as id from campaign_days order by day desc limit 1 offset 50`,
    )
  ).rows
  const [consumer] = (await pool.query<{ id: string }>('select id from consumers limit 1')).rows
  const [letter] = (await pool.query<{ id: string }>('select id from letters limit 1')).rows
  const [mail] = (await pool.query<{ id: string }>('select id from inbound_mails limit 1')).rows
  const cursor = middle.rows[0]?.id ?? ''
  const of = (path: string): Address => ({ name: path, path })
  return [
    ...publicPages.map(of),
    ...Object.entries(filters).map(([name, query]) => ({
      name: `/reports, ${name}`,
      path: `/reports${query}`,
    })),
    { name: '/reports, from the middle back', path: `/reports?before=${cursor}` },
    { name: '/reports, from the middle on', path: `/reports?after=${cursor}` },
    { name: '/reports, a month of last year', path: '/reports?from=2026-03-01&to=2026-03-31' },
    of('/reports/statistics'),
    ...byState.rows.flatMap(({ state, id }) => [
      { name: `/reports/:id, ${state}`, path: `/reports/${id}` },
      { name: `/admin/reports/:id, ${state}`, path: `/admin/reports/${id}` },
    ]),
    { name: '/reports/:id/retract', path: `/reports/${told}/retract` },
    { name: '/reports/:id/told/1', path: `/reports/${told}/told/1` },
    { name: '/reports/:id/message.eml', path: `/reports/${told}/message.eml` },
    ...adminPages.map((path) => of(`/admin${path}`)),
    { name: '/admin/campaigns, a day', path: `/admin/campaigns?day=${day?.day}` },
    { name: '/admin/campaigns/:id', path: `/admin/campaigns/${day?.id}` },
    { name: '/admin/consumers/:id', path: `/admin/consumers/${consumer?.id}` },
    { name: '/admin/reporters/:id', path: `/admin/reporters/${reporterId}` },
    { name: '/admin/outbox/:id/1', path: `/admin/outbox/${told}/1` },
    { name: '/admin/outbox/letters/:id', path: `/admin/outbox/letters/${letter?.id}` },
    { name: '/admin/inbox/:id', path: `/admin/inbox/${mail?.id}` },
  ]
}
