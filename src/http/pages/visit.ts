import type { NextFunction, Request, Response } from 'express'
import { findReporter, type Reporter } from '../../db/reporters.ts'
import { catalogs, chooseLanguage, isLanguage, type Language } from '../language/choose-language.ts'
import type { Words } from '../language/en/words.ts'
import type { Site } from '../site.ts'
import { useSession } from './session.ts'

type Needs = Pick<Site, 'pool' | 'publicUrl' | 'clock'>

/** Who looks at a page, and in which language. */
export type Visit = {
  reporter: Reporter | undefined
  language: Language
  /** Whether the visitor or the browser said anything about languages. */
  isLanguageStated: boolean
  words: Words
  /** Of the page, without its query. */
  path: string
}

const LANGUAGE_MS = 365 * 86_400_000
const visits = new WeakMap<Request, Visit>()

/** Finds out who visits, before any page is made. */
export function welcome(site: Needs) {
  return async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    const { language, isStated } = languageOf(req)
    const wish = req.query['lang']
    if (isLanguage(wish)) {
      const secure = site.publicUrl.startsWith('https:')
      res.cookie('lang', wish, { maxAge: LANGUAGE_MS, httpOnly: true, sameSite: 'lax', secure })
    }
    visits.set(req, {
      reporter: undefined,
      language,
      isLanguageStated: isStated,
      words: catalogs[language],
      path: req.path,
    })
    const id = await useSession(req, site.clock())
    const reporter = id === undefined ? undefined : await findReporter(site.pool, id)
    if (reporter) setReporter(req, reporter)
    next()
  }
}

/** The visit of a request. Error pages may need it before anybody was welcomed. */
export function visitOf(req: Request): Visit {
  const known = visits.get(req)
  if (known) return known
  const { language, isStated } = languageOf(req)
  return {
    reporter: undefined,
    language,
    isLanguageStated: isStated,
    words: catalogs[language],
    path: '/',
  }
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

function languageOf(req: Request) {
  return chooseLanguage({
    query: req.query['lang'],
    cookie: /(?:^|;\s*)lang=([a-z]{2})(?:;|$)/.exec(req.headers.cookie ?? '')?.[1],
    acceptLanguage: req.headers['accept-language'],
  })
}
