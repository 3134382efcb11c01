import { pipeline } from 'node:stream/promises'
import { type Request, type Response, Router } from 'express'
import { auditActions, type AuditEntry, type AuditQuery, listAudit } from '../../db/audit-log.ts'
import type { Db } from '../../db/pool.ts'
import { findReporterByEmail, listReporterEmails } from '../../db/reporters.ts'
import { DAY_MS } from '../../durations.ts'
import { verifyAudit } from '../../people/audit-seals.ts'
import type { Code } from '../../texts/messages.ts'
import { csvLine } from '../../mail/csv.ts'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { queryOf } from '../pages/render.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { listPage, readParams, textParam, uuidParam } from './list-page.ts'

const TEXT_CHARS_MAX = 320
const EXPORT_PAGE = 1_000
const commandLine = 'command line'

/** The audit log: the search, its exports, and the check of its seals. */
export function auditRoutes(site: Site): Router {
  const { pool } = site
  const router = Router()
  router.use(
    listPage(site, {
      view: 'admin/audit',
      title: 'audit.title',
      filters,
      cursor: { before: uuidParam },
      read: async (page) => {
        const { query, faults } = await readSearch(page, pool)
        return faults.length > 0 ? [] : withNames(await listAudit(pool, page, query), pool)
      },
      next: ({ id }) => ({ before: id }),
      data: async ({ req, texts }) => {
        const form = readParams(req, filters)
        return {
          problems: (await readSearch(form, pool)).faults.map((code) => texts(code)),
          actions: auditActions.toSorted(),
          search: queryOf(form),
          check: searchParamsOf(req).get('check') === '1' ? await verifyAudit(site) : undefined,
        }
      },
    }),
  )
  router.get('/export.csv', (req, res) => sendExport(req, res, site, 'csv'))
  router.get('/export.jsonl', (req, res) => sendExport(req, res, site, 'jsonl'))
  return router
}

const textOf = textParam(TEXT_CHARS_MAX)
const filters = { person: textOf, action: textOf, text: textOf, since: textOf, until: textOf }

type SearchForm = Record<keyof typeof filters, string | undefined>

/** The search of a form; an unknown person or an invalid day is a fault. */
async function readSearch(
  form: SearchForm,
  db: Db,
): Promise<{ query: AuditQuery; faults: Code[] }> {
  const faults: Code[] = []
  const name = form.person === commandLine ? undefined : form.person
  const person = name === undefined ? undefined : await findReporterByEmail(db, name)
  if (name !== undefined && !person) faults.push('audit.noAccount')
  const [since, until] = [dayOf(form.since), dayOf(form.until)]
  if (since === null || until === null) faults.push('audit.badDay')
  const query = {
    reporterId: form.person === commandLine ? null : person?.id,
    action: form.action,
    text: form.text,
    since: since ?? undefined,
    until: until ? new Date(until.getTime() + DAY_MS) : undefined,
  }
  return { query, faults }
}

/** A day in UTC; undefined if absent, null for an invalid one. */
function dayOf(text: string | undefined): Date | undefined | null {
  if (text === undefined) return undefined
  const day = new Date(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime()) ? day : null
}

async function withNames<Entry extends AuditEntry>(lines: readonly Entry[], db: Db) {
  const emails = await listReporterEmails(
    db,
    lines.map(({ reporterId }) => reporterId),
  )
  return lines.map((line) => ({
    ...line,
    who: line.reporterId === null ? commandLine : (emails.get(line.reporterId) ?? ''),
  }))
}

const types = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' }
const exported = ['id', 'at', 'person', 'account', 'action', 'detail'] as const

/** Sends all entries that a search finds, newest first, page by page. */
async function sendExport(
  req: Request,
  res: Response,
  { pool }: Pick<Site, 'pool'>,
  format: keyof typeof types,
): Promise<void> {
  const form = readParams(req, filters)
  const { query, faults } = await readSearch(form, pool)
  if (faults.length > 0) return res.redirect(303, `/admin/audit${queryOf(form)}`)
  res.setHeader('content-type', types[format])
  res.setHeader('content-disposition', `attachment; filename="audit-log.${format}"`)
  res.setHeader('cache-control', 'no-store')
  // A client that disconnects ends the export. There is no one to send the error to.
  await pipeline(exportLines(pool, query, format), res).catch(() => undefined)
}

async function* exportLines(
  pool: Db,
  query: AuditQuery,
  format: keyof typeof types,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(exported)
  for (let before: string | undefined; ;) {
    const page = await listAudit(pool, { before, limit: EXPORT_PAGE }, query)
    for (const { id, at, reporterId, action, detail, who } of await withNames(page, pool)) {
      const cells = [id, at.toISOString(), who, reporterId, action, detail]
      const named = Object.fromEntries(exported.map((name, index) => [name, cells[index]]))
      yield concealKeys(format === 'csv' ? csvLine(cells) : `${JSON.stringify(named)}\n`)
    }
    before = page.at(-1)?.id
    if (page.length < EXPORT_PAGE) return
  }
}
