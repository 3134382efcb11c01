import type { Request, RequestHandler } from 'express'
import type { Action } from '../../actions.ts'
import { findAccount } from '../../db/reporters.ts'
import { includesRole, type Role, roles } from '../../roles.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'

/** What a form may do: an action, or a change without one, by the value of its field `do`. */
export type Permission = { role: Role; action?: Action }
export type Permissions = Readonly<Record<string, Permission>>

/** What each handler declares; the table of roles is made from it. */
const declared = new WeakMap<object, Permissions>()

/** Declares the roles that a handler of a form checks, by the value of the field `do`. */
export function declareRoles<Handler extends object>(
  handler: Handler,
  roles: Permissions,
): Handler {
  declared.set(handler, roles)
  return handler
}

export function declaredRoles(handler: object): Permissions | undefined {
  return declared.get(handler)
}

/** Passes on the requests of people whose role is at least this one. */
export function requireRole(site: Pick<Site, 'pool' | 'config'>, role: Role): RequestHandler {
  const check: RequestHandler = async (req, res, next) => {
    const lack = await findLack(req, site, role)
    if (!lack) return next()
    // Sent back to this page only if it can be loaded again.
    const back = req.method === 'GET' ? req.originalUrl : '/admin'
    const signIn = `/sign-in?for=role&next=${encodeURIComponent(back)}`
    res.redirect(303, lack === 'provider' ? signIn : '/account/second-step?for=role')
  }
  return declareRoles(check, { '': { role } })
}

/**
 * What is missing to use a role that the account has: a second step, or a sign-in at the provider
 * of the organization. Undefined if the visitor may use the role.
 *
 * @throws ProblemError if the account does not have the role
 */
async function findLack(
  req: Request,
  { pool, config }: Pick<Site, 'pool' | 'config'>,
  role: Role,
): Promise<'second step' | 'provider' | undefined> {
  const { reporter } = visitOf(req)
  if (includesRole(reporter?.role ?? null, role)) return undefined
  const { isSecondStepRequired, oidc } = config
  const mayLack = isSecondStepRequired || oidc !== undefined
  const account = reporter && mayLack ? await findAccount(pool, reporter.id) : undefined
  if (account && includesRole(account.role, role)) {
    return oidc && !oidc.localAccounts.includes(account.email) ? 'provider' : 'second step'
  }
  throw new ProblemError('not-allowed', `This needs the role “${role}”.`)
}

/** The lowest of the roles that a form declares. */
export function lowestRole(permissions: Permissions): Role {
  const named = Object.values(permissions).map(({ role }) => role)
  return roles.find((role) => named.includes(role)) ?? 'administrator'
}
