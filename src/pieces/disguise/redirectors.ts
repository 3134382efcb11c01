/**
 * A service that redirects to an address in its URL: link scanners of mail providers, open
 * redirects of search engines, proxies. The target is counted as the link, the service as its
 * wrapper.
 */
type Redirector = {
  /** The host of the service, or a parent domain. */
  under: string
  path?: string
  /** Parameters that may contain the target, or a function that extracts it. */
  target: readonly string[] | ((url: URL) => string | undefined)
}

/**
 * Returns the target of a URL of a known redirector, from the URL alone without any request.
 * Undefined for other URLs.
 */
export function redirectTarget(url: URL): string | undefined {
  const host = url.hostname
  for (const { under, path, target } of byEnd.get(endOf(host)) ?? []) {
    if (!isUnder(host, under)) continue
    if (path !== undefined && !url.pathname.startsWith(path)) continue
    const found = typeof target === 'function' ? target(url) : carried(url, target)
    if (found !== undefined) return found
  }
  const isGoogle = host.includes('google') && /(^|\.)google(\.com?)?(\.[a-z]{2,3})?$/.test(host)
  return isGoogle ? fromGoogle(url) : undefined
}

/** Returns the address inside one of the parameters of any URL, in plain text or base64. */
export function carriedTarget(url: URL): string | undefined {
  if (!mayCarry.test(url.search)) return undefined
  let count = 0
  for (const [, value] of url.searchParams) {
    if (++count > parametersMax) return undefined
    const target = addressIn(value)
    if (target !== undefined) return target
  }
  return undefined
}

const parametersMax = 30
/**
 * Start of a base64-encoded address, separator of a plain one, or percent-encoding. Parameters
 * without any of these contain no address.
 */
const mayCarry = /aHR0c|\/\/|%/

const redirectors: readonly Redirector[] = [
  { under: 'safelinks.protection.outlook.com', target: ['url'] },
  { under: 'urldefense.proofpoint.com', path: '/v1/', target: ['u'] },
  { under: 'urldefense.proofpoint.com', path: '/v2/', target: fromProofpoint2 },
  { under: 'urldefense.com', path: '/v3/', target: fromProofpoint3 },
  { under: 'urldefense.us', path: '/v3/', target: fromProofpoint3 },
  { under: 'googleadservices.com', target: ['adurl'] },
  { under: 'doubleclick.net', target: ['adurl', 'ds_dest_url'] },
  { under: 'cdn.ampproject.org', target: fromAmp },
  { under: 'facebook.com', path: '/l.php', target: ['u'] },
  { under: 'facebook.com', path: '/flx/warn', target: ['u'] },
  { under: 'l.instagram.com', target: ['u'] },
  { under: 'linkedin.com', path: '/redir/', target: ['url'] },
  { under: 'linkedin.com', path: '/safety/go', target: ['url'] },
  { under: 'youtube.com', path: '/redirect', target: ['q'] },
  { under: 'bing.com', path: '/ck/a', target: fromBing },
  { under: 'duckduckgo.com', path: '/l/', target: ['uddg'] },
  { under: 'r.search.yahoo.com', target: fromYahoo },
  { under: 'steamcommunity.com', path: '/linkfilter', target: ['url', 'u'] },
  { under: 't.umblr.com', path: '/redirect', target: ['z'] },
  { under: 'slack-redir.net', target: ['url'] },
  { under: 'out.reddit.com', target: ['url'] },
  { under: 'vk.com', path: '/away.php', target: ['to'] },
  { under: 'href.li', target: fromWholeQuery },
  { under: 'nullrefer.com', target: fromWholeQuery },
  { under: 'linkprotect.cudasvc.com', target: ['a'] },
  { under: 'clicktime.symantec.com', target: ['u'] },
  { under: 'protection.sophos.com', target: ['u'] },
  { under: 'trendmicro.com', path: '/wis/clicktime', target: ['url'] },
  { under: 'secure-web.cisco.com', target: fromPath },
  { under: 'isolate.menlosecurity.com', target: fromPath },
  { under: 'web.archive.org', path: '/web/', target: fromPath },
  { under: 'translate.goog', target: fromTranslation },
]

/** Returns the last two labels, by which redirectors are indexed. */
function endOf(host: string): string {
  return host.slice(host.lastIndexOf('.', host.lastIndexOf('.') - 1) + 1)
}

const byEnd = Map.groupBy(redirectors, ({ under }) => endOf(under))

function isUnder(host: string, domain: string): boolean {
  return (
    host.endsWith(domain) && (host.length === domain.length || host.at(-domain.length - 1) === '.')
  )
}

function carried(url: URL, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = url.searchParams.get(name)
    const target = value === null ? undefined : addressIn(value)
    if (target !== undefined) return target
  }
  return undefined
}

/** Decodes an address that is plain, percent-encoded again, or in base64. */
function addressIn(value: string): string | undefined {
  const text = value.trim()
  if (isAddress(text)) return text
  if (/^https?%3a/i.test(text)) return decoded(text)
  if (!/^aHR0c[A-Za-z0-9+/_-]{10,3000}={0,2}$/.test(text)) return undefined
  const plain = Buffer.from(text, 'base64').toString('latin1')
  return isAddress(plain) ? plain : undefined
}

function isAddress(text: string): boolean {
  return /^(https?:)?\/\/[^/]/i.test(text)
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text)
    return isAddress(plain) ? plain : undefined
  } catch {
    return undefined
  }
}

function fromGoogle(url: URL): string | undefined {
  if (url.pathname.startsWith('/amp/')) return fromAmp(url)
  if (!/^\/(url|imgres|aclk|pagead\/aclk)$/.test(url.pathname)) return undefined
  return carried(url, ['q', 'url', 'adurl', 'imgurl'])
}

/** Handles `/amp/s/host/path` and `/c/s/host/path`, where `s` means https. */
function fromAmp({ pathname, search }: URL): string | undefined {
  const [, isSecure, rest] = /^\/(?:amp|[civ])\/(s\/)?(.+)$/.exec(pathname) ?? []
  return rest === undefined ? undefined : `http${isSecure ? 's' : ''}://${rest}${search}`
}

/** Decodes a link of Proofpoint version 2, where `-` encodes `%`, and `_` encodes `/`. */
function fromProofpoint2(url: URL): string | undefined {
  const written = url.searchParams.get('u')
  if (written === null) return undefined
  return decoded(written.replaceAll('-', '%').replaceAll('_', '/'))
}

/**
 * Decodes `/v3/__URL__;BASE64`: each `*` in the URL is a byte of the base64 part, `**x` a run of
 * bytes.
 */
function fromProofpoint3({ href }: URL): string | undefined {
  const [, written, bytes = ''] = /\/v3\/__(.{1,3000}?)__;?([A-Za-z0-9_-]*)/.exec(href) ?? []
  if (written === undefined) return undefined
  const replaced = Buffer.from(bytes, 'base64').toString('utf8')
  let at = 0
  const address = written.replace(/\*(?:\*([A-Za-z0-9_-]))?/g, (_, run?: string) => {
    const length = run === undefined ? 1 : runLengths.indexOf(run) + 2
    const piece = replaced.slice(at, at + length)
    at += length
    return piece
  })
  return /^https?:\/[^/]/.test(address) ? address.replace('/', '//') : address
}

const runLengths = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Decodes the parameter `u=a1…`: the address in base64 follows `a1`. */
function fromBing(url: URL): string | undefined {
  return addressIn((url.searchParams.get('u') ?? '').replace(/^a1/, ''))
}

function fromYahoo({ pathname }: URL): string | undefined {
  const [, written] = /\/RU=([^/]+)/.exec(pathname) ?? []
  return written === undefined ? undefined : decoded(written)
}

function fromWholeQuery({ search }: URL): string | undefined {
  const query = search.slice(1)
  return addressIn(query) ?? addressIn(query.slice(query.indexOf('=') + 1))
}

/** Returns the address at the end of the path, plain or encoded. */
function fromPath({ pathname, search }: URL): string | undefined {
  const at = /\/(https?(?::\/|%3a)[^]*)$/i.exec(pathname)?.[1]
  if (at === undefined) return undefined
  if (/^https?%3a/i.test(at)) return decoded(at)
  return at.replace(/^(https?):\/+/i, '$1://') + search
}

/** Decodes `shop-example-net.translate.goog`: one dash stands for a dot, two dashes for a dash. */
function fromTranslation({ hostname, pathname, search }: URL): string | undefined {
  const label = hostname.slice(0, -'.translate.goog'.length)
  if (label.length === hostname.length || label.includes('.')) return undefined
  const host = label.replaceAll('--', '\0').replaceAll('-', '.').replaceAll('\0', '-')
  return `https://${host}${pathname}${search.replace(/[?&]_x_tr_[^&]*/g, '')}`
}
