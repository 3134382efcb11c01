import { Router } from 'express'
import { findErasureByToken } from '../../db/erasures.ts'
import { findAccount, type Reporter } from '../../db/reporters.ts'
import { beginErasure, erasureHash } from '../../reports/erase-account.ts'
import type { Form, FormReader } from '../pages/form.ts'
import { type OwnCall, ownFormPage } from '../pages/form-page.ts'
import { sendPage } from '../pages/render.ts'
import { closeSession } from '../pages/session.ts'
import { setReporter, visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { asksForCode, isProven, proofFault } from './password.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'credentials' | 'limits'> &
  FormReader

export function eraseRoutes(site: Needs): Router {
  const router = Router()
  router.use(
    ownFormPage(site, {
      at: '/account/erase',
      view: 'pages/account/erase',
      title: 'ownAccount.erase.title',
      data: async ({ reporter }) => ({ asksForCode: await asksForCode(site, reporter) }),
      take: (call) => erase(call, site),
    }),
  )
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

async function erase({ req, texts, form, reporter }: OwnCall & { form: Form }, site: Needs) {
  const how = form.text('how')
  const isChosen = how === 'keep' || how === 'remove'
  const proven = await isProven(req, form, reporter, site)
  if (!proven && (await isErasing(site, reporter))) return '/'
  if (!isChosen || !proven) {
    const faults = {
      ...(!isChosen && { 'how-keep': texts('ownAccount.erase.noChoice') }),
      ...(!proven && { now: proofFault(req) }),
    }
    return { faults, how }
  }
  const begun = await beginErasure(site, reporter, how)
  if (begun === 'last-admin') {
    return { faults: { 'how-keep': texts('ownAccount.erase.lastAdmin') }, how }
  }
  await closeSession(req)
  setReporter(req, undefined)
  return begun === 'begun' ? '/' : `/account/erased/${begun.token}`
}

/** Whether another request has begun the erasure; a correct password then counts as wrong. */
async function isErasing({ pool }: Needs, { id }: Reporter): Promise<boolean> {
  return (await findAccount(pool, id))?.state === 'erasing'
}
