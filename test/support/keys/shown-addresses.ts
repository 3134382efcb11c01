import type { Browser } from '../../db/web/browser.ts'
import { pages } from '../pages/page-list.ts'
import { keysIn } from '../seen-keys.ts'
import type { KeyedSite } from './keyed-site.ts'

/** Somebody who reads pages by a session, and the API by a token, if any. */
export type Reader = { browser: Browser; token: string }

const isListed = new Map(pages.map((page) => [page.route, page]))

/** Routes that do not end, or answer with large files of the program. */
const skipped = /^\/admin\/live$|^\/assets\/|^\/thunderbird\/|^\/outlook\/|^\/openapi/

/** Routes that take the id of a report only. */
const ofReports = /\/(?:reports|outbox)\/:(?:id|reportId)(?:\/|$)/

/** The addresses of a route for all content with keys, without those that only an owner knows. */
export function addressesOf(route: string, { shown, reported, ids, needles }: KeyedSite): string[] {
  if (skipped.test(route)) return []
  const taken = ofReports.test(route) ? [shown.told, ...reported] : ids
  const listed = isListed.get(route)?.at(shown) ?? []
  const open = route.replaceAll(/:number\b/g, '1').replaceAll(/:(?!id|reportId)\w+/g, 'none')
  const filled = /:\w+/.test(open) ? taken.map((id) => open.replaceAll(/:\w+/g, id)) : [open]
  return [...new Set([...listed, ...filled])].filter(
    (address) => keysIn(Buffer.from(address), needles).length === 0,
  )
}

/** Requests an address as a reader does. */
export function readAddress(
  address: string,
  { site }: Pick<KeyedSite, 'site'>,
  { browser, token }: Reader,
): Promise<Response> {
  const isApi = address.startsWith('/api') || address === '/metrics'
  if (!isApi || token === '') return browser.get(address)
  const headers = { authorization: `Bearer ${token}` }
  return fetch(`${site.url}${address}`, { headers, redirect: 'manual' })
}
