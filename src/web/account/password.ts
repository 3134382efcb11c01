import { type Request, type Response, Router } from 'express'
import { shownLine } from '../../mail/text.ts'
import { findAccountLink } from '../../db/accounts.ts'
import { findAccount, type Reporter } from '../../db/reporters.ts'
import { askToMove, linkHash } from '../../letters/account-letters.ts'
import { changeEmail, changePassword } from '../../people/accounts.ts'
import { takeCode } from '../../people/second-step.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { limitAsking, limitSignIn, requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { sendBadLink } from './choose-password.ts'
import { addressOf, type Faults, letterLanguageOf, newPasswordOf, sendWritten } from './sign-up.ts'

type ProofNeeds = Pick<Site, 'pool' | 'clock' | 'config' | 'credentials' | 'limits'>

/**
 * Verifies the account owner by the password, and by a code if two-step verification is on. This is
 * required before irreversible actions.
 */
export async function isProven(
  req: Request,
  form: Form,
  reporter: Reporter,
  site: ProofNeeds,
): Promise<boolean> {
  await limitSignIn(req, site, reporter.email)
  const password = form.bytes('now')?.toString('utf8') ?? ''
  const caller = await site.credentials.byPasswordNow(reporter.email, password)
  if (caller?.id !== reporter.id) return false
  if (!caller.hasTotp) return true
  const keys = { db: site.pool, secret: site.config.secret }
  return takeCode(keys, reporter.id, form.text('now_code') ?? '', site.clock())
}

/** Whether a form must also ask for a code. */
export async function asksForCode({ pool }: ProofNeeds, { id }: Reporter): Promise<boolean> {
  return (await findAccount(pool, id))?.hasTotp ?? false
}

type Needs = Pick<
  Site,
  'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'credentials' | 'limits'
> &
  FormReader

/** The page to change the password or address, which sends a link to confirm a new address. */
export function passwordRoutes(site: Needs): Router {
  const router = Router()
  router.get('/account/password', (req, res) =>
    sendPassword(req, res, site, requireReporter(req), {}),
  )
  router.post('/account/password', async (req, res) => {
    const form = await readShortForm(req, res, site)
    await takeNewPassword(req, res, site, form, requireReporter(req))
  })
  router.post('/account/address', async (req, res) => {
    const form = await readShortForm(req, res, site)
    await takeNewAddress(req, res, site, form, requireReporter(req))
  })
  router.use(moveRoutes(site))
  return router
}

/**
 * The page behind the link sent to the new address. Only the account that requested it may use it.
 */
function moveRoutes(site: Needs): Router {
  const router = Router()
  router.get('/account/move/:token', async (req, res) => {
    const reporter = requireReporter(req)
    const link = await findAccountLink(site.pool, 'move', linkHash(req.params.token), site.clock())
    if (link?.reporterId !== reporter.id) return sendBadLink(req, res, '/account/password')
    const { texts } = visitOf(req)
    sendPage(req, res, {
      view: 'pages/account/move',
      title: texts('account.move.title'),
      data: { lead: texts('account.move.lead', { address: shownLine(link.address) }) },
    })
  })
  router.post('/account/move/:token', async (req, res) => {
    await readShortForm(req, res, site)
    const reporter = requireReporter(req)
    const isChanged = await changeEmail(site, reporter, req.params.token)
    if (!isChanged) return sendBadLink(req, res, '/account/password')
    res.redirect(303, '/account/password?done=moved')
  })
  return router
}

async function takeNewPassword(
  req: Request,
  res: Response,
  site: Needs,
  form: Form,
  reporter: Reporter,
): Promise<void> {
  const chosen = await newPasswordOf(req, form, reporter.email)
  const proven = await isProven(req, form, reporter, site)
  const { texts } = visitOf(req)
  if (!proven || 'fault' in chosen) {
    const faults = {
      ...(!proven && { now: texts('ownAccount.wrongProof') }),
      ...('fault' in chosen && { password: chosen.fault }),
    }
    return sendPassword(req, res, site, reporter, faults)
  }
  const { password } = chosen
  await changePassword(site, reporter, { password, sessionHandle: req.session.handle })
  res.redirect(303, '/account/password?done=changed')
}

async function takeNewAddress(
  req: Request,
  res: Response,
  site: Needs,
  form: Form,
  reporter: Reporter,
): Promise<void> {
  const { texts } = visitOf(req)
  const address = addressOf(form, 'email')
  const proven = await isProven(req, form, reporter, site)
  if (address === undefined || !proven) {
    const faults = {
      ...(address === undefined && { email: texts('account.badEmail') }),
      ...(!proven && { now_address: texts('ownAccount.wrongProof') }),
    }
    return sendPassword(req, res, site, reporter, faults, form.text('email'))
  }
  await limitAsking(req, site, 'reset', address)
  const language = letterLanguageOf(visitOf(req).language)
  await askToMove(reporter, { address, language }, site)
  sendWritten(req, res, address)
}

async function sendPassword(
  req: Request,
  res: Response,
  site: Needs,
  reporter: Reporter,
  faults: Faults,
  email = '',
): Promise<void> {
  const { texts } = visitOf(req)
  const notes: Record<string, string> = {
    changed: texts('ownAccount.password.done'),
    moved: texts('ownAccount.password.moved'),
  }
  sendPage(req, res, {
    view: 'pages/account/password',
    title: texts('ownAccount.password.title'),
    status: Object.keys(faults).length > 0 ? 422 : 200,
    data: {
      faults,
      email,
      note: notes[String(req.query['done'])],
      address: texts('ownAccount.password.address', { address: shownLine(reporter.email) }),
      asksForCode: await asksForCode(site, reporter),
    },
  })
}
