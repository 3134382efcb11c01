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
 * Holds back who tries many passwords or codes, by the name tried and the address it comes from. A
 * browser that somebody signed in with under this name before has attempts of its own.
 *
 * @throws ProblemError 429 when it is too often
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
 * Holds back who has us write many letters, or tries many links.
 *
 * @throws ProblemError 429 when it is too often
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
  // Express gives each request its answer.
  if (req.res) await admit(req, req.res, site, attempt, actor)
}

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

/**
 * Refuses forms that another site sends in a visitor's name. Browsers say where a request comes
 * from by Sec-Fetch-Site, older ones by Origin; who says neither is no browser and holds no
 * cookies of a victim.
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
