import type { Request, Response } from 'express'
import type { Action } from '../../actions.ts'
import { storableText } from '../../mail/text.ts'
import type { Code, Params as TextParams } from '../../texts/messages.ts'
import { isUuid, queryOf } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { doneMessage, type RefusedForm } from './post-action.ts'
import { sendAdminPage } from './send-admin-page.ts'

const LINES = 50

type Params = Readonly<Record<string, string | undefined>>
/** Parses each parameter of the address; an absent one is empty. */
type Parsers<P extends Params> = { readonly [Name in keyof P]: (text: string) => P[Name] }

type ListPage<Row, Filters extends Params, Cursor extends Params> = {
  /** The template, which describes the columns: `parts/list` draws the table and the links. */
  view: string
  title: Code
  titleParams?: TextParams
  /** The path of the list, if a form of another path may show it too. */
  base?: string
  /** Parameters that choose rows. The links to other pages keep them. */
  filters?: Parsers<Filters>
  /** Parameters that name the last row of the previous page. */
  cursor?: Parsers<Cursor>
  /** Reads the rows of a page. `limit` is one more than are shown, to see if there are others. */
  read: (given: Filters & Cursor & { limit: number }) => Promise<readonly Row[]>
  /** The parameters `cursor` for the page after a row; absent if there is a single page. */
  next?: (last: Row) => Readonly<Record<string, string>>
  /** The actions of the forms of the page, and a form that was refused. */
  actions?: readonly Action[]
  refused?: RefusedForm | undefined
  data?: object
}

/** Reads one page of a list and sends it. */
export async function sendList<
  Row,
  Filters extends Params = Record<never, never>,
  Cursor extends Params = Record<never, never>,
>(req: Request, res: Response, page: ListPage<Row, Filters, Cursor>): Promise<void> {
  const { texts, path } = visitOf(req)
  const { view, base = path, next, actions = [], refused } = page
  const filters = readParams(req, page.filters)
  const cursor = readParams(req, page.cursor)
  const rows = await page.read({ ...filters, ...cursor, limit: LINES + 1 })
  const lines = next ? rows.slice(0, LINES) : rows
  const last = rows.length > lines.length ? lines.at(-1) : undefined
  sendAdminPage(req, res, {
    view,
    title: texts(page.title, page.titleParams),
    status: refused && refused.problems.length > 0 ? 422 : 200,
    data: {
      ...{ base, lines },
      filters: Object.fromEntries(
        Object.entries(filters).map(([name, value]) => [name, value ?? '']),
      ),
      isFirst: Object.values(cursor).every((value) => value === undefined),
      first: pathWith(base, filters),
      next: next && last && pathWith(base, { ...filters, ...next(last) }),
      done: doneMessage(req, ...actions),
      problems: refused?.problems ?? [],
      form: refused?.given ?? {},
      ...page.data,
    },
  })
}

/** Parses parameters of the address. */
export function readParams<P extends Params>(req: Request, parsers: Parsers<P> | undefined): P {
  const params = searchParamsOf(req)
  const entries = Object.entries<(text: string) => unknown>(parsers ?? {}).map(([name, parse]) => {
    return [name, parse(params.get(name) ?? '')]
  })
  return Object.fromEntries(entries) as P
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
