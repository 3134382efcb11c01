type MenuGroup = { title: string; pages: readonly (readonly [href: string, name: string])[] }

const menu: readonly MenuGroup[] = [
  {
    title: 'Reports',
    pages: [
      ['/admin/reports', 'Reports'],
      ['/admin/campaigns', 'Campaigns'],
      ['/admin/counters', 'Counters'],
    ],
  },
  {
    title: 'Outgoing',
    pages: [
      ['/admin/outbox', 'Outbox'],
      ['/admin/inbox', 'Inbox'],
      ['/admin/consumers', 'Consumers'],
      ['/admin/networks', 'Networks'],
      ['/admin/suppressions', 'Suppressions'],
      ['/admin/marketers', 'Marketers'],
    ],
  },
  {
    title: 'People',
    pages: [
      ['/admin/accounts', 'Accounts'],
      ['/admin/roles', 'Roles'],
      ['/admin/senders', 'Sending users'],
      ['/admin/limits', 'Limits'],
    ],
  },
  {
    title: 'Judging',
    pages: [
      ['/admin/rules', 'Rules'],
      ['/admin/models', 'Models'],
      ['/admin/reputations', 'Reputations'],
      ['/admin/delistings', 'Delistings'],
    ],
  },
  {
    title: 'System',
    pages: [
      ['/admin/health', 'Health'],
      ['/admin/activity', 'Activity'],
      ['/admin/queues', 'Queues'],
      ['/admin/dead-letters', 'Dead letters'],
      ['/admin/statistics', 'Public figures'],
      ['/admin/audit', 'Audit log'],
    ],
  },
]

/** Pages that the menu does not name, and the page of the menu to which they belong. */
const belongs: readonly (readonly [path: string, href: string])[] = [
  ['/admin/deletions', '/admin/reports'],
  ['/admin/reporters/', '/admin/reputations'],
]

/**
 * The menu of the administration for a visitor who may read the pages for which `isShown` returns
 * true, and the page of the menu to which an address belongs.
 */
export function menuFor(
  address: string,
  isShown: (href: string) => boolean,
): { groups: (MenuGroup & { isCurrent: boolean })[]; current: string } {
  const path = new URL(address, 'http://site').pathname
  const isWithin = (href: string) => `${path}/`.startsWith(`${href}/`)
  const named = menu.flatMap(({ pages }) => pages.map(([href]) => href))
  const other = belongs.find(([start]) => path.startsWith(start))?.[1]
  const current = other ?? named.find(isWithin) ?? '/admin'
  const groups = menu.flatMap((group) => {
    const pages = group.pages.filter(([href]) => isShown(href))
    const isCurrent = pages.some(([href]) => href === current)
    return pages.length === 0 ? [] : [{ ...group, pages, isCurrent }]
  })
  return { groups, current }
}
