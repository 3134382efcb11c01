import { pipeline } from 'node:stream/promises'
import { type Request, type Response, Router } from 'express'
import { auditActions, type AuditEntry, type AuditQuery, listAudit } from '../../db/audit-log.ts'
import type { Db } from '../../db/pool.ts'
import { findReporterByEmail, listReporterEmails } from '../../db/reporters.ts'
import { DAY_MS } from '../../durations.ts'
import { storableText } from '../../mail/text.ts'
import { verifyAudit } from '../../people/audit-seals.ts'
import type { Code } from '../../texts/messages.ts'
import { csvLine } from '../../mail/csv.ts'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { isUuid, pageOf, queryOf } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config'>

const LINES = 50
const TEXT_CHARS_MAX = 320
const EXPORT_PAGE = 1_000
const commandLine = 'command line'

/** The audit log: the search, its exports, and the check of its seals. */
export function auditRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendAudit(req, res, site))
  router.get('/export.csv', (req, res) => sendExport(req, res, site, 'csv'))
  router.get('/export.jsonl', (req, res) => sendExport(req, res, site, 'jsonl'))
  return router
}

type SearchForm = Record<'person' | 'action' | 'text' | 'since' | 'until', string>

function formOf(req: Request): SearchForm {
  const given = searchParamsOf(req)
  const text = (name: string) => storableText(given.get(name)?.trim() ?? '', TEXT_CHARS_MAX)
  return {
    person: text('person'),
    action: text('action'),
    text: text('text'),
    since: text('since'),
    until: text('until'),
  }
}

/** The search of a form; an unknown person or an invalid day is a fault. */
async function readSearch(
  form: SearchForm,
  db: Db,
): Promise<{ query: AuditQuery; faults: Code[] }> {
  const faults: Code[] = []
  const isPerson = form.person !== '' && form.person !== commandLine
  const person = isPerson ? await findReporterByEmail(db, form.person) : undefined
  if (isPerson && !person) faults.push('audit.noAccount')
  const [since, until] = [dayOf(form.since), dayOf(form.until)]
  if (since === null || until === null) faults.push('audit.badDay')
  const query = {
    reporterId: form.person === commandLine ? null : person?.id,
    action: form.action || undefined,
    text: form.text || undefined,
    since: since ?? undefined,
    until: until ? new Date(until.getTime() + DAY_MS) : undefined,
  }
  return { query, faults }
}

/** A day in UTC; undefined for an empty text, null for an invalid one. */
function dayOf(text: string): Date | undefined | null {
  if (text === '') return undefined
  const day = new Date(`${text}T00:00:00Z`)
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime()) ? day : null
}

async function sendAudit(req: Request, res: Response, site: Needs): Promise<void> {
  const { texts } = visitOf(req)
  const form = formOf(req)
  const { query, faults } = await readSearch(form, site.pool)
  const given = searchParamsOf(req)
  const before = isUuid(given.get('before')) ? (given.get('before') ?? undefined) : undefined
  const page = { before, limit: LINES + 1 }
  const rows = faults.length > 0 ? [] : await listAudit(site.pool, page, query)
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ ...form, before: id }))
  sendAdminPage(req, res, {
    view: 'admin/audit',
    title: texts('audit.title'),
    status: faults.length > 0 ? 422 : 200,
    data: {
      lines: await withNames(lines, site.pool),
      next,
      isFirst: before === undefined,
      form,
      faults: faults.map((code) => texts(code)),
      actions: auditActions.toSorted(),
      search: queryOf(form),
      check: given.get('check') === '1' ? await verifyAudit(site) : undefined,
    },
  })
}

async function withNames<Entry extends AuditEntry>(lines: readonly Entry[], db: Db) {
  const ids = [...new Set(lines.flatMap(({ reporterId }) => reporterId ?? []))]
  const emails = await listReporterEmails(db, ids)
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
  { pool }: Needs,
  format: keyof typeof types,
): Promise<void> {
  const form = formOf(req)
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
