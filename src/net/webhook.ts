import { networkSet, parseIp } from '../mail/ip.ts'
import {
  type PostWebhook,
  readWebhookUrl,
  webhookHeaders,
  type WebhookOutcome,
} from '../mail/webhook-message.ts'
import { type Phrase, phrase } from '../phrase.ts'
import { isPublicAddress, postPublic, type PostOptions } from './guarded-http.ts'

/** Dependencies of webhook requests. */
export type WebhookOptions = Pick<
  PostOptions,
  'resolve' | 'userAgent' | 'mayConnect' | 'forTests'
> & {
  /** Internal CIDR blocks in which the operator allows receivers. */
  networks: readonly string[]
}

const limits = { allMsMax: 10_000, bodyBytesMax: 16 * 1024 }
const GONE = 410

/**
 * Creates the function that sends events to webhooks (Standard Webhooks), to public addresses and
 * to those in the networks that the operator allows. An attempt ends within ten seconds.
 */
export function createPostWebhook({ networks, ...options }: WebhookOptions): PostWebhook {
  const internal = networkSet(networks)
  const mayConnect = (text: string) => {
    const address = parseIp(text)
    return isPublicAddress(text) || (address !== undefined && internal.has(address))
  }
  return async (message) => {
    const read = readWebhookUrl(message.url, { mayBeInternal: networks.length > 0 })
    if ('refused' in read) return failed(phrase('webhook-address-refused'))
    const headers = { 'content-type': 'application/json', ...webhookHeaders(message) }
    const post = { body: message.body, headers }
    const result = await postPublic(read.url, post, { ...limits, mayConnect, ...options })
    if (result.is === 'answered') return outcomeOf(result.status)
    if (result.is === 'refused') return failed(result.outcome)
    const { reason } = result
    return failed(
      reason === undefined ? phrase('webhook-unanswered') : phrase('webhook-failed', { reason }),
    )
  }
}

function failed(outcome: Phrase): WebhookOutcome {
  return { state: 'failed', status: undefined, outcome }
}

function outcomeOf(status: number): WebhookOutcome {
  if (status >= 200 && status < 300) {
    return { state: 'taken', status, outcome: phrase('webhook-accepted') }
  }
  if (status >= 300 && status < 400) {
    return { state: 'failed', status, outcome: phrase('webhook-redirected') }
  }
  if (status === GONE) return { state: 'gone', status, outcome: phrase('webhook-gone') }
  return { state: 'failed', status, outcome: phrase('webhook-declined') }
}
