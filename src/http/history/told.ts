import { Router, type Request, type Response } from 'express'
import { type Feedback, findFeedback } from '../../db/feedback-reports.ts'
import { findOwnReport } from '../../db/own-reports.ts'
import { type ExactCopy, findOwnCopy } from '../../feedback/preview-feedback.ts'
import { sendMessage } from '../download.ts'
import { isUuid } from '../paging.ts'
import { ProblemError } from '../problem.ts'
import { shownBytes } from '../shown-text.ts'
import type { Site } from '../site.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'

type Needs = Pick<Site, 'pool' | 'preview'>
type Told = { feedback: Feedback; copy: ExactCopy | undefined }

const SHOWN_BYTES_MAX = 256 * 1024

/** What was told, or is to be told, of a reporter's own report: the exact mail. */
export function toldRoutes(site: Needs): Router {
  const router = Router()
  router.get('/reports/:id/told/:number', async (req, res) => {
    const told = await requireTold(req, res, site)
    if (!told) return
    const { feedback, copy } = told
    sendPage(req, res, {
      view: 'pages/history/told',
      title: visitOf(req).words.told.title,
      data: {
        feedback,
        hasLeft: copy?.hasLeft,
        text: copy && shownBytes(firstText(copy.raw), SHOWN_BYTES_MAX),
        copyText: copy && shownBytes(copy.raw, SHOWN_BYTES_MAX),
      },
    })
  })
  router.get('/reports/:id/told/:number/message.eml', async (req, res) => {
    const told = await requireTold(req, res, site)
    if (!told) return
    if (!told.copy) throw new ProblemError('not-found', 'There is no such mail.')
    const { reportId, number } = told.feedback
    sendMessage(res, `told-${reportId}-${number}.eml`, told.copy.raw)
  })
  return router
}

async function requireTold(
  req: Request<{ id: string; number: string }>,
  res: Response,
  { pool, preview }: Needs,
): Promise<Told | undefined> {
  const reporter = requireReporter(req, res)
  if (!reporter) return undefined
  const { id, number } = req.params
  const report = isUuid(id) ? await findOwnReport(pool, reporter.id, id) : undefined
  const isOwn = report !== undefined && /^\d{1,3}$/.test(number)
  const feedback = isOwn && (await findFeedback(pool, { reportId: id, number: Number(number) }))
  if (!feedback) throw new ProblemError('not-found', 'There is no such report, or it is not yours.')
  const { mergedInto, mergedNumber } = feedback
  const head =
    mergedInto === null || mergedNumber === null
      ? undefined
      : await findFeedback(pool, { reportId: mergedInto, number: mergedNumber })
  const patient: Needs['preview'] = (one) => preview(one).catch(() => undefined)
  return { feedback, copy: await findOwnCopy(pool, feedback, head, patient) }
}

/** The text for people: ours, first in the mail and in 7 bits. */
function firstText(raw: Buffer): Buffer {
  const part = raw.indexOf('\r\nContent-Type: text/plain')
  const from = part < 0 ? -1 : raw.indexOf('\r\n\r\n', part)
  if (from < 0) return Buffer.of()
  const to = raw.indexOf('\r\n--', from + 4)
  return raw.subarray(from + 4, to < 0 ? raw.length : to)
}
