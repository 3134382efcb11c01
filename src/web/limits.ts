import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Attempt } from '../db/limits.ts'
import type { KeyRing } from '../key-ring.ts'
import { networkSet, type NetworkSet, parseIp, parseIpAndPort } from '../mail/ip.ts'
import type { Caller } from '../people/credentials.ts'
import { type Actor, actorKey, type LimitState } from '../people/limits.ts'
import { ProblemError } from './problem.ts'
import type { Site } from './site.ts'

/**
 * Returns the address of the client: the peer of the connection, or, if that is one of our proxies,
 * the last address in X-Forwarded-For or Forwarded (RFC 7239) that is not a proxy of ours. Earlier
 * addresses are untrusted. Undefined for a connection without an address.
 */
export function clientAddress(req: IncomingMessage, proxies: NetworkSet): string | undefined {
  let client = parseIp(req.socket.remoteAddress ?? '')
  if (!client || !proxies.has(client)) return client?.text
  for (const text of forwardedFor(req).reverse()) {
    const before = parseIpAndPort(text)
    // This entry is hidden or malformed, so the address of the client is unknown.
    if (!before) break
    client = before
    if (!proxies.has(client)) break
  }
  return client.text
}

const known = new WeakMap<readonly string[], NetworkSet>()

/** Returns the proxies of the settings as a set, cached per list. */
function proxiesOf(cidrs: readonly string[]): NetworkSet {
  return known.getOrInsertComputed(cidrs, networkSet)
}

/** Returns the forwarded addresses, with the entry of the nearest proxy last. */
function forwardedFor(req: IncomingMessage): string[] {
  const old = listOf(req.headers['x-forwarded-for'])
  if (old.length > 0) return old
  return listOf(req.headers.forwarded).map((element) => {
    const [, quoted, bare] = /(?:^|;)\s*for=(?:"([^"]*)"|([^;\s]*))/i.exec(element) ?? []
    return quoted ?? bare ?? ''
  })
}

function listOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  return text === '' ? [] : text.split(',').map((entry) => entry.trim())
}

type Needs = Pick<Site, 'limits' | 'config'>

/**
 * Counts an attempt of the client, identified by its address and the fields of `actor`, and sets
 * the rate limit headers. After `shadowed`, respond as usual, but hold the reports.
 *
 * @throws ProblemError 429 with Retry-After above the limit; the attempt is still counted
 */
export async function admit(
  req: IncomingMessage,
  res: ServerResponse,
  { limits, config }: Needs,
  attempt: Attempt,
  actor: Omit<Actor, 'address'>,
  cost = 1,
): Promise<'admitted' | 'shadowed'> {
  const address = clientAddress(req, proxiesOf(config.trustedProxies))
  const admission = await limits.admit(attempt, { ...actor, address }, cost)
  for (const [name, value] of limitFields(admission.limits)) res.setHeader(name, value)
  if (admission.is !== 'refused') return admission.is
  const { waitSeconds } = admission
  const detail = `Too many requests. Wait ${waitSeconds} seconds; attempts before that also count.`
  throw new ProblemError('too-often', detail, { 'retry-after': String(waitSeconds) })
}

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-10: every policy, and the state of the one
 * that will refuse first. Empty without limits.
 */
function limitFields(limits: readonly LimitState[]): [name: string, value: string][] {
  const [closest] = limits.toSorted(
    (one, other) => one.remaining - other.remaining || other.resetSeconds - one.resetSeconds,
  )
  if (!closest) return []
  const policies = limits.map(
    ({ name, attemptsMax, windowSeconds }) => `"${name}";q=${attemptsMax};w=${windowSeconds}`,
  )
  const { name, remaining, resetSeconds } = closest
  return [
    ['ratelimit-policy', policies.join(', ')],
    ['ratelimit', `"${name}";r=${remaining};t=${resetSeconds}`],
  ]
}

/**
 * Admits a number of reports by an authenticated reporter, like `admit`.
 *
 * @throws ProblemError 429
 */
export function admitReports(
  req: IncomingMessage,
  res: ServerResponse,
  site: Pick<Site, 'limits' | 'config'>,
  { id, tokenHash }: Pick<Caller, 'id' | 'tokenHash'>,
  count = 1,
): Promise<'admitted' | 'shadowed'> {
  return admit(req, res, site, 'report', { reporterId: id, tokenHash }, count)
}

/** Admits a number of reports that a provider sends for a mailbox user, like `admitReports`. */
export async function admitReportsFor(
  req: IncomingMessage,
  res: ServerResponse,
  site: Pick<Site, 'limits' | 'config'>,
  { userId, providerId }: { userId: string; providerId: string },
  count = 1,
): Promise<'admitted' | 'shadowed'> {
  // The user comes first: what is above the user's limit uses nothing of the provider's.
  const admission = await admit(req, res, site, 'mailbox-user', { reporterId: userId }, count)
  await admit(req, res, site, 'provider', { reporterId: providerId }, count)
  return admission
}

/**
 * Counts one verification of the password of the account with this name; rejects with a
 * ProblemError above the limit. If the password was correct, call the returned function.
 */
export type PasswordGuard = (name: string) => Promise<() => Promise<void>>

const guards = new WeakMap<IncomingMessage, PasswordGuard>()

/**
 * Lets `authenticateRequest` count the passwords in requests: wrong ones together with those of the
 * sign-in page, and every verification, because each costs processor time.
 */
export function guardPasswords(site: Pick<Site, 'limits' | 'config'>) {
  return (req: IncomingMessage, res: ServerResponse, next: () => void): void => {
    guards.set(req, async (name) => {
      await admit(req, res, site, 'sign-in', { name })
      await admit(req, res, site, 'password', { name })
      const address = clientAddress(req, proxiesOf(site.config.trustedProxies))
      return () => site.limits.giveBack('sign-in', { name, address })
    })
    next()
  }
}

/** Returns the password guard of a request; undefined if passwords are not counted. */
export function passwordGuard(req: IncomingMessage): PasswordGuard | undefined {
  return guards.get(req)
}

/**
 * Identifies a client: the peer, or the client of our proxies. IPv6 hosts change their addresses,
 * so they are identified by their network.
 */
export function askerOf(
  req: IncomingMessage,
  { trustedProxies }: { trustedProxies: readonly string[] },
): string {
  const address = clientAddress(req, proxiesOf(trustedProxies))
  return actorKey('address', { address }) ?? 'unknown'
}

/**
 * Returns the identity of a client (see `askerOf`) as a keyed hash, which cannot be reversed
 * without the secret.
 */
export function askerHash(
  req: IncomingMessage,
  config: { trustedProxies: readonly string[]; secret: KeyRing },
): Buffer {
  return createHmac('sha256', config.secret.key('asker'))
    .update(`asker ${askerOf(req, config)}`)
    .digest()
}
