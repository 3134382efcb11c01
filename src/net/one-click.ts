import {
  oneClickBody,
  type OneClickOutcome,
  type PostOneClick,
  readOneClickUrl,
} from '../mail/list-unsubscribe.ts'
import { phrase } from '../phrase.ts'
import { postPublic, type PostOptions } from './guarded-http.ts'

/** Dependencies of unsubscribe requests. */
export type OneClickOptions = Pick<PostOptions, 'resolve' | 'userAgent' | 'mayConnect' | 'forTests'>

const headers = { 'content-type': 'application/x-www-form-urlencoded' }
const limits = { allMsMax: 20_000, bodyBytesMax: 64 * 1024 }

/** Creates the function that sends one-click unsubscribe requests (RFC 8058 §3.2). */
export function createOneClick(options: OneClickOptions): PostOneClick {
  return async (text) => {
    const read = readOneClickUrl(text)
    if ('refused' in read) return { state: 'refused', outcome: read.refused }
    const { hostname: host } = read.url
    const post = { body: oneClickBody, headers }
    const result = await postPublic(read.url, post, { ...limits, ...options })
    if (result.is === 'answered') return outcomeOf(host, result.status)
    if (result.is === 'refused') return { state: 'refused', outcome: result.outcome }
    const { reason } = result
    const isSent = result.is === 'unanswered'
    const late = isSent ? 'unsubscribe-unanswered' : 'unsubscribe-unreached'
    const outcome =
      reason === undefined ? phrase(late, { host }) : phrase('unsubscribe-failed', { host, reason })
    return { state: isSent ? 'unknown' : 'failed', outcome }
  }
}

function outcomeOf(host: string, status: number): OneClickOutcome {
  if (status >= 200 && status < 300) {
    return { state: 'done', outcome: phrase('unsubscribe-accepted', { host, status }) }
  }
  if (status >= 300 && status < 400) {
    return { state: 'doubtful', outcome: phrase('unsubscribe-redirected', { host, status }) }
  }
  return { state: 'failed', outcome: phrase('unsubscribe-declined', { host, status }) }
}
