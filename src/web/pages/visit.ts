import { createHmac, timingSafeEqual } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'
import { findReporter, findReporterSettings, type Reporter } from '../../db/reporters.ts'
import { catalogs, chooseLanguage, isLanguage, type Language } from '../../texts/choose-language.ts'
import type { Words } from '../../texts/en/words.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { useSession } from './session.ts'

type Needs = Pick<Site, 'pool' | 'publicUrl' | 'config' | 'clock'>

/** Who looks at a page, and in which language. */
export type Visit = {
  reporter: Reporter | undefined
  language: Language
  /** Whether the visitor or the browser said anything about languages. */
  isLanguageStated: boolean
  words: Words
  /** Of the page, without its query. */
  path: string
  /** The token for forms of a session; undefined where nobody was welcomed. */
  tokenOf?: (sessionId: string) => string
}

const LANGUAGE_MS = 365 * 86_400_000
const visits = new WeakMap<Request, Visit>()

/** Finds out who visits, before any page is made. */
export function welcome(site: Needs) {
  const tokenOf = (sessionId: string) => composeFormToken(sessionId, site.config.secret)
  return async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const wish = req.query['lang']
    if (isLanguage(wish)) rememberLanguage(res, wish, site)
    visits.set(req, { ...inLanguage(req, undefined), reporter: undefined, path: req.path, tokenOf })
    const id = await useSession(req, site.clock())
    if (id !== undefined) await recognize(req, id, site)
    next()
  }
}

/** The visit of a request. Error pages may need it before anybody was welcomed. */
export function visitOf(req: Request): Visit {
  const known = visits.get(req)
  if (known) return known
  return { ...inLanguage(req, undefined), reporter: undefined, path: '/' }
}

/** Lets the browser remember the language that was chosen in it. */
export function rememberLanguage(
  res: Response,
  language: Language,
  { publicUrl }: Pick<Site, 'publicUrl'>,
): void {
  const secure = publicUrl.startsWith('https:')
  res.cookie('lang', language, { maxAge: LANGUAGE_MS, httpOnly: true, sameSite: 'lax', secure })
}

/** Says who the visitor turned out to be. */
export function setReporter(req: Request, reporter: Reporter | undefined): void {
  visits.set(req, { ...visitOf(req), reporter })
}

/** Answers in English, whatever the visitor reads: the pages for operators have no other. */
export function speakEnglish(req: Request): void {
  const words = catalogs.en
  visits.set(req, { ...visitOf(req), language: 'en', isLanguageStated: true, words })
}

async function recognize(req: Request, id: string, { pool }: Needs): Promise<void> {
  const found = Promise.all([findReporter(pool, id), findReporterSettings(pool, id)])
  const [reporter, settings] = await found
  if (!reporter) return
  visits.set(req, { ...visitOf(req), ...inLanguage(req, settings?.language), reporter })
}

function inLanguage(req: Request, account: string | null | undefined) {
  const { language, isStated } = chooseLanguage({
    query: req.query['lang'],
    account,
    cookie: /(?:^|;\s*)lang=([a-z]{2})(?:;|$)/.exec(req.headers.cookie ?? '')?.[1],
    acceptLanguage: req.headers['accept-language'],
  })
  return { language, isLanguageStated: isStated, words: catalogs[language] }
}

/** The field in which a form carries the token of the session it was shown in. */
export const tokenField = 'form_token'

/** The token of a session: who cannot read its pages cannot know it, nor make it of another. */
function composeFormToken(sessionId: string, secret: string): string {
  return createHmac('sha256', secret).update(`form of ${sessionId}`).digest('base64url')
}

/** The token for forms that are shown to who is signed in; undefined for everybody else. */
export function formTokenOf(req: Request): string | undefined {
  const { reporter, tokenOf } = visitOf(req)
  return reporter && tokenOf ? tokenOf(req.sessionID) : undefined
}

/** A page with the token in each form that acts: there, no template can forget it. */
export function withFormToken(html: string, token: string): string {
  const field = `<input type="hidden" name="${tokenField}" value="${token}">`
  return html.replaceAll(/<form\b[^>]*\bmethod="post"[^>]*>/g, (form) => form + field)
}

/**
 * Refuses a form that acts for who is signed in without coming from a page of that session: where
 * the browser's word for the site it comes from were missing or wrong, this still holds. A form
 * with a password proves itself; and the clients from before there were tokens may go on reporting,
 * as long as they say nothing of sites, as every browser does.
 *
 * @throws ProblemError
 */
export function requireFormToken(req: Request, given: string | undefined, isProven: () => boolean) {
  const token = formTokenOf(req)
  if (token === undefined || isSame(given, token)) return
  if (given === undefined && (isProven() || isOldClient(req))) return
  throw new ProblemError('stale-form', 'Load the page again, and send the form from there.')
}

function isOldClient({ path, headers }: Request): boolean {
  return path === '/report' && headers.origin === undefined && !('sec-fetch-site' in headers)
}

function isSame(given: string | undefined, token: string): boolean {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}
