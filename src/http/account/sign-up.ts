import { Router, type Request, type Response } from 'express'
import { askForAccount } from '../../letters/account/owe-account-letter.ts'
import { type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import { shownLine } from '../shown-text.ts'
import type { Site } from '../site.ts'
import { addressOf, type Faults, filled, letterLanguageOf } from './account-form.ts'
import { limitAsking } from './limit-attempts.ts'
import { consentVersion } from './privacy.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'limits'> & FormReader

/**
 * Asking for an account. The answer is the same whether or not the address has one; the password is
 * chosen behind the link, so nobody can make one for somebody else and know how to open it.
 */
export function signUpRoutes(site: Needs): Router {
  const router = Router()
  router.get('/sign-up', (req, res) => {
    if (visitOf(req).reporter) return res.redirect(303, '/report')
    sendSignUp(req, res, site, {})
  })
  router.post('/sign-up', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const { words } = visitOf(req)
    if (!site.config.signUpIsOpen) return sendSignUp(req, res, site, {})
    const address = addressOf(form, 'email')
    const faults: Faults = {
      ...(address === undefined && { email: words.account.badEmail }),
      ...(form.text('agree') !== 'yes' && { agree: words.account.signUp.agreeMissing }),
    }
    const language = letterLanguageOf(form.text('language'))
    if (address === undefined || Object.keys(faults).length > 0) {
      return sendSignUp(req, res, site, { faults, email: form.text('email') ?? '', language })
    }
    await limitAsking(req, site, 'sign-up', address)
    await askForAccount({ address, language, consent: consentVersion }, site)
    sendWritten(req, res, address)
  })
  return router
}

/** Says that a letter is on its way, whatever stands in it. */
export function sendWritten(req: Request, res: Response, address: string): void {
  const { written } = visitOf(req).words.account
  sendPage(req, res, {
    view: 'pages/account/written',
    title: written.title,
    data: { lead: filled(written.lead, { address: shownLine(address) }) },
  })
}

function sendSignUp(
  req: Request,
  res: Response,
  { config }: Needs,
  given: { faults?: Faults; email?: string; language?: string },
): void {
  const { words, language } = visitOf(req)
  const { signUp } = words.account
  const faults = given.faults ?? {}
  const status = Object.keys(faults).length > 0 ? 422 : config.signUpIsOpen ? 200 : 403
  sendPage(req, res, {
    view: 'pages/account/sign-up',
    title: signUp.title,
    status,
    data: {
      isOpen: config.signUpIsOpen,
      faults,
      email: given.email ?? '',
      chosen: given.language ?? language,
      consent: signUp.consent.map((line) => filled(line, { days: String(config.retentionDays) })),
    },
  })
}
