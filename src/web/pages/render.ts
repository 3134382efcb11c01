import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Eta } from 'eta'
import type { Request, Response } from 'express'
import { renderSVG } from 'uqr'
import { concealKeysInSteps } from '../../mail/conceal-keys.ts'
import { shownLine } from '../../mail/text.ts'
import {
  formatters,
  type Language,
  locales,
  message,
  number,
  type Params,
  textsIn,
} from '../../texts/messages.ts'
import { sayPhrases } from '../../texts/phrases.ts'
import { assetUrls } from '../assets.ts'
import { endText } from '../compress.ts'
import { formTokenOf, visitOf, withFormToken } from './visit.ts'

/** Who downloads a message: a person whose mail it is, or another one, who must not see keys. */
export type Reader = 'owner' | 'other'

/** Sends a message as a download: never displayed, sniffed or executed. */
export async function sendMessage(
  res: Response,
  fileName: string,
  whole: Buffer,
  reader: Reader,
): Promise<void> {
  const raw = reader === 'owner' ? whole : await concealKeysInSteps(whole, setImmediate)
  res.statusCode = 200
  res.setHeader('content-type', 'message/rfc822')
  res.setHeader('content-disposition', `attachment; filename="${fileName}"`)
  res.setHeader('content-security-policy', "default-src 'none'; sandbox")
  res.setHeader('cache-control', 'no-store')
  res.setHeader('content-length', raw.length)
  res.end(raw)
}

/**
 * Draws a QR code as a data URL, because the content security policy allows images of data URLs,
 * but no inline SVG styles.
 */
export function qrCode(text: string): string {
  const svg = renderSVG(text, { border: 2 })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a value from a path or query is an id. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value)
}

/** Returns a path on this site; `otherwise` for anything else. */
export function localPath(value: unknown, otherwise = '/report'): string {
  if (typeof value !== 'string' || !/^\/(?![/\\])[\x21-\x7e]*$/.test(value)) return otherwise
  return value.includes('\\') || value.length > 500 ? otherwise : value
}

export type ListPage<Row> = { lines: Row[]; next: string | undefined }

/**
 * Makes a page from rows. Pass `limit` + 1 rows if there are as many: the extra one shows that
 * there is a next page. `keyOf` returns the query parameters for the page after a row.
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  keyOf: (last: Row) => Record<string, string | undefined>,
): ListPage<Row> {
  const lines = rows.slice(0, limit)
  const last = lines.at(-1)
  if (rows.length <= limit || last === undefined) return { lines, next: undefined }
  return { lines, next: queryOf(keyOf(last)) }
}

/** Formats the defined and non-empty parameters as `?a=b&c=d`. */
export function queryOf(parameters: Record<string, string | undefined>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value)
  return `?${query}`
}

/** The content security policy of pages: only our own files, and no inline scripts or styles. */
export const contentPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "script-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const languageNames = (Object.keys(locales) as Language[]).map((code) => ({
  code,
  name: textsIn(code)('nav.languageName'),
}))

const eta = new Eta({
  views: path.join(import.meta.dirname, '..', 'views'),
  cache: true,
  autoEscape: true,
  autoTrim: [false, 'nl'],
})

type OwnName = 'message' | 'number' | 'say' | 'show' | 'when' | 'whenDay'

/** A page: its template under `views`, its title and the template's data. */
export type Page = {
  view: string
  title: string
  status?: number
  /** The names of what `sendPage` adds would be lost. */
  data?: Readonly<Record<string, unknown>> & Readonly<Partial<Record<OwnName, never>>>
  /** Stored sentences speak of reporters. */
  isForOperators?: true
  /** Changes the page before it is sent. */
  adjust?: (html: string) => string
}

/** Renders and sends a page. Everything that a template prints with `<%=` is escaped. */
export function sendPage(req: Request, res: Response, page: Page): void {
  const visit = visitOf(req)
  const token = formTokenOf(req)
  const rendered = eta.render(page.view, {
    ...page.data,
    // The data about the visitor comes last, so that page data cannot override it.
    ...visit,
    title: page.title,
    languages: languageNames,
    assets: assetUrls,
    show: shownLine,
    message: (code: string, params?: Params) => message(visit.language, code, params),
    say: (stored: Parameters<typeof sayPhrases>[0]) =>
      sayPhrases(stored, visit.language, page.isForOperators ? 'operator' : 'reporter'),
    when: (at: Date | string) => instant(at, visit.language),
    whenDay: (day: string | Date) => wholeDay(day, visit.language),
    number: (value: number) => number(visit.language, value),
  })
  const html = page.adjust?.(rendered) ?? rendered
  res.statusCode = page.status ?? 200
  res.setHeader('content-type', 'text/html; charset=utf-8')
  res.setHeader('content-language', visit.language)
  res.setHeader('cache-control', 'no-store')
  endText(req, res, withFocus(token === undefined ? html : withFormToken(html, token)))
}

/** Focuses the first alert, so that a user whose form was refused starts there. */
function withFocus(html: string): string {
  return html.replace(' role="alert"', ' role="alert" tabindex="-1" autofocus')
}

/** An instant as text for people, and in ISO format for machines. */
function instant(at: Date | string, language: Language): { text: string; iso: string } {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return { text: '', iso: '' }
  const format = { dateStyle: 'medium', timeStyle: 'short' } as const
  const text = formatters.getDateTimeFormat(locales[language], format).format(date)
  return { text: `${text} UTC`, iso: date.toISOString() }
}

/** A day in UTC (`2026-11-20`) as text for people. */
function wholeDay(day: string | Date, language: Language): string {
  const format = { dateStyle: 'long' } as const
  return formatters.getDateTimeFormat(locales[language], format).format(new Date(day))
}
