import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Request, type Response, Router } from 'express'
import { listFoundReports, listSavedSearches } from '../../db/search.ts'
import { storableText } from '../../mail/text.ts'
import { type ExportFormat, exportFormats, exportReports } from '../../search/export-reports.ts'
import { fieldNames, searchFields } from '../../search/fields.ts'
import { COUNT_MAX, countFound, listFound, openSearch } from '../../search/find-reports.ts'
import { massKinds } from '../../search/mass-effects.ts'
import { forgetSearch, keepSearch } from '../../search/saved-searches.ts'
import { type Clause, formatSearch, parseSearch, SEARCH_CHARS_MAX } from '../../search/syntax.ts'
import { readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Texts } from '../../texts/messages.ts'
import { effectIn, refusalsIn } from '../../texts/phrases.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { adminPage, type PageCall } from './page.ts'
import { requireRole } from './require-role.ts'

const LINES = 50
const path = '/admin/reports'

export function searchRoutes(site: Site): Router {
  const router = Router()
  // The fields of the form lead to the search that they describe.
  router.get('/', (req, res, next) => {
    const given = searchParamsOf(req)
    const built = clausesIn(given)
    if (built === '') return next()
    const q = [given.get('q')?.trim() ?? '', built].filter(Boolean).join(' ')
    res.redirect(303, path + queryOf({ q: q.slice(0, SEARCH_CHARS_MAX + 1) }))
  })
  router.use(
    adminPage(site, {
      view: 'admin/reports',
      title: 'search.title',
      data: (call) => search(call, site),
      form: {
        at: '/saved',
        actions: { save: keepSearch, forget: forgetSearch },
        back: (_, __, form) => path + queryOf({ q: form.text('q') }),
      },
    }),
  )
  router.post('/export', requireRole(site, 'operator'), (req, res) => sendExport(req, res, site))
  return router
}

async function search({ req, refused, language, texts }: PageCall, site: Pick<Site, 'pool'>) {
  const given = searchParamsOf(req)
  const asked = refused?.given['q'] ?? given.get('q') ?? ''
  const q = storableText(asked.trim(), SEARCH_CHARS_MAX + 1)
  const parsed = parseSearch(q)
  const below = given.get('below')
  const page = { before: isUuid(below) ? below : undefined, limit: LINES + 1 }
  const found = 'clauses' in parsed ? await find(site, parsed.clauses, page) : undefined
  const { lines, next } = pageOf(found?.rows ?? [], LINES, ({ id }) => ({ q, below: id }))
  return {
    problems: [
      ...(refused?.problems ?? []),
      ...('problems' in parsed ? refusalsIn(language, parsed.problems) : []),
    ],
    ...{ q, lines, isFirst: page.before === undefined },
    first: path + queryOf({ q }),
    next: next && path + next,
    count: found && shownCount(found.count, texts),
    completeUntil: found?.completeUntil,
    fields: fieldNames.map((name) => ({
      ...{ name, ...searchFields[name] },
      label: texts(`fields.${name}.label`),
      summary: texts(`fields.${name}.summary`),
    })),
    saved: await listSavedSearches(site.pool, requireReporter(req).id),
    formats: Object.keys(exportFormats),
    effects: massKinds.map((kind) => ({ kind, label: effectIn(language, kind).label })),
  }
}

async function find(
  { pool }: Pick<Site, 'pool'>,
  clauses: readonly Clause[],
  page: { before: string | undefined; limit: number },
) {
  const search = await openSearch(pool, clauses)
  const [ids, count] = await Promise.all([listFound(pool, search, page), countFound(pool, search)])
  const rows = await listFoundReports(pool, ids)
  return { rows, count, completeUntil: search.completeUntil }
}

function shownCount(n: number, texts: Texts): string {
  return n > COUNT_MAX ? texts('search.foundMore', { n: COUNT_MAX }) : texts('search.found', { n })
}

/** The fields of the form as conditions of a search; a field of the form has one value. */
function clausesIn(given: URLSearchParams): string {
  const clauses = fieldNames.flatMap((field): Clause[] => {
    const value = given.get(field)?.trim() ?? ''
    return value === '' ? [] : [{ field, values: [value], isNot: false }]
  })
  return formatSearch(clauses)
}

async function sendExport(req: Request, res: Response, site: Site): Promise<void> {
  const form = await readShortForm(req, res, site)
  const operator = requireReporter(req)
  const parsed = parseSearch(form.text('q') ?? '')
  if ('problems' in parsed) throw new ProblemError('bad-field', parsed.problems[0] ?? '')
  const format = form.text('format') ?? ''
  if (!isFormat(format)) throw new ProblemError('bad-field', 'Unknown format of an export.')
  const by = { at: site.clock(), reporterId: operator.id }
  const pieces = exportReports(site.pool, { clauses: parsed.clauses, format }, by)
  res.setHeader('content-type', exportFormats[format].type)
  res.setHeader('content-disposition', `attachment; filename="reports.${format}"`)
  res.setHeader('cache-control', 'no-store')
  // A client that goes away ends the export.
  await pipeline(Readable.from(pieces), res).catch(() => res.destroy())
}

function isFormat(name: string): name is ExportFormat {
  return Object.hasOwn(exportFormats, name)
}
