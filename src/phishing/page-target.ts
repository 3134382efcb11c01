import { readableLink } from '../pieces/disguise/plain-link.ts'
import { carriedTarget, redirectTarget } from '../pieces/disguise/redirectors.ts'

const UNWRAPPINGS_MAX = 5

/** A page, and the hosts that redirect to it, from the address of a link alone. */
export type PageTarget = { url: URL; through: string[] }

/**
 * Returns the page to which the address of a link leads, without any request: redirectors, link
 * scanners and links that count clicks are undone where the address contains the target. Undefined
 * when it is no web address.
 */
export function pageTarget(written: string): PageTarget | undefined {
  const through: string[] = []
  let url = parse(written)
  for (let count = 0; url && count < UNWRAPPINGS_MAX; count++) {
    const next = parse(redirectTarget(url) ?? carriedTarget(url) ?? inPath(url) ?? bare(url) ?? '')
    if (!next || next.hostname === url.hostname) break
    through.push(url.hostname)
    url = next
  }
  return url && { url, through }
}

function parse(written: string): URL | undefined {
  const readable = written === '' ? undefined : readableLink(written)
  const url = readable === undefined ? null : URL.parse(readable)
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}

/** The address in the path: `/L0/https:%2F%2Fpage.example%2Fa/1/token`. */
function inPath({ pathname }: URL): string | undefined {
  const [, whole, encoded] =
    /\/((https?(?:%3a|:)%2f%2f[^/]{4,2000})|https?:\/\/.{4,2000})/i.exec(pathname) ?? []
  if (encoded === undefined) return whole
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

/** The address without a scheme that a translating proxy gets. */
function bare({ hostname, pathname, searchParams }: URL): string | undefined {
  if (hostname !== 'translate.google.com' || pathname !== '/translate') return undefined
  return searchParams.get('u') ?? undefined
}
