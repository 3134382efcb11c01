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
    if (await mayUse(req, site, role)) return next()
    // Sent back to this page only if it can be loaded again.
    res.redirect(303, '/account/second-step?for=role')
  }
  return declareRoles(check, { '': { role } })
}

/**
 * Whether the visitor has the role. False if only the second step of the account is missing.
 *
 * @throws ProblemError if the visitor does not have the role
 */
async function mayUse(
  req: Request,
  { pool, config }: Pick<Site, 'pool' | 'config'>,
  role: Role,
): Promise<boolean> {
  const { reporter } = visitOf(req)
  if (includesRole(reporter?.role ?? null, role)) return true
  const account =
    reporter && config.isSecondStepRequired ? await findAccount(pool, reporter.id) : undefined
  if (account && includesRole(account.role, role)) return false
  throw new ProblemError('not-allowed', `This needs the role “${role}”.`)
}

/** The lowest of the roles that a form declares. */
export function lowestRole(permissions: Permissions): Role {
  const named = Object.values(permissions).map(({ role }) => role)
  return roles.find((role) => named.includes(role)) ?? 'administrator'
}
