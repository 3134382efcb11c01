import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import { shownLine } from '../../mail/text.ts'
import { isLanguage } from '../../texts/choose-language.ts'
import type { Language } from '../../texts/messages.ts'
import { askForAccount, askOnTrial } from '../../letters/account-letters.ts'
import { passwordFault } from '../../people/accounts.ts'
import type { Form, FormReader } from '../pages/form.ts'
import { formPage, type PageCall } from '../pages/form-page.ts'
import { sendPage } from '../pages/render.ts'
import { limitAsking } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'

const ADDRESS_CHARS_MAX = 254
/** Addresses that we accept for letters; stricter than the standard. */
const writable = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,189}$/

/** Returns the mail address in a field in lower case; undefined for anything else. */
export function addressOf(form: Form, name: string): string | undefined {
  const text = form.text(name) ?? ''
  const isAddress = z.email().safeParse(text).success && writable.test(text)
  return isAddress && text.length <= ADDRESS_CHARS_MAX ? text.toLowerCase() : undefined
}

/** Returns a new password unchanged, or the error in it. */
export async function newPasswordOf(
  req: Request,
  form: Form,
  email: string,
): Promise<{ password: string } | { fault: string }> {
  const password = form.bytes('password')?.toString('utf8') ?? ''
  const fault = await passwordFault(password, email)
  if (!fault) return { password }
  return { fault: visitOf(req).texts(`account.passwordFaults.${fault}`) }
}

/** Returns a language in which letters are available; English by default. */
export function letterLanguageOf(value: unknown): Language {
  return isLanguage(value) ? value : 'en'
}

/**
 * The version of the privacy notice in all languages: a date. Change it whenever the notice
 * promises something new; it is stored with each consent.
 */
const consentVersion = '2026-11-30'

const privacySections = ['kept', 'duration', 'told', 'rights', 'cookies'] as const

/** The privacy notice, to which users consent. */
export function privacyRoutes({ config }: Pick<Site, 'config'>): Router {
  const router = Router()
  router.get('/privacy', (req, res) => {
    const { texts } = visitOf(req)
    const days = config.retentionDays
    sendPage(req, res, {
      view: 'pages/account/privacy',
      title: texts('privacy.title'),
      data: {
        version: consentVersion,
        operator: config.operatorName,
        contact: config.operatorContact,
        sections: privacySections.map((section) => ({
          title: texts(`privacy.${section}.title`),
          lines: texts(`privacy.${section}.lines`, { days }),
        })),
      },
    })
  })
  return router
}

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'publicUrl' | 'limits' | 'isTrial'> &
  FormReader

/**
 * The sign-up page. The response does not reveal whether the address has an account. The password
 * is chosen behind the mailed link, so nobody can create an account for another person and know its
 * password.
 */
export function signUpRoutes(site: Needs): Router {
  const { config } = site
  const router = Router()
  router.get('/sign-up', (req, res, next) =>
    visitOf(req).reporter ? res.redirect(303, '/report') : next(),
  )
  router.use(
    formPage(site, {
      at: '/sign-up',
      view: 'pages/account/sign-up',
      title: 'account.signUp.title',
      data: ({ texts, language }) => ({
        ...(!config.signUpIsOpen && { status: 403 }),
        isOpen: config.signUpIsOpen,
        email: '',
        chosen: language,
        consent: texts('account.signUp.consent', { days: config.retentionDays }),
      }),
      take: (call) => takeSignUp(call, site),
    }),
  )
  return router
}

async function takeSignUp({ req, res, texts, form }: PageCall & { form: Form }, site: Needs) {
  if (!site.config.signUpIsOpen) return {}
  const address = addressOf(form, 'email')
  const faults = {
    ...(address === undefined && { email: texts('account.badEmail') }),
    ...(form.text('agree') !== 'yes' && { agree: texts('account.signUp.agreeMissing') }),
  }
  const language = letterLanguageOf(form.text('language'))
  if (address === undefined || Object.keys(faults).length > 0) {
    return { faults, email: form.text('email') ?? '', chosen: language }
  }
  await limitAsking(req, site, 'sign-up', address)
  const asked = { address, language, consent: consentVersion }
  // Nobody else can reach the instance, and no letter leaves it.
  const isTrial = site.isTrial(req)
  if (!isTrial) await askForAccount(asked, site)
  sendWritten(req, res, address, isTrial ? await askOnTrial(asked, site) : undefined)
  return undefined
}

/**
 * Sends the page that announces a letter, whichever letter it is. `shownLink`: the link that the
 * letter would contain, on a trial instance.
 */
export function sendWritten(
  req: Request,
  res: Response,
  address: string,
  shownLink?: string,
): void {
  const { texts } = visitOf(req)
  sendPage(req, res, {
    view: 'pages/account/written',
    title: texts('account.written.title'),
    data: { lead: texts('account.written.lead', { address: shownLine(address) }), shownLink },
  })
}
