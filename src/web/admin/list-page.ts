import type { Request, Router } from 'express'
import { listReporterEmails } from '../../db/reporters.ts'
import { storableText } from '../../mail/text.ts'
import type { Texts } from '../../texts/messages.ts'
import { isUuid, queryOf } from '../pages/render.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { type AdminPage, adminPage, type PageCall, pathOf } from './page.ts'

const LINES = 50
/** Lines with evidence and a decision are high: so many of them are on a page. */
export const DECISIONS_SHOWN = 8

type Params = Readonly<Record<string, string | undefined>>
/** Parses each parameter of the address; an absent one is empty. */
type Parsers<P extends Params> = { readonly [Name in keyof P]: (text: string) => P[Name] }

/** A page whose template describes the columns: `parts/list` draws the table and the links. */
type ListPage<Row, Filters extends Params, Cursor extends Params> = AdminPage & {
  /** Parameters that choose rows. The links to other pages keep them. */
  filters?: Parsers<Filters>
  /** Parameters that name the last row of the previous page. */
  cursor?: Parsers<Cursor>
  /** Reads the rows of a page. `limit` is one more than are shown, to see if there are others. */
  read: (
    given: Filters & Cursor & { limit: number },
    call: PageCall,
  ) => Promise<readonly Row[]> | readonly Row[]
  /** The number of rows of a page, if not the usual one. */
  linesMax?: number
  /** The parameters `cursor` for the page after a row; absent if there is a single page. */
  next?: (last: Row) => Readonly<Record<string, string>>
}

/** Routes a page with a list, which is read page by page, and its form. */
export function listPage<
  Row,
  Filters extends Params = Record<never, never>,
  Cursor extends Params = Record<never, never>,
>(site: Site, { read, next, linesMax = LINES, ...page }: ListPage<Row, Filters, Cursor>): Router {
  const data = async (call: PageCall) => {
    const { req } = call
    const base = pathOf(req, page.form?.at)
    const filters = readParams(req, page.filters)
    const cursor = readParams(req, page.cursor)
    const rows = await read({ ...filters, ...cursor, limit: linesMax + 1 }, call)
    const lines = next ? rows.slice(0, linesMax) : rows
    const last = rows.length > lines.length ? lines.at(-1) : undefined
    return {
      ...{ base, lines },
      // The query of the shown lines, for forms that lead back to them.
      here: pathWith('', givenOf(req, { ...filters, ...cursor })),
      filters: Object.fromEntries(
        Object.entries(filters).map(([name, value]) => [name, value ?? '']),
      ),
      isFirst: Object.values(cursor).every((value) => value === undefined),
      first: pathWith(base, filters),
      next: next && last && pathWith(base, { ...filters, ...next(last) }),
      ...(await page.data?.(call)),
    }
  }
  return adminPage(site, { ...page, data })
}

/**
 * Reads what to call people who acted, by the ids of their accounts: their addresses. Null is the
 * command line.
 */
export async function readNames(
  { pool }: Pick<Site, 'pool'>,
  ids: readonly (string | null | undefined)[],
  texts: Texts,
): Promise<(id: string | null) => string> {
  const emails = await listReporterEmails(pool, ids)
  return (id) => (id === null ? texts('who.commandLine') : (emails.get(id) ?? texts('who.deleted')))
}

export function readParams<P extends Params>(req: Request, parsers: Parsers<P> | undefined): P {
  const params = searchParamsOf(req)
  const entries = Object.entries<(text: string) => unknown>(parsers ?? {}).map(([name, parse]) => {
    return [name, parse(params.get(name) ?? '')]
  })
  return Object.fromEntries(entries) as P
}

/** The parameters that the address has, without those that only have their default value. */
function givenOf(req: Request, parameters: Params): Params {
  const asked = searchParamsOf(req)
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => asked.has(name)))
}

function pathWith(path: string, parameters: Params): string {
  const query = queryOf(parameters)
  return query === '?' ? path : path + query
}

export function uuidParam(text: string): string | undefined {
  return isUuid(text) ? text : undefined
}

export function digitsParam(text: string): string | undefined {
  return /^\d{1,16}$/.test(text) ? text : undefined
}

export function textParam(charsMax: number) {
  return (text: string): string | undefined => storableText(text.trim(), charsMax) || undefined
}

/** A parameter with a closed set of values. */
export function choiceParam<Value extends string>(values: readonly Value[]) {
  return (text: string): Value | undefined => values.find((one) => one === text)
}

/** A parameter with a closed set of values, the first of which it has by default. */
export function choiceOrFirstParam<Value extends string>(values: readonly [Value, ...Value[]]) {
  return (text: string): Value => values.find((one) => one === text) ?? values[0]
}
