import { type Request, type Response, Router } from 'express'
import { findErasureByToken } from '../../db/erasures.ts'
import { findAccount, type Reporter } from '../../db/reporters.ts'
import { beginErasure, erasureHash } from '../../reports/erase-account.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { closeSession } from '../pages/session.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { setReporter, visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { asksForCode, isProven } from './password.ts'
import type { Faults } from './sign-up.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'credentials' | 'limits'> &
  FormReader

/** The page to erase an account, and the page that shows the progress. */
export function eraseRoutes(site: Needs): Router {
  const router = Router()
  router.get('/account/erase', (req, res) =>
    sendErase(req, res, site, requireReporter(req), { faults: {} }),
  )
  router.post('/account/erase', async (req, res) => {
    const form = await readShortForm(req, res, site)
    await erase(req, res, site, form, requireReporter(req))
  })
  // Anyone with the URL may view this page, because the account and its session no longer exist.
  router.get('/account/erased/:token', async (req, res) => {
    const erasure = await findErasureByToken(site.pool, erasureHash(req.params.token))
    if (!erasure) throw new ProblemError('not-found', 'Erasure not found. It may have ended.')
    const { texts } = visitOf(req)
    const isDone = erasure.state === 'done'
    sendPage(req, res, {
      view: 'pages/account/erased',
      title: isDone ? texts('ownAccount.erase.doneTitle') : texts('ownAccount.erase.progressTitle'),
      data: { erasure, isDone },
    })
  })
  return router
}

async function erase(
  req: Request,
  res: Response,
  site: Needs,
  form: Form,
  reporter: Reporter,
): Promise<void> {
  const { texts } = visitOf(req)
  const how = form.text('how')
  const isChosen = how === 'keep' || how === 'remove'
  const proven = await isProven(req, form, reporter, site)
  if (!proven && (await isErasing(site, reporter))) return res.redirect(303, '/')
  if (!isChosen || !proven) {
    const faults = {
      ...(!isChosen && { 'how-keep': texts('ownAccount.erase.noChoice') }),
      ...(!proven && { now: texts('ownAccount.wrongProof') }),
    }
    return sendErase(req, res, site, reporter, { faults, how })
  }
  const begun = await beginErasure(site, reporter, how)
  if (begun === 'last-admin') {
    const faults = { 'how-keep': texts('ownAccount.erase.lastAdmin') }
    return sendErase(req, res, site, reporter, { faults, how })
  }
  await closeSession(req)
  setReporter(req, undefined)
  if (begun === 'begun') return res.redirect(303, '/')
  res.redirect(303, `/account/erased/${begun.token}`)
}

/** Whether another request has begun the erasure; a correct password then counts as wrong. */
async function isErasing({ pool }: Needs, { id }: Reporter): Promise<boolean> {
  return (await findAccount(pool, id))?.state === 'erasing'
}

async function sendErase(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  { faults, how }: { faults: Faults; how?: string | undefined },
): Promise<void> {
  sendPage(req, res, {
    view: 'pages/account/erase',
    title: visitOf(req).texts('ownAccount.erase.title'),
    status: Object.keys(faults).length > 0 ? 422 : 200,
    data: { faults, how, asksForCode: await asksForCode(site, reporter) },
  })
}
