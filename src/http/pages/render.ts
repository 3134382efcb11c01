import path from 'node:path'
import { Eta } from 'eta'
import type { Request, Response } from 'express'
import { catalogs, type Language } from '../language/choose-language.ts'
import { locales, number } from '../language/plural.ts'
import { phraseBook } from '../language/phrase-book.ts'
import { assetUrls } from '../assets.ts'
import { shownLine } from '../shown-text.ts'
import { formTokenOf, withFormToken } from './form-token.ts'
import { visitOf } from './visit.ts'

const eta = new Eta({
  views: path.join(import.meta.dirname, '..', 'views'),
  cache: true,
  autoEscape: true,
  autoTrim: [false, 'nl'],
})

/** A page to be shown: its template under `views`, its title, and what the template shows. */
export type Page = {
  view: string
  title: string
  status?: number
  data?: object
}

/** Makes a page and sends it. Everything a template prints with `<%=` is escaped. */
export function sendPage(req: Request, res: Response, page: Page): void {
  const visit = visitOf(req)
  const token = formTokenOf(req)
  const html = eta.render(page.view, {
    ...page.data,
    // Last: the frame tells of who visits, never of whom the page is about.
    ...visit,
    title: page.title,
    languages: Object.entries(catalogs).map(([code, words]) => ({
      code,
      name: words.languageName,
    })),
    assets: assetUrls,
    show: shownLine,
    say: phraseBook(visit.language),
    when: (at: Date | string) => instant(at, visit.language),
    whenDay: (day: string | Date) => wholeDay(day, visit.language),
    number: (value: number) => number(visit.language, value),
  })
  res.statusCode = page.status ?? 200
  res.setHeader('content-type', 'text/html; charset=utf-8')
  res.setHeader('content-language', visit.language)
  res.setHeader('cache-control', 'no-store')
  res.end(withFocus(token === undefined ? html : withFormToken(html, token)))
}

/** A page whose first alert has the focus: who sent a form that was refused begins there. */
function withFocus(html: string): string {
  return html.replace(' role="alert"', ' role="alert" tabindex="-1" autofocus')
}

/** An instant for people and, beside it, for machines. */
function instant(at: Date | string, language: Language): { text: string; iso: string } {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return { text: '', iso: '' }
  const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const
  const text = new Intl.DateTimeFormat(locales[language], format).format(date)
  return { text: `${text} UTC`, iso: date.toISOString() }
}

/** A day in UTC (`2026-11-20`) for people. */
function wholeDay(day: string | Date, language: Language): string {
  const format = { dateStyle: 'long', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(locales[language], format).format(new Date(day))
}
