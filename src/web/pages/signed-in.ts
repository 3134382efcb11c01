import type { NextFunction, Request, Response } from 'express'
import type { Attempt } from '../../db/limits.ts'
import type { Reporter } from '../../db/reporters.ts'
import type { PasswordCaller } from '../../people/credentials.ts'
import type { Actor } from '../../people/limits.ts'
import { admit } from '../limits.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { Form } from './form.ts'
import { knownDevice, openSession, type SessionLife } from './session.ts'
import { setReporter, visitOf } from './visit.ts'

type AttemptNeeds = Pick<Site, 'limits' | 'config'>

/**
 * Limits attempts with passwords or codes, by the entered name and the client's address. A browser
 * that was used to sign in under this name before has a separate limit.
 *
 * @throws ProblemError 429 above the limit
 */
export async function limitSignIn(
  req: Request,
  site: AttemptNeeds & Pick<Site, 'clock'>,
  name: string,
): Promise<void> {
  const device = knownDevice(req, name, site)
  if (device === undefined) return limited(req, site, 'sign-in', { name })
  await limited(req, site, 'sign-in-device', { device })
}

/**
 * Limits requests that make us send letters, and attempts with links.
 *
 * @throws ProblemError 429 above the limit
 */
export async function limitAsking(
  req: Request,
  site: AttemptNeeds,
  attempt: 'sign-up' | 'reset' | 'confirm' | 'enroll',
  name?: string,
): Promise<void> {
  await limited(req, site, attempt, { name })
}

async function limited(
  req: Request,
  site: AttemptNeeds,
  attempt: Attempt,
  actor: Pick<Actor, 'name' | 'device'>,
): Promise<void> {
  // Always true, because Express sets the response of every request.
  if (req.res) await admit(req, req.res, site, attempt, actor)
}

type Needs = Pick<Site, 'credentials' | 'clock' | 'limits' | 'config' | 'outage'>

/** Leads the visitor to the sign-in page, which leads back to the page of the request. */
export class SignInNeeded extends Error {
  override name = 'SignInNeeded'
}

/** @throws SignInNeeded if the visitor is not signed in */
export function requireReporter(req: Request): Reporter {
  const { reporter } = visitOf(req)
  if (!reporter) throw new SignInNeeded()
  return reporter
}

/** Verifies the name and password in a form; undefined if they are wrong. */
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
 * Signs in with the fields of a form; undefined if they are absent or wrong.
 *
 * @throws ProblemError for an account with two-step verification, because this form has no code
 * field
 */
export async function signIn(req: Request, form: Form, site: Needs): Promise<Reporter | undefined> {
  const caller = await takePassword(req, form, site)
  if (!caller) return undefined
  if (caller.hasTotp) {
    throw new ProblemError('not-allowed', 'Sign in first. Your account also needs a code.')
  }
  const { id, email, role } = caller
  // While the database is away, the password counts for this request only.
  await site.outage.run(
    async () => {
      await openSession(req, caller, caller.life, site)
      setReporter(req, { id, email, role })
    },
    () => undefined,
  )
  return { id, email, role }
}

/**
 * Refuses forms that another site submits on behalf of a visitor. Browsers send the origin of a
 * request in Sec-Fetch-Site, older ones in Origin. A client that sends neither is not a browser and
 * has no cookies of a visitor.
 */
export function sameOrigin(publicUrl: string) {
  const ownHost = new URL(publicUrl).host
  return (req: Request, _res: Response, next: NextFunction): void => {
    if (req.method === 'GET' || req.method === 'HEAD' || isOwn(req, ownHost)) return next()
    throw new ProblemError('not-allowed', 'This form was sent from another site.')
  }
}

function isOwn(req: Request, ownHost: string): boolean {
  const site = req.headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  const { origin, host } = req.headers
  if (origin === undefined) return true
  const from = URL.canParse(origin) ? new URL(origin).host : undefined
  return from !== undefined && (from === ownHost || from === host)
}
