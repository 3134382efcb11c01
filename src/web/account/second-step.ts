import { type Request, type Response, Router } from 'express'
import { type Account, findAccount, type Reporter } from '../../db/reporters.ts'
import { openBytes, sealBytes } from '../../db/sealed-bytes.ts'
import { countRecoveryCodes } from '../../db/sessions.ts'
import { passwordMarkOf } from '../../people/credentials.ts'
import {
  createTotpSecret,
  describeTotp,
  renewRecoveryCodes,
  takeCode,
  turnOffSecondStep,
  turnOnSecondStep,
} from '../../people/second-step.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { qrCode, sendPage } from '../pages/render.ts'
import { closeSession, openSession, saveSession } from '../pages/session.ts'
import { localPath } from '../pages/sign-in.ts'
import { limitSignIn, requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { isProven } from './password.ts'
import type { Faults } from './sign-up.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'credentials' | 'limits'
> &
  FormReader

const page = '/account/second-step'

/** The page to turn two-step verification on and off. */
export function secondStepRoutes(site: Needs): Router {
  const router = Router()
  router.get(page, (req, res) => sendSecondStep(req, res, site, requireReporter(req), {}))
  router.post(page, async (req, res) => {
    const form = await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    const action = form.text('do')
    if (action === 'on') return takeFirstCode(req, res, site, form, reporter)
    if (!(await isProven(req, form, reporter, site))) {
      const faults = { now: visitOf(req).texts('ownAccount.wrongProof') }
      return sendSecondStep(req, res, site, reporter, faults)
    }
    await afterProof(action, req, res, site, reporter)
  })
  return router
}

async function afterProof(
  action: string | undefined,
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
): Promise<void> {
  const { id } = reporter
  const account = await findAccount(site.pool, id)
  if (action === 'begin' && !account?.hasTotp) {
    const sealed = sealBytes(
      createTotpSecret(),
      { purpose: 'second step', owner: id },
      site.config.secret,
    )
    req.session.totpSetup = sealed.toString('base64')
    await saveSession(req)
    return sendSecondStep(req, res, site, reporter, {})
  }
  if (action === 'renew' && account?.hasTotp) {
    return sendSecondStep(req, res, site, reporter, {}, await renewRecoveryCodes(site, id))
  }
  if (action === 'off' && account?.hasTotp) await turnOffSecondStep(site, reporter)
  res.redirect(303, page)
}

async function takeFirstCode(
  req: Request,
  res: Response,
  site: Needs,
  form: Form,
  reporter: Reporter,
): Promise<void> {
  const totpSecret = secretInSetup(req, site, reporter)
  const account = await findAccount(site.pool, reporter.id)
  if (!totpSecret || account?.hasTotp) return res.redirect(303, page)
  const { handle: sessionHandle } = req.session
  const proof = { totpSecret, code: form.text('code') ?? '', sessionHandle }
  const codes = await turnOnSecondStep(site, reporter, proof)
  if (!codes) {
    const faults = { code: visitOf(req).texts('ownAccount.secondStep.wrong') }
    return sendSecondStep(req, res, site, reporter, faults)
  }
  delete req.session.totpSetup
  await saveSession(req)
  await sendSecondStep(req, res, site, reporter, {}, codes)
}

function secretInSetup(req: Request, site: Needs, { id }: Reporter): Buffer | undefined {
  const { totpSetup } = req.session
  if (totpSetup === undefined) return undefined
  return openBytes(
    Buffer.from(totpSetup, 'base64'),
    { purpose: 'second step', owner: id },
    site.config.secret,
  )
}

async function sendSecondStep(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  faults: Faults,
  codes?: readonly string[],
): Promise<void> {
  const { texts } = visitOf(req)
  const isOn = (await findAccount(site.pool, reporter.id))?.hasTotp ?? false
  const setup = isOn ? undefined : secretInSetup(req, site, reporter)
  const described = setup && describeTotp(setup, reporter.email)
  sendPage(req, res, {
    view: 'pages/account/second-step',
    title: texts('ownAccount.secondStep.title'),
    status: Object.keys(faults).length > 0 ? 422 : 200,
    data: {
      faults,
      note: isOn || req.query['for'] !== 'role' ? undefined : texts('ownAccount.secondStep.needed'),
      isOn,
      asksForCode: isOn,
      codes,
      left: isOn
        ? texts('ownAccount.secondStep.left', {
            count: await countRecoveryCodes(site.pool, reporter.id),
          })
        : undefined,
      setup: described && { text: described.text, picture: qrCode(described.uri) },
    },
  })
}

type CodeNeeds = Pick<Site, 'pool' | 'clock' | 'config' | 'limits'> & FormReader

const TRIES_MAX = 5

/** The second step of signing in: a code from the device, or a recovery code. */
export function secondStepCodeRoutes(site: CodeNeeds): Router {
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
    if (!awaiting || !reporter || !isStillValid(reporter, awaiting.passwordMark)) {
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
    sendCode(req, res, visitOf(req).texts('account.secondStep.wrong'), next)
  })
  return router
}

/** Whether the account is active and still has the password that was entered. */
function isStillValid({ state, passwordHash }: Account, passwordMark: string): boolean {
  const isSame = passwordHash !== null && passwordMarkOf(passwordHash) === passwordMark
  return state === 'active' && isSame
}

/**
 * Returns the account that waits for its second step, unless the password was entered too long ago
 * or too many codes were wrong.
 */
async function awaited(req: Request, site: CodeNeeds) {
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
    title: visitOf(req).texts('account.secondStep.title'),
    status: fault === undefined ? 200 : 401,
    data: { next, faults: fault === undefined ? {} : { code: fault } },
  })
}
