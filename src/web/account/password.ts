import { type Request, Router } from 'express'
import { shownLine } from '../../mail/text.ts'
import { findAccountLink } from '../../db/accounts.ts'
import { findAccount, type Reporter } from '../../db/reporters.ts'
import { askToMove, linkHash } from '../../letters/account-letters.ts'
import { changeEmail, changePassword } from '../../people/accounts.ts'
import { takeCode } from '../../people/second-step.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { type OwnCall, ownFormPage } from '../pages/form-page.ts'
import { sendPage } from '../pages/render.ts'
import { limitAsking, limitSignIn, requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'
import { sendBadLink } from './choose-password.ts'
import { addressOf, letterLanguageOf, newPasswordOf, sendWritten } from './sign-up.ts'

type ProofNeeds = Pick<Site, 'pool' | 'clock' | 'config' | 'credentials' | 'limits'>

/**
 * Verifies the account owner by the password, and by a code if two-step verification is on. This is
 * required before irreversible actions. A person who signed in at the provider of the organization
 * must have done so again within the last minutes.
 */
export async function isProven(
  req: Request,
  form: Form,
  reporter: Reporter,
  site: ProofNeeds,
): Promise<boolean> {
  const { atProvider } = visitOf(req)
  if (atProvider) return atProvider.isFresh
  await limitSignIn(req, site, reporter.email)
  const password = form.bytes('now')?.toString('utf8') ?? ''
  const caller = await site.credentials.byPasswordNow(reporter.email, password)
  if (caller?.id !== reporter.id) return false
  if (!caller.hasTotp) return true
  const keys = { db: site.pool, secret: site.config.secret }
  return takeCode(keys, reporter.id, form.text('now_code') ?? '', site.clock())
}

/** What to say after `isProven` was false. */
export function proofFault(req: Request): string {
  const { texts, atProvider } = visitOf(req)
  if (!atProvider) return texts('ownAccount.wrongProof')
  return texts('organization.notConfirmed', { name: atProvider.name })
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
  router.use(
    ownFormPage(site, {
      at: '/account/password',
      view: 'pages/account/password',
      title: 'ownAccount.password.title',
      async data({ req, texts, reporter }) {
        const notes: Record<string, string> = {
          changed: texts('ownAccount.password.done'),
          moved: texts('ownAccount.password.moved'),
        }
        return {
          email: '',
          note: notes[String(req.query['done'])],
          address: texts('ownAccount.password.address', { address: shownLine(reporter.email) }),
          asksForCode: await asksForCode(site, reporter),
        }
      },
      take: (call) => takeNewPassword(call, site),
      others: { '/account/address': (call) => takeNewAddress(call, site) },
    }),
    moveRoutes(site),
  )
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

type OwnForm = OwnCall & { form: Form }

async function takeNewPassword({ req, form, reporter }: OwnForm, site: Needs) {
  const chosen = await newPasswordOf(req, form, reporter.email)
  const proven = await isProven(req, form, reporter, site)
  if (!proven || 'fault' in chosen) {
    const faults = {
      ...(!proven && { now: proofFault(req) }),
      ...('fault' in chosen && { password: chosen.fault }),
    }
    return { faults }
  }
  const { password } = chosen
  await changePassword(site, reporter, { password, sessionHandle: req.session.handle })
  return '/account/password?done=changed'
}

async function takeNewAddress(call: OwnForm, site: Needs) {
  const { req, res, texts, form, reporter } = call
  const address = addressOf(form, 'email')
  const proven = await isProven(req, form, reporter, site)
  if (address === undefined || !proven) {
    const faults = {
      ...(address === undefined && { email: texts('account.badEmail') }),
      ...(!proven && { now_address: proofFault(req) }),
    }
    return { faults, email: form.text('email') }
  }
  await limitAsking(req, site, 'reset', address)
  const language = letterLanguageOf(call.language)
  await askToMove(reporter, { address, language }, site)
  sendWritten(req, res, address)
  return undefined
}
