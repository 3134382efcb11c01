import type { IncomingMessage } from 'node:http'
import type { TokenScope } from '../db/sessions.ts'
import type { Caller, Credentials } from '../people/credentials.ts'
import { includesRole, type Role, roles } from '../roles.ts'
import { passwordGuard, type PasswordGuard } from './limits.ts'
import { ProblemError } from './problem.ts'

/** The supported authentication schemes (RFC 9110 §11). */
export type Scheme = 'bearer' | 'basic'

const challenges: Record<Scheme, string> = {
  bearer: 'Bearer realm="Signalpost"',
  basic: 'Basic realm="Signalpost", charset="UTF-8"',
}

/**
 * Authenticates a request by bearer token (RFC 6750) or Basic credentials (RFC 7617). A token is
 * also accepted as the Basic password, for clients without bearer support. `need` is the scope or
 * the role that the credentials must have; `any` accepts every token. A password has all scopes and
 * the role of its account.
 *
 * @throws ProblemError 401 with a challenge, identical whether or not the account exists, and 403
 * if the credentials are valid but lack the scope or the role
 */
export async function authenticateRequest(
  req: IncomingMessage,
  credentials: Credentials,
  schemes: readonly Scheme[],
  need: TokenScope | Role | 'any',
): Promise<Caller> {
  const given = req.headers.authorization
  if (given === undefined) {
    throw refusal(
      schemes,
      `Send ${schemes.map(schemeText).join(' or ')} in the Authorization header.`,
    )
  }
  const space = given.indexOf(' ')
  const scheme = given.slice(0, space).toLowerCase()
  const value = given.slice(space + 1).trim()
  const caller =
    scheme === 'bearer' && schemes.includes('bearer')
      ? await credentials.byToken(value)
      : scheme === 'basic' && schemes.includes('basic')
        ? await byBasic(value, credentials, passwordGuard(req))
        : undefined
  if (!caller) throw refusal(schemes, 'These credentials are not valid.')
  if (isRole(need)) requireRole(caller, need)
  else if (need !== 'any' && !caller.scopes.includes(need)) throw outOfScope(need)
  if (caller.hasTotp) throw needsToken()
  return caller
}

function isRole(need: string): need is Role {
  return roles.some((role) => role === need)
}

function requireRole({ role }: Caller, need: Role): void {
  if (includesRole(role, need)) return
  throw new ProblemError('not-allowed', `These credentials do not have the role "${need}".`)
}

async function byBasic(
  value: string,
  credentials: Credentials,
  guard: PasswordGuard | undefined,
): Promise<Caller | undefined> {
  const text = decoded(Buffer.from(value, 'base64'))
  const colon = text.indexOf(':')
  if (colon < 0) return undefined
  const [email, password] = [text.slice(0, colon), text.slice(colon + 1)]
  const before = async () => guard?.(email)
  if (!password.startsWith('sp_')) return credentials.byPassword(email, password, before)
  const owner = await credentials.byToken(password)
  if (owner && (email === '' || email.toLowerCase() === owner.email)) return owner
  return credentials.byPassword(email, password, before)
}

/**
 * Decodes UTF-8, or Latin-1 if the bytes are not valid UTF-8, because old clients use the encoding
 * of their system.
 */
function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

function refusal(schemes: readonly Scheme[], detail: string): ProblemError {
  const challenge = schemes.map((scheme) => challenges[scheme]).join(', ')
  return new ProblemError('sign-in-needed', detail, { 'www-authenticate': challenge })
}

/**
 * The error for a password without a second factor: with two-step verification on, programs need a
 * token.
 */
function needsToken(): ProblemError {
  const detail =
    'This account uses two-step verification, so its password does not work for the API. ' +
    'Create a token in your settings and use it instead of the password.'
  return new ProblemError('not-allowed', detail)
}

/** The error for a missing scope (RFC 6750 §3.1). */
function outOfScope(scope: TokenScope): ProblemError {
  const challenge = `${challenges.bearer}, error="insufficient_scope", scope="${scope}"`
  return new ProblemError('not-allowed', `This token does not have the scope "${scope}".`, {
    'www-authenticate': challenge,
  })
}

function schemeText(scheme: Scheme): string {
  return scheme === 'bearer' ? 'a bearer token' : 'Basic credentials'
}
