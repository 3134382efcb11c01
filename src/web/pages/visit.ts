import { createHmac, timingSafeEqual } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { NextFunction, Request, Response } from 'express'
import { findReporter, findReporterSettings, type Reporter } from '../../db/reporters.ts'
import { DAY_MS } from '../../durations.ts'
import { confirmRole } from '../../people/organization.ts'
import { usableRole } from '../../roles.ts'
import { chooseLanguage, isLanguage } from '../../texts/choose-language.ts'
import { type Language, type Texts, textsIn } from '../../texts/messages.ts'
import { systemRandom } from '../../world.ts'
import type { Site } from '../site.ts'
import { isPasswordFresh, useSession } from './session.ts'

type Needs = Pick<
  Site,
  | 'pool'
  | 'publicUrl'
  | 'config'
  | 'clock'
  | 'statistics'
  | 'callers'
  | 'log'
  | 'outage'
  | 'provider'
  | 'isTrial'
>

export type Visit = {
  reporter: Reporter | undefined
  language: Language
  /** Whether the visitor or the browser stated a language. */
  isLanguageStated: boolean
  texts: Texts
  /** The path of the page, without its query. */
  path: string
  /** Whether the page of figures is public; then all pages link to it. */
  hasStatistics?: boolean
  /** Whether the page shows that this is a trial instance. */
  isTrial?: boolean
  /**
   * The provider at which the visitor signed in, and whether a dangerous action needs no new
   * sign-in there. Undefined for other visitors.
   */
  atProvider?: { name: string; isFresh: boolean } | undefined
  /** The token for forms of a session; undefined before `identifyVisitor` has run. */
  tokenOf?: (sessionId: string) => string
  /** Whether a form has the token of a session, also if it was shown before the secret changed. */
  hasTokenOf?: (sessionId: string, given: string | undefined) => boolean
}

const LANGUAGE_MS = 365 * DAY_MS
/** Maximum time in milliseconds for which a page waits for the provider of the organization. */
const CONFIRM_MS = 5_000
const visits = new WeakMap<Request, Visit>()

/** Identifies the visitor before any page is rendered. */
export function identifyVisitor(site: Needs) {
  const { secret } = site.config
  const tokenOf = (sessionId: string) => composeFormToken(sessionId, secret.key('form'))
  const hasTokenOf = (sessionId: string, given: string | undefined) => {
    const compare = (key: Buffer) => isSame(given, composeFormToken(sessionId, key)) || undefined
    return secret.find('form', compare) ?? false
  }
  return async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const given = req.query['lang']
    if (isLanguage(given)) rememberLanguage(res, given, site)
    const hasStatistics = await site.statistics.isPublic()
    const stranger = {
      reporter: undefined,
      path: req.path,
      tokenOf,
      hasTokenOf,
      hasStatistics,
      isTrial: site.isTrial(req),
    }
    visits.set(req, { ...inLanguage(req, undefined), ...stranger })
    const id = await useSession(req, site.clock())
    if (id !== undefined) await recognize(req, id, site)
    next()
  }
}

/** The visit of a request. Error pages may need it before `identifyVisitor` has run. */
export function visitOf(req: Request): Visit {
  const known = visits.get(req)
  if (known) return known
  return { ...inLanguage(req, undefined), reporter: undefined, path: '/' }
}

/** Stores the chosen language in a cookie. */
export function rememberLanguage(
  res: Response,
  language: Language,
  { publicUrl }: Pick<Site, 'publicUrl'>,
): void {
  const secure = publicUrl.startsWith('https:')
  res.cookie('lang', language, { maxAge: LANGUAGE_MS, httpOnly: true, sameSite: 'lax', secure })
}

/** Sets the visitor after signing in or out. */
export function setReporter(req: Request, reporter: Reporter | undefined): void {
  visits.set(req, { ...visitOf(req), reporter })
}

/**
 * Responds in English regardless of the visitor's language: some pages exist only in
 * English.
 */
export function useEnglish(req: Request): void {
  const texts = textsIn('en')
  visits.set(req, { ...visitOf(req), language: 'en', isLanguageStated: true, texts })
}

async function recognize(req: Request, id: string, site: Needs): Promise<void> {
  const { pool, config, callers, clock, outage } = site
  const proof = req.session.isByProvider === true ? 'provider' : 'password'
  if (proof === 'provider') {
    const asked = outage.run(
      () => confirmRole(site, id),
      () => undefined,
    )
    // A slow provider delays one page a little, and its answer takes effect with the next one.
    await Promise.race([asked, wait(CONFIRM_MS, undefined, { ref: false })])
  }
  const find = async () => {
    const [account, settings] = await Promise.all([
      findReporter(pool, id),
      findReporterSettings(pool, id),
    ])
    return account && { account, settings }
  }
  const found = await callers.find({ kind: 'reporter', key: id, find })
  if (!found) return
  const { account, settings } = found
  const { email } = account
  const now = clock()
  const reporter = { id, email, role: usableRole(account, config, { proof, now }) }
  const { oidc } = config
  const atProvider =
    oidc && proof === 'provider'
      ? { name: oidc.name, isFresh: isPasswordFresh(req, now) }
      : undefined
  const own = inLanguage(req, settings?.language)
  visits.set(req, { ...visitOf(req), ...own, reporter, atProvider })
}

function inLanguage(req: Request, account: string | null | undefined) {
  const { language, isStated } = chooseLanguage({
    query: req.query['lang'],
    account,
    cookie: /(?:^|;\s*)lang=([a-z]{2})(?:;|$)/.exec(req.headers.cookie ?? '')?.[1],
    acceptLanguage: req.headers['accept-language'],
  })
  return { language, isLanguageStated: isStated, texts: textsIn(language) }
}

const MASKED_CHARS_MAX = 200

export const tokenField = 'form_token'

/**
 * Composes the form token of a session. It can be read only in pages of that session, and cannot be
 * derived from the token of another.
 */
function composeFormToken(sessionId: string, key: Buffer): string {
  return createHmac('sha256', key).update(`form of ${sessionId}`).digest('base64url')
}

/** The token for forms shown to a signed-in user; undefined for other visitors. */
export function formTokenOf(req: Request): string | undefined {
  const { reporter, tokenOf } = visitOf(req)
  return reporter && tokenOf ? tokenOf(req.sessionID) : undefined
}

/**
 * Adds the token to each POST form of a page, so that no template can omit it. It is masked with
 * random bytes, so that the length of the compressed page does not reveal it (BREACH).
 */
export function withFormToken(html: string, token: string): string {
  const field = `<input type="hidden" name="${tokenField}" value="${masked(token)}">`
  return html.replaceAll(/<form\b[^>]*\bmethod="post"[^>]*>/g, (form) => form + field)
}

/**
 * Whether a form that acts for a signed-in user comes from a page of that session. This protects
 * users even if the browser's origin headers are missing or wrong. A form with a password needs no
 * token. Older clients may report without a token if they send no origin headers, which every
 * browser sends.
 */
export function isOfSession(
  req: Request,
  given: string | undefined,
  isProven: () => boolean,
): boolean {
  const { reporter, hasTokenOf } = visitOf(req)
  if (!reporter || !hasTokenOf || hasTokenOf(req.sessionID, given)) return true
  return given === undefined && (isProven() || isOldClient(req) || isShared(req))
}

function isOldClient({ path, headers }: Request): boolean {
  return path === '/report' && headers.origin === undefined && !('sec-fetch-site' in headers)
}

/**
 * Whether a browser sends what its user shared with the installed app. Only the user can cause such
 * a request, and it only fills in the form.
 */
function isShared({ path, headers }: Request): boolean {
  return path === '/report/share' && headers['sec-fetch-site'] === 'none'
}

function isSame(given: string | undefined, token: string): boolean {
  const [one, other] = [unmasked(given ?? ''), Buffer.from(token, 'base64url')]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Returns a random mask, and the token combined with it: another text for each page. */
function masked(token: string): string {
  const bytes = Buffer.from(token, 'base64url')
  const mask = systemRandom(bytes.length)
  return Buffer.concat([mask, combined(bytes, mask)]).toString('base64url')
}

function unmasked(text: string): Buffer {
  const bytes = Buffer.from(text.slice(0, MASKED_CHARS_MAX), 'base64url')
  const half = Math.floor(bytes.length / 2)
  return combined(bytes.subarray(half), bytes.subarray(0, half))
}

/** Combines bytes with a mask of the same length; the same mask restores them. */
function combined(bytes: Uint8Array, mask: Uint8Array): Buffer {
  return Buffer.from(bytes.map((byte, at) => byte ^ (mask[at] ?? 0)))
}
