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
import { type Form, type FormReader, readForm } from '../pages/form.ts'
import { type OwnCall, ownFormPage } from '../pages/form-page.ts'
import {
  KEPT_FORM_BYTES_MAX,
  type KeptForm,
  keptField,
  keptIn,
  sendKept,
} from '../pages/kept-form.ts'
import { localPath, qrCode, sendPage } from '../pages/render.ts'
import { closeSession, openSession, saveSession } from '../pages/session.ts'
import { limitSignIn } from '../pages/signed-in.ts'
import { setReporter, visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { isProven, proofFault } from './password.ts'

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'credentials' | 'limits'
> &
  FormReader

const page = '/account/second-step'

/** The page to turn two-step verification on and off. */
export function secondStepRoutes(site: Needs): Router {
  return ownFormPage(site, {
    at: page,
    view: 'pages/account/second-step',
    title: 'ownAccount.secondStep.title',
    async data({ req, texts, reporter }) {
      const isOn = (await findAccount(site.pool, reporter.id))?.hasTotp ?? false
      const setup = isOn ? undefined : secretInSetup(req, site, reporter)
      const described = setup && describeTotp(setup, reporter.email)
      const isNeeded = !isOn && req.query['for'] === 'role'
      const count = isOn ? await countRecoveryCodes(site.pool, reporter.id) : 0
      return {
        note: isNeeded ? texts('ownAccount.secondStep.needed') : undefined,
        isOn,
        asksForCode: isOn,
        left: isOn ? texts('ownAccount.secondStep.left', { count }) : undefined,
        setup: described && { text: described.text, picture: qrCode(described.uri) },
      }
    },
    async take(call) {
      const { req, form, reporter } = call
      if (form.text('do') === 'on') return takeFirstCode(call, site)
      if (await isProven(req, form, reporter, site)) return afterProof(call, site)
      return { faults: { now: proofFault(req) } }
    },
  })
}

type OwnForm = OwnCall & { form: Form }

async function afterProof({ req, form, reporter }: OwnForm, site: Needs) {
  const { id } = reporter
  const action = form.text('do')
  const account = await findAccount(site.pool, id)
  if (action === 'begin' && !account?.hasTotp) {
    const about = { purpose: 'second step', owner: id } as const
    const sealed = sealBytes(createTotpSecret(), about, site.config.secret)
    req.session.totpSetup = sealed.toString('base64')
    await saveSession(req)
    return {}
  }
  if (action === 'renew' && account?.hasTotp) return { codes: await renewRecoveryCodes(site, id) }
  if (action === 'off' && account?.hasTotp) await turnOffSecondStep(site, reporter)
  return page
}

async function takeFirstCode({ req, texts, form, reporter }: OwnForm, site: Needs) {
  const totpSecret = secretInSetup(req, site, reporter)
  const account = await findAccount(site.pool, reporter.id)
  if (!totpSecret || account?.hasTotp) return page
  const { handle: sessionHandle } = req.session
  const proof = { totpSecret, code: form.text('code') ?? '', sessionHandle }
  const codes = await turnOnSecondStep(site, reporter, proof)
  if (!codes) return { faults: { code: texts('ownAccount.secondStep.wrong') } }
  delete req.session.totpSetup
  await saveSession(req)
  return { codes }
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

type CodeNeeds = Pick<Site, 'pool' | 'clock' | 'config' | 'limits'> & FormReader

const TRIES_MAX = 5

/** The second step of signing in: a code from the device, or a recovery code. */
export function secondStepCodeRoutes(site: CodeNeeds): Router {
  const router = Router()
  router.get('/sign-in/code', async (req, res) => {
    if (visitOf(req).reporter) return res.redirect(303, localPath(req.query['next']))
    if (!(await awaited(req, site))) return res.redirect(303, '/sign-in?done=over')
    sendCode(req, res, { next: localPath(req.query['next']) })
  })
  router.post('/sign-in/code', async (req, res) => {
    const limits = { bytesMax: KEPT_FORM_BYTES_MAX, partBytesMax: KEPT_FORM_BYTES_MAX }
    const form = await readForm(req, res, site, limits)
    const kept = keptIn(form)
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
      if (kept) {
        setReporter(req, reporter)
        return sendKept(req, res, kept)
      }
      return res.redirect(303, next)
    }
    awaiting.tries += 1
    await saveSession(req)
    sendCode(req, res, { fault: visitOf(req).texts('account.secondStep.wrong'), next, kept })
  })
  return router
}

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

type CodePage = { fault?: string; next: string; kept?: KeptForm | undefined }

export function sendCode(req: Request, res: Response, { fault, next, kept }: CodePage): void {
  sendPage(req, res, {
    view: 'pages/account/code',
    title: visitOf(req).texts('account.secondStep.title'),
    status: fault === undefined ? 200 : 401,
    data: { next, kept: keptField(kept), faults: fault === undefined ? {} : { code: fault } },
  })
}
