import type { Request, Response } from 'express'
import { listReporterPage } from '../../db/reporter-pages.ts'
import { uuidFloor } from '../../world.ts'
import { authenticate } from '../authenticate.ts'
import { admit } from '../limits/admit.ts'
import { queryOf } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { reportPageSchema } from './contract/schemas/report-page-schema.ts'
import { readQuery } from './read-json.ts'
import { reportUrl, sendJson } from './results.ts'

type Needs = Pick<Site, 'pool' | 'config' | 'publicUrl' | 'credentials' | 'limits'>

/**
 * The caller's own reports: the newest first, on from `before`; or those after `after`, the oldest
 * first, for who asks what is new.
 */
export async function listReports(req: Request, res: Response, site: Needs): Promise<void> {
  const caller = await authenticate(req, site.credentials, ['bearer', 'basic'], 'read')
  const { id: reporterId, tokenHash } = caller
  await admit(req, res, site, 'read', { reporterId, tokenHash })
  const { before, after, limit, kind, status, since } = readQuery(req, reportPageSchema)
  if (before !== undefined && after !== undefined) {
    throw new ProblemError('bad-field', 'Say before or after, not both.')
  }
  const rows = await listReporterPage(site.pool, reporterId, {
    before,
    after,
    from: since === undefined ? undefined : uuidFloor(new Date(since)),
    kind,
    state: status,
    limit: limit + 1,
  })
  const lines = rows.slice(0, limit)
  const last = lines.at(-1)
  const on = after === undefined ? { before: last?.id } : { after: last?.id }
  const query = queryOf({ ...on, limit: String(limit), kind, status, since })
  const next = rows.length > limit && last ? `${site.publicUrl}/api/v1/reports${query}` : null
  if (next !== null) res.setHeader('link', `<${next}>; rel="next"`)
  sendJson(res, 200, {
    reports: lines.map(({ id, state, receivedAt, kind: its, subject, author }) => ({
      id,
      status: state,
      received_at: receivedAt.toISOString(),
      kind: its,
      subject,
      author,
      url: reportUrl(site.publicUrl, id),
    })),
    next,
  })
}
