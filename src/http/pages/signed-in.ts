import type { Request, Response } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import type { PasswordCaller } from '../../intake/credentials.ts'
import { limitSignIn } from '../account/limit-attempts.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { Form } from './form.ts'
import { openSession, type SessionLife } from './session.ts'
import { setReporter, visitOf } from './visit.ts'

type Needs = Pick<Site, 'credentials' | 'clock' | 'limits' | 'config'>

/** Sends who is not signed in to the sign-in page, which leads back here. */
export function requireReporter(req: Request, res: Response): Reporter | undefined {
  const { reporter } = visitOf(req)
  if (!reporter) res.redirect(303, `/sign-in?next=${encodeURIComponent(req.originalUrl)}`)
  return reporter
}

/** Who the fields of a form say they are, by their password; undefined when it is not right. */
export async function takePassword(
  req: Request,
  form: Form,
  site: Needs,
): Promise<(PasswordCaller & { life: SessionLife }) | undefined> {
  const email = form.text('user[email_or_login]')
  const password = form.bytes('user[password]')?.toString('utf8')
  if (!email || !password) return undefined
  await limitSignIn(req, site, email)
  const caller = await site.credentials.byPasswordNow(email, password)
  const isRemembered = form.texts('user[remember_me]').includes('1')
  return caller && { ...caller, life: isRemembered ? 'remembered' : 'passing' }
}

/**
 * Signs in by the fields of a form; undefined when they are absent or not right.
 *
 * @throws ProblemError for an account with a second step: this form has no place for a code
 */
export async function signIn(req: Request, form: Form, site: Needs): Promise<Reporter | undefined> {
  const caller = await takePassword(req, form, site)
  if (!caller) return undefined
  if (caller.hasTotp) {
    throw new ProblemError('not-allowed', 'Sign in first: your account needs a code too.')
  }
  const { id, email, isAdmin } = caller
  await openSession(req, caller, caller.life, site)
  setReporter(req, { id, email, isAdmin })
  return { id, email, isAdmin }
}
