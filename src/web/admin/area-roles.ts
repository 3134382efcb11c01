import type { Role } from '../../roles.ts'

/**
 * The areas of the administration by path, and the lowest role that may read each. The router
 * mounts an area only with its role from here; the menu hides what a person may not read. Actions
 * declare their own roles (`defineAction`).
 */
export const areaRoles = {
  '/': 'viewer',
  '/live': 'viewer',
  '/health': 'viewer',
  '/activity': 'viewer',
  '/reports': 'viewer',
  '/campaigns': 'viewer',
  '/outbox': 'viewer',
  '/inbox': 'viewer',
  '/suppressions': 'viewer',
  '/consumers/requests': 'viewer',
  '/consumers': 'viewer',
  '/networks/corrections': 'viewer',
  '/networks': 'viewer',
  '/counters': 'viewer',
  '/reputations': 'viewer',
  '/reporters': 'viewer',
  '/senders': 'viewer',
  '/sources': 'viewer',
  '/mail-servers': 'viewer',
  '/models': 'viewer',
  '/rules': 'viewer',
  '/delistings/exemptions': 'viewer',
  '/delistings': 'viewer',
  '/marketers/proposals': 'viewer',
  '/marketers': 'viewer',
  '/limits/shadow': 'viewer',
  '/limits': 'viewer',
  '/queues': 'viewer',
  '/dead-letters': 'viewer',
  '/statistics': 'viewer',
  '/deletions': 'viewer',
  '/audit': 'operator',
  '/accounts': 'administrator',
  '/roles': 'administrator',
} as const satisfies Record<string, Role>

export type Area = keyof typeof areaRoles

const PREFIX = '/admin'

/** The role that may read a page of the administration; undefined for other addresses. */
export function areaRoleOf(href: string): Role | undefined {
  const path = new URL(href, 'http://site').pathname
  if (path === PREFIX) return areaRoles['/']
  const area = Object.keys(areaRoles)
    .filter((one) => one !== '/' && `${path}/`.startsWith(`${PREFIX}${one}/`))
    .toSorted((one, other) => other.length - one.length)[0]
  return area === undefined ? undefined : areaRoles[area as Area]
}
