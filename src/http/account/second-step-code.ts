import { Router, type Request, type Response } from 'express'
import { takeCode } from '../../intake/account/second-step.ts'
import { type Account, findAccount } from '../../db/reporters.ts'
import { passwordMarkOf } from '../../intake/credentials.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { closeSession, openSession, saveSession } from '../pages/session.ts'
import { localPath } from '../pages/sign-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { limitSignIn } from './limit-attempts.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'limits'> & FormReader

const TRIES_MAX = 5

/** The second step of signing in: a code of the device, or a recovery code. */
export function secondStepCodeRoutes(site: Needs): Router {
  const router = Router()
  router.get('/sign-in/code', async (req, res) => {
    if (visitOf(req).reporter) return res.redirect(303, localPath(req.query['next']))
    if (!(await awaited(req, site))) return res.redirect(303, '/sign-in?done=over')
    sendCode(req, res, undefined, localPath(req.query['next']))
  })
  router.post('/sign-in/code', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const awaiting = await awaited(req, site)
    const reporter = awaiting && (await findAccount(site.pool, awaiting.reporterId))
    if (!awaiting || !reporter || !stillCounts(reporter, awaiting.passwordMark)) {
      return res.redirect(303, '/sign-in?done=over')
    }
    await limitSignIn(req, site, reporter.email)
    const now = site.clock()
    const keys = { db: site.pool, secret: site.config.secret }
    const next = localPath(form.text('next'))
    if (await takeCode(keys, reporter.id, form.text('code') ?? '', now)) {
      await openSession(req, reporter, awaiting.isRemembered ? 'remembered' : 'passing', site)
      return res.redirect(303, next)
    }
    awaiting.tries += 1
    await saveSession(req)
    sendCode(req, res, visitOf(req).words.account.secondStep.wrong, next)
  })
  return router
}

/** Whether the account is open, with the password that was given. */
function stillCounts({ state, passwordHash }: Account, passwordMark: string): boolean {
  const isSame = passwordHash !== null && passwordMarkOf(passwordHash) === passwordMark
  return state === 'active' && isSame
}

/** Who has given the password a short while ago, and not too many wrong codes since. */
async function awaited(req: Request, site: Needs) {
  const { awaiting } = req.session
  if (!awaiting) return undefined
  const isOver = Date.parse(awaiting.until) < site.clock().getTime()
  if (!isOver && awaiting.tries < TRIES_MAX) return awaiting
  await closeSession(req)
  return undefined
}

function sendCode(req: Request, res: Response, fault: string | undefined, next: string): void {
  sendPage(req, res, {
    view: 'pages/account/code',
    title: visitOf(req).words.account.secondStep.title,
    status: fault === undefined ? 200 : 401,
    data: { next, faults: fault === undefined ? {} : { code: fault } },
  })
}
