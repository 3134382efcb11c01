import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { systemRandom } from '../../world.ts'
import type { Site } from '../site.ts'

type Needs = Pick<Site, 'clock' | 'config'>

const DAY_MS = 86_400_000
/** The longest that browsers keep a cookie. */
const LIFE_DAYS = 400
/** Of so many accounts a browser is remembered, those signed in last. */
const ACCOUNTS_MAX = 5

/**
 * The browser that sends this request, if somebody signed in with it under this name before. Its
 * attempts are counted apart, so that nobody else can use them up (OWASP: device cookies).
 */
export function knownDevice(req: IncomingMessage, name: string, site: Needs): string | undefined {
  const entry = entriesOf(req, site).find((one) => isSigned(one, name, site))
  return entry?.split('.')[0]
}

/** Lets the browser know, from now on, that somebody signed in with it under this name. */
export function rememberDevice(
  req: IncomingMessage,
  res: ServerResponse,
  name: string,
  site: Needs,
): void {
  const others = entriesOf(req, site).filter((entry) => !isSigned(entry, name, site))
  const id = knownDevice(req, name, site) ?? systemRandom(16).toString('base64url')
  const day = Math.floor(site.clock().getTime() / DAY_MS) + LIFE_DAYS
  const entry = `${id}.${day}.${signatureOf(id, day, name, site)}`
  const value = [entry, ...others].slice(0, ACCOUNTS_MAX).join('~')
  const isSecure = site.config.publicUrl.startsWith('https:')
  const rest = `Path=/; Max-Age=${LIFE_DAYS * 86_400}; HttpOnly; SameSite=Lax`
  res.appendHeader(
    'set-cookie',
    `${cookieName(site)}=${value}; ${rest}${isSecure ? '; Secure' : ''}`,
  )
}

function entriesOf(req: IncomingMessage, site: Needs): string[] {
  const begin = `${cookieName(site)}=`
  const cookies = (req.headers.cookie ?? '').split(';').map((cookie) => cookie.trim())
  const found = cookies.find((cookie) => cookie.startsWith(begin))
  return found?.slice(begin.length).split('~', ACCOUNTS_MAX) ?? []
}

function isSigned(entry: string, name: string, site: Needs): boolean {
  const [, id = '', day = '', given = ''] =
    /^([\w-]{22})\.(\d{1,6})\.([\w-]{43})$/.exec(entry) ?? []
  if (given === '' || Number(day) * DAY_MS < site.clock().getTime()) return false
  const expected = signatureOf(id, Number(day), name, site)
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}

function signatureOf(id: string, day: number, name: string, { config }: Needs): string {
  const text = `signalpost device\n${id}\n${day}\n${name.trim().toLowerCase()}`
  return createHmac('sha256', config.secret).update(text).digest('base64url')
}

function cookieName({ config }: Needs): string {
  const isSecure = config.publicUrl.startsWith('https:')
  return isSecure ? '__Host-signalpost-device' : 'signalpost-device'
}
