import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Attempt } from '../../db/rate-limits.ts'
import type { Actor } from '../../intake/limits/actor.ts'
import type { LimitState } from '../../intake/limits/window.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { clientAddress, proxiesOf } from './client-address.ts'

type Needs = Pick<Site, 'limits' | 'config'>

/**
 * Counts an attempt of whoever sends this request and tells the client its limits. The address is
 * added to the actor here. `shadowed`: answer as usual, and hold the reports.
 *
 * @throws ProblemError 429 with Retry-After when it is too often; the attempt counts all the same
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
  const detail = `That is too often. Wait ${waitSeconds} seconds; trying meanwhile counts too.`
  throw new ProblemError('too-often', detail, { 'retry-after': String(waitSeconds) })
}

/**
 * The fields of draft-ietf-httpapi-ratelimit-headers-10: every policy, and the state of the one
 * that will refuse first. Empty where nothing is limited.
 */
export function limitFields(limits: readonly LimitState[]): [name: string, value: string][] {
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
