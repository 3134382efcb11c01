import { type Request, type Response, Router } from 'express'
import { z } from 'zod'
import type { LetterLanguage } from '../../texts/letters.ts'
import { askForAccount } from '../../letters/account-letters.ts'
import { passwordFault } from '../../people/accounts.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { sendPage, shownLine } from '../pages/render.ts'
import { limitAsking } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { Site } from '../site.ts'

/** What is wrong with which field, in words. */
export type Faults = Record<string, string>

const ADDRESS_CHARS_MAX = 254
/** What a letter can be written to; more may be valid, and is not ours to guess. */
const writable = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,189}$/

/** The mail address of a field in lower case; undefined when it is none. */
export function addressOf(form: Form, name: string): string | undefined {
  const text = form.text(name) ?? ''
  const isAddress = z.email().safeParse(text).success && writable.test(text)
  return isAddress && text.length <= ADDRESS_CHARS_MAX ? text.toLowerCase() : undefined
}

/** A new password, to the byte, or what is wrong with it. */
export async function newPasswordOf(
  req: Request,
  form: Form,
  email: string,
): Promise<{ password: string } | { fault: string }> {
  const password = form.bytes('password')?.toString('utf8') ?? ''
  const fault = await passwordFault(password, email)
  if (!fault) return { password }
  return { fault: visitOf(req).words.account.passwordFaults[fault] }
}

/** One of the languages that letters are written in. */
export function letterLanguageOf(value: unknown): LetterLanguage {
  return value === 'fr' || value === 'ru' ? value : 'en'
}

/** Puts what it is about into a sentence of a catalog. */
export function filled(sentence: string, what: Record<string, string>): string {
  return sentence.replace(/\{(\w+)\}/g, (hole, name: string) => what[name] ?? hole)
}

/**
 * The version of the text on privacy, in all languages: a day. Whoever changes what it promises
 * changes this too; it is kept with each consent.
 */
const consentVersion = '2026-11-22'

/** What we keep, for how long, whom we tell: the text to which people agree. */
export function privacyRoutes({ config }: Pick<Site, 'config'>): Router {
  const router = Router()
  router.get('/privacy', (req, res) => {
    const { privacy } = visitOf(req).words
    const days = String(config.retentionDays)
    sendPage(req, res, {
      view: 'pages/account/privacy',
      title: privacy.title,
      data: {
        version: consentVersion,
        operator: config.operatorName,
        contact: config.operatorContact,
        sections: privacy.sections.map(({ title, lines }) => ({
          title,
          lines: lines.map((line) => filled(line, { days })),
        })),
      },
    })
  })
  return router
}

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
