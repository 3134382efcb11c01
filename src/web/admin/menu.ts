/** A group of the menu, and the addresses of its pages. Their names are in the texts `menu`. */
type MenuGroup = { key: string; pages: readonly string[] }

const menu: readonly MenuGroup[] = [
  {
    key: 'reports',
    pages: [
      '/admin/reports',
      '/admin/campaigns',
      '/admin/pages',
      '/admin/counters',
      '/admin/sources',
      '/admin/mail-servers',
      '/admin/simulations',
    ],
  },
  {
    key: 'outgoing',
    pages: [
      '/admin/outbox',
      '/admin/inbox',
      '/admin/consumers',
      '/admin/partners',
      '/admin/networks',
      '/admin/suppressions',
      '/admin/marketers',
    ],
  },
  {
    key: 'people',
    pages: ['/admin/accounts', '/admin/roles', '/admin/senders'],
  },
  {
    key: 'judging',
    pages: [
      '/admin/rules',
      '/admin/rule-lists',
      '/admin/models',
      '/admin/reputations',
      '/admin/delistings',
    ],
  },
  {
    key: 'system',
    pages: [
      '/admin/health',
      '/admin/activity',
      '/admin/limits',
      '/admin/queues',
      '/admin/dead-letters',
      '/admin/statistics',
      '/admin/audit',
      '/admin/secret',
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
 * true, and the page of the menu to which an address belongs, if any.
 */
export function menuFor(
  address: string,
  isShown: (href: string) => boolean,
): { groups: (MenuGroup & { isCurrent: boolean })[]; current: string | undefined } {
  const path = new URL(address, 'http://site').pathname
  const isWithin = (href: string) => `${path}/`.startsWith(`${href}/`)
  const named = menu.flatMap(({ pages }) => pages)
  const other = belongs.find(([start]) => path.startsWith(start))?.[1]
  const current =
    other ?? named.find(isWithin) ?? (/^\/admin\/?$/.test(path) ? '/admin' : undefined)
  const groups = menu.flatMap((group) => {
    const pages = group.pages.filter(isShown)
    const isCurrent = pages.some((href) => href === current)
    return pages.length === 0 ? [] : [{ ...group, pages, isCurrent }]
  })
  return { groups, current }
}
