import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Request, type Response, Router } from 'express'
import { listFoundReports, listSavedSearches } from '../../db/search.ts'
import { storableText } from '../../mail/text.ts'
import { type ExportFormat, exportFormats, exportReports } from '../../search/export-reports.ts'
import { fieldNames, searchFields } from '../../search/fields.ts'
import { COUNT_MAX, countFound, listFound, openSearch } from '../../search/find-reports.ts'
import { massEffects, massKinds } from '../../search/mass-effects.ts'
import { forgetSearch, keepSearch } from '../../search/saved-searches.ts'
import { type Clause, formatSearch, parseSearch, SEARCH_CHARS_MAX } from '../../search/syntax.ts'
import { readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import { message, type Texts } from '../../texts/messages.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { doneMessage, postAction, type RefusedForm } from './post-action.ts'
import { requireRole } from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'

const LINES = 50
const path = '/admin/reports'

/** The search for reports, its saved searches and its export. */
export function searchRoutes(site: Site): Router {
  const router = Router()
  router.get('/', (req, res) => sendSearch(req, res, site))
  router.post(
    '/saved',
    postAction(site, {
      actions: { save: keepSearch, forget: forgetSearch },
      back: (_, __, form) => path + queryOf({ q: form.text('q') }),
      show: (req, res, { problems, given }) => sendSearch(req, res, site, { problems, given }),
    }),
  )
  router.post('/export', requireRole(site, 'operator'), (req, res) => sendExport(req, res, site))
  return router
}

async function sendSearch(
  req: Request,
  res: Response,
  site: Pick<Site, 'pool'>,
  refused?: RefusedForm,
): Promise<void> {
  const given = searchParamsOf(req)
  const { language, texts } = visitOf(req)
  const built = refused ? '' : clausesIn(given)
  if (built !== '') {
    const q = [given.get('q')?.trim() ?? '', built].filter(Boolean).join(' ')
    return res.redirect(303, path + queryOf({ q: q.slice(0, SEARCH_CHARS_MAX + 1) }))
  }
  const asked = refused?.given['q'] ?? given.get('q') ?? ''
  const q = storableText(asked.trim(), SEARCH_CHARS_MAX + 1)
  const parsed = parseSearch(q)
  const faults = [...(refused?.problems ?? []), ...('problems' in parsed ? parsed.problems : [])]
  const below = given.get('below')
  const page = { before: isUuid(below) ? below : undefined, limit: LINES + 1 }
  const found = 'clauses' in parsed ? await find(site, parsed.clauses, page) : undefined
  const { lines, next } = pageOf(found?.rows ?? [], LINES, ({ id }) => ({ q, below: id }))
  sendAdminPage(req, res, {
    view: 'admin/reports',
    title: texts('search.title'),
    status: faults.length > 0 ? 422 : 200,
    data: {
      ...{ q, faults, lines, isFirst: page.before === undefined },
      first: path + queryOf({ q }),
      next: next && path + next,
      count: found && shownCount(found.count, texts),
      completeUntil: found?.completeUntil,
      fields: fieldNames.map((name) => ({
        ...{ name, ...searchFields[name] },
        // English is in the declarations of fields and effects.
        label: message(language, `fields.${name}.label`)?.text ?? searchFields[name].label,
        summary: message(language, `fields.${name}.summary`)?.text ?? searchFields[name].summary,
      })),
      saved: await listSavedSearches(site.pool, requireReporter(req).id),
      formats: Object.keys(exportFormats),
      effects: massKinds.map((kind) => ({
        kind,
        label: message(language, `effects.${kind}`)?.text ?? massEffects[kind].label,
      })),
      done: doneMessage(req, keepSearch, forgetSearch),
    },
  })
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
  if ('problems' in parsed) throw new ProblemError('bad-field', parsed.problems.join(' '))
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
