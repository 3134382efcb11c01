import type { Clock } from '../../world.ts'
import { getJson, type JsonAnswer, type RequestLimits } from './get-json.ts'
import type { Pace } from './pace.ts'

/** What came of a URL and of where it led. */
export type Followed =
  | { is: 'json'; json: unknown }
  | { is: 'absent' }
  /** Not now: the server rests, is busy or does not answer. */
  | { is: 'later'; retryAt: Date; why: string }
  /** An answer came that is of no use. */
  | { is: 'unusable'; why: string }

/** What following needs. */
export type FollowTools = {
  fetch: typeof fetch
  clock: Clock
  pace: Pace
  limits: RequestLimits
  mayOpen: (url: URL) => boolean
}

const REDIRECTS_MAX = 3

/**
 * Asks a URL for JSON and follows at most three redirects, each within reach and at the pace of
 * its own server. What servers do is an answer; never throws for it.
 */
export async function followUrl(url: URL, deadline: Date, tools: FollowTools): Promise<Followed> {
  let here = url
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects++) {
    if (!tools.mayOpen(here)) return { is: 'unusable', why: 'it leads to a place out of reach' }
    const answer = await askInTurn(here, deadline, tools)
    if (answer.is !== 'moved') return answer
    if (!answer.to) return { is: 'unusable', why: 'it leads nowhere' }
    here = answer.to
  }
  return { is: 'unusable', why: 'it leads from place to place' }
}

async function askInTurn(
  url: URL,
  deadline: Date,
  { fetch, clock, pace, limits }: FollowTools,
): Promise<Followed | (JsonAnswer & { is: 'moved' })> {
  const leave = await pace.admit(url.origin, deadline)
  if (!leave.ok) return { is: 'later', retryAt: leave.retryAt, why: leave.why }
  const answer = await getJson(url, { fetch, now: clock(), limits })
  if (answer.is === 'busy' || answer.is === 'failed') {
    const retryAfterMs = answer.is === 'busy' ? answer.retryAfterMs : undefined
    return { is: 'later', retryAt: pace.failed(url.origin, retryAfterMs), why: answer.why }
  }
  pace.answered(url.origin)
  return answer.is === 'unreadable' ? { is: 'unusable', why: answer.why } : answer
}
