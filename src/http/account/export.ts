import { Router, type Request, type Response } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import type { Faults } from './account-form.ts'
import { asksForCode, isProven } from './prove.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'credentials' | 'limits' | 'log'> & FormReader

/** The page on which people take along everything we hold of them. */
export function exportRoutes(site: Needs): Router {
  const router = Router()
  router.get('/account/export', async (req, res) => {
    const reporter = requireReporter(req, res)
    if (reporter) await sendExport(req, res, site, reporter, {})
  })
  router.post('/account/export', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req, res)
    if (!reporter) return
    if (await isProven(req, form, reporter, site)) return sendArchive(res, reporter, site)
    const faults = { now: visitOf(req).words.ownAccount.wrongProof }
    await sendExport(req, res, site, reporter, faults)
  })
  return router
}

/** What breaks off here breaks off in the browser too: half an archive is none. */
async function sendArchive(res: Response, reporter: Reporter, site: Needs): Promise<void> {
  const day = site.clock().toISOString().slice(0, 10)
  res.statusCode = 200
  res.setHeader('content-type', 'application/zip')
  res.setHeader('content-disposition', `attachment; filename="signalpost-${day}.zip"`)
  res.setHeader('content-security-policy', "default-src 'none'; sandbox")
  res.setHeader('cache-control', 'no-store')
  const gone = new AbortController()
  res.once('close', () => gone.abort())
  const { writeArchive } = await import('./export-archive.ts')
  try {
    await writeArchive(reporter, site, res, gone.signal)
  } catch (error) {
    if (!gone.signal.aborted) throw error
  }
}

async function sendExport(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  faults: Faults,
): Promise<void> {
  sendPage(req, res, {
    view: 'pages/account/export',
    title: visitOf(req).words.ownAccount.export.title,
    status: Object.keys(faults).length > 0 ? 422 : 200,
    data: { faults, asksForCode: await asksForCode(site, reporter) },
  })
}
