import type { Request, Router } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import { findRawMessage } from '../../db/reports.ts'
import { decideOriginal, findShownRequest } from '../../feedback/original-requests.ts'
import { concealKeysIn } from '../../mail/conceal-keys.ts'
import { shownBytes } from '../../mail/text.ts'
import type { FormReader } from '../pages/form.ts'
import { ownFormPage } from '../pages/form-page.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { requireOwn } from './story.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config'> & FormReader

const SHOWN_BYTES_MAX = 256 * 1024

/** The page where a reporter decides whether a desk gets the original of a report. */
export function originalRoutes(site: Needs): Router {
  const { pool, clock } = site
  const reportOf = (req: Request, reporter: Reporter) =>
    requireOwn(String(req.params['id']), reporter, site)
  return ownFormPage(site, {
    at: '/reports/:id/original',
    view: 'pages/history/original',
    title: 'original.title',
    async data({ req, reporter }) {
      const report = await reportOf(req, reporter)
      const request = await findShownRequest(pool, report, clock())
      if (!request) throw new ProblemError('not-found', 'Nobody asked for the original.')
      const { isOpen, url } = request
      if (url !== undefined) return { report, request, source: isOpen ? url : '', isCut: false }
      const raw = isOpen ? await findRawMessage(pool, report.id) : undefined
      return {
        report,
        request,
        source: raw && shownBytes(concealKeysIn(raw), SHOWN_BYTES_MAX),
        isCut: raw !== undefined && raw.length > SHOWN_BYTES_MAX,
      }
    },
    async take({ req, reporter, form }) {
      const report = await reportOf(req, reporter)
      const answer = form.text('answer')
      if (answer === 'yes' || answer === 'no') await decideOriginal(site, report, answer === 'yes')
      return `/reports/${report.id}/original`
    },
  })
}
