import { registrableDomain } from '../../mail/address.ts'
import { remembered } from '../../mail/text.ts'
import { withoutInvisible } from './plain-text.ts'
import { carriedTarget, redirectTarget } from './redirectors.ts'

export type PlainLink = {
  /** Host, path and query, which identify the link. */
  full: string
  /** In lower case, Punycode, without `www.`; an IP address in canonical form. */
  host: string
  /** The registrable domain; null for IP addresses. */
  organization: string | null
  path: string
  /** The names of the link's parameters, sorted. */
  parameters: string
  isIp: boolean
  /** The host of the redirector in which the link was wrapped. */
  wrappedBy: string | null
}

/**
 * Returns the normalized targets of a written address, at most four. If the address is wrapped by a
 * known redirector, only the wrapped target is returned. If another address is in its parameters,
 * both are returned.
 *
 * Ignores scheme, user, ports 80 and 443, `www.`, tracking and empty parameters, the order of
 * parameters, fragments, redundant slashes and encodings; also `hxxp`, `[.]`, backslashes and
 * invisible characters. Look-alike host names stay different, because they are different hosts.
 * Empty when `written` is not a web address.
 */
export function plainLinks(written: string): readonly PlainLink[] {
  return knownLinks(written)
}

/** The shingles and the subjects of a message are made from the same links. */
const knownLinks = remembered(readLinks, { max: 500, charsMax: 1000 })

function readLinks(written: string): PlainLink[] {
  const links: PlainLink[] = []
  let url = parseWritten(written)
  let wrappedBy: string | null = null
  for (let depth = 0; url !== undefined && depth < unwrappingsMax; depth++) {
    const host = plainHost(url.hostname)
    const target = redirectTarget(url)
    const next = target === undefined ? undefined : parseWritten(target)
    if (!next) links.push(linkOf(url, host, wrappedBy))
    const carried: string | undefined = next ? undefined : carriedTarget(url)
    if (next || carried !== undefined) wrappedBy = host
    url = next ?? (carried === undefined ? undefined : parseWritten(carried))
  }
  return links
}

/** Normalizes a host name for counting: lower case, without final dot and `www.`. */
export function plainHost(host: string): string {
  const lower = host.toLowerCase()
  const bare = lower.endsWith('.') ? lower.slice(0, -1) : lower
  return bare.startsWith('www.') && bare.indexOf('.', 4) > 0 ? bare.slice(4) : bare
}

/** Returns an address that may be defanged as a browser writes it; undefined for other text. */
export function readableLink(written: string): string | undefined {
  return parseWritten(written)?.href
}

/** Parses an address that may be defanged. Undefined when it is not a web address. */
function parseWritten(written: string): URL | undefined {
  if (isPlain(written)) return URL.parse(written) ?? undefined
  const quick = undisguised(written)
  const whole = /^[a-z][a-z0-9+.-]*:/i.test(quick) ? quick : `http://${quick.replace(/^\/+/, '')}`
  const url = URL.parse(whole)
  return url && url.hostname !== '' && /^(https?|ftp):$/.test(url.protocol) ? url : undefined
}

const unwrappingsMax = 4

function isPlain(written: string): boolean {
  return /^https?:\/\/[\w.-]+(?:[/?#][\w./?=&%~:,;@!$'()*+-]*)?$/i.test(written)
}

function undisguised(written: string): string {
  return withoutInvisible(written.trim())
    .replaceAll('\\', '/')
    .replaceAll(/\s*[[({]\s*(?:\.|dot|punkt|punto|point)\s*[\])}]\s*/gi, '.')
    .replaceAll(/[。．｡]/g, '.')
    .replace(/^(h|f)(?:xx|\*\*|__|tt)(ps?)(?=\W)/i, (_, first: string, rest: string) =>
      first.toLowerCase() === 'f' ? 'ftp' : `htt${rest}`,
    )
    .replace(/^(https?|ftp)\s*[[({]?\s*(?::|%3a)\s*[\])}]?\s*\/\/\s*/i, '$1://')
    .replace(/^(https?):?\/+/i, '$1://')
}

function linkOf(url: URL, host: string, wrappedBy: string | null): PlainLink {
  const isIp = host.startsWith('[') || /^\d+\.\d+\.\d+\.\d+$/.test(host)
  const { port: written } = url
  const port = written === '' || written === '80' || written === '443' ? '' : `:${written}`
  const path = plainPath(url.pathname)
  const { query, names } = plainQuery(url.search)
  const fragment = /^#[!/]/.test(url.hash) ? url.hash : ''
  return {
    full: `${host}${port}${path}${query}${fragment}`,
    host,
    organization: isIp ? null : (registrableDomain(host) ?? null),
    path,
    parameters: names,
    isIp,
    wrappedBy,
  }
}

/**
 * Removes session ids, repeated and trailing slashes, and needless percent-encoding, which do not
 * change the page.
 */
function plainPath(pathname: string): string {
  if (pathname === '/') return ''
  const path = plainEscapes(pathname)
  const lasting = path.includes(';') ? path.replace(/;(?:jsession|phpsess|s)id=[^/?#]*/i, '') : path
  const single = lasting.includes('//') ? lasting.replaceAll(/\/{2,}/g, '/') : lasting
  return single.endsWith('/') ? single.slice(0, -1) : single
}

function plainEscapes(text: string): string {
  if (!text.includes('%')) return text
  return text.replaceAll(/%([0-9a-f]{2})/gi, (written, hex: string) => {
    const char = String.fromCharCode(Number.parseInt(hex, 16))
    return /[\w.~-]/.test(char) ? char : written.toUpperCase()
  })
}

const parametersMax = 50

/** Parameters for tracking, which do not change the target. */
const tracking = new RegExp(
  `^(?:${[
    'utm_\\w*|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|igsh',
    'mc_[ce]id|_hs(?:enc|mi)|hsctatracking|mkt_tok|oly_(?:anon|enc)_id|vero_(?:conv|id)',
    'wickedid|_openstat|s_cid|sc_src|ck_subscriber_id|dm_i|elq\\w*|trk\\w*|ref_src|ref_url|spm',
    'pk_\\w+|mtm_\\w+|matomo_\\w+|piwik_\\w+|ga_\\w+|_ga|_gl|cmpid|rb_clickid',
    'jsessionid|phpsessid|sid|sessionid',
  ].join('|')})$`,
  'i',
)

function plainQuery(search: string): { query: string; names: string } {
  if (search.length < 2) return { query: '', names: '' }
  const kept = search
    .slice(1)
    .split('&', parametersMax)
    .map((parameter) => plainEscapes(parameter.replaceAll('+', '%20')))
    .filter((parameter) => parameter !== '' && !tracking.test(parameterName(parameter)))
    .sort()
  if (kept.length === 0) return { query: '', names: '' }
  const names = kept.map(parameterName).join('&')
  return { query: `?${kept.join('&')}`, names }
}

function parameterName(parameter: string): string {
  const end = parameter.indexOf('=')
  return end < 0 ? parameter : parameter.slice(0, end)
}

/**
 * Replaces numbers, tokens and addresses in a path by placeholders, so that all recipients have the
 * same path.
 */
export function pathPattern(path: string): string {
  return path.split('/', 20).map(segmentPattern).join('/').toLowerCase()
}

function segmentPattern(segment: string): string {
  if (segment.includes('@') || segment.includes('%40')) return '@'
  if (segment.length >= 20) return '*'
  if (segment.length >= 8 && /^[0-9a-f-]+$/i.test(segment)) return '*'
  if (!/\d/.test(segment)) return segment
  const isToken = segment.length >= 6 && /\d[a-z]+\d|[a-z]\d+[a-z]/i.test(segment)
  return isToken ? '*' : segment.replaceAll(/\d+/g, '0')
}
