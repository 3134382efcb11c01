import { Agent, request } from 'node:https'
import { reasonOf } from '../errors.ts'
import { networkSet, parseIp } from '../mail/ip.ts'
import {
  type PostWebhook,
  readWebhookUrl,
  webhookHeaders,
  type WebhookMessage,
  type WebhookOutcome,
} from '../mail/webhook-message.ts'
import { type Phrase, phrase } from '../phrase.ts'
import type { Resolve } from '../world.ts'
import {
  drop,
  findPublicHost,
  isPublicAddress,
  publicPost,
  type PublicTarget,
} from './public-post.ts'

/** Dependencies of webhook requests. */
export type WebhookOptions = {
  /** Queries the DNS. The address that is checked is the one that is connected to. */
  resolve: Resolve
  /** Internal CIDR blocks in which the operator allows receivers. */
  networks: readonly string[]
  /** The User-Agent of the requests. */
  userAgent: string
  /** Only for tests, whose servers run on their own machine. */
  forTests?: {
    mayConnect?: (address: string) => boolean
    port: number
    ca: string
    allMsMax?: number
  }
}

const ALL_MS_MAX = 10_000
const BODY_BYTES_MAX = 16 * 1024
const GONE = 410

/**
 * Creates the function that sends events to webhooks (Standard Webhooks): one POST, to a public or
 * allowed address that was looked up and checked. Does not follow redirects, ignores the response
 * except its status, and ends within ten seconds.
 */
export function createPostWebhook(options: WebhookOptions): PostWebhook {
  const { resolve, networks, forTests } = options
  const internal = networkSet(networks)
  const mayConnect = (text: string) => {
    const address = parseIp(text)
    return isPublicAddress(text) || (address !== undefined && internal.has(address))
  }
  return async (message) => {
    const read = readWebhookUrl(message.url, { mayBeInternal: networks.length > 0 })
    if ('refused' in read) return failed(phrase('webhook-address-refused'))
    const hosts = { resolve, mayConnect: forTests?.mayConnect ?? mayConnect }
    const found = await findPublicHost(read.url.hostname, hosts)
    if (typeof found !== 'string') return failed(found.outcome)
    return post(message, { url: read.url, address: found }, options)
  }
}

function failed(outcome: Phrase): WebhookOutcome {
  return { state: 'failed', status: undefined, outcome }
}

function post(
  message: WebhookMessage,
  to: PublicTarget,
  options: WebhookOptions,
): Promise<WebhookOutcome> {
  const { allMsMax = ALL_MS_MAX } = options.forTests ?? {}
  const agent = new Agent({ keepAlive: false, maxCachedSessions: 0 })
  return new Promise((resolve) => {
    let answered: WebhookOutcome | undefined
    const headers = { 'content-type': 'application/json', ...webhookHeaders(message) }
    const sent = request({ ...publicPost(to, { body: message.body, headers }, options), agent })
    const settle = (outcome: WebhookOutcome) => {
      clearTimeout(timer)
      resolve(answered ?? outcome)
      sent.destroy()
      agent.destroy()
    }
    const timer = setTimeout(() => settle(failed(phrase('webhook-unanswered'))), allMsMax)
    sent.on('error', (error) => {
      settle(failed(phrase('webhook-failed', { reason: reasonOf(error).slice(0, 200) })))
    })
    sent.on('response', (response) => {
      const outcome = outcomeOf(response.statusCode ?? 0)
      // Once the status is known the request is answered, even if the rest of the response fails.
      answered = outcome
      drop(response, BODY_BYTES_MAX, () => settle(outcome))
    })
    sent.end(message.body)
  })
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
