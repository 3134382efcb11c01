import { createHmac } from 'node:crypto'
import type { Phrase } from '../phrase.ts'
import { isPublicName } from './address.ts'

/** A message to a webhook: its body, and the data for its signature. */
export type WebhookMessage = {
  url: string
  /**
   * The same for every attempt to deliver the event, so that the receiver can recognize duplicates.
   */
  id: string
  /** Unix time of this attempt in seconds. */
  timestamp: number
  body: string
  /** The keys that sign the message, the current one first. */
  keys: readonly Buffer[]
}

/**
 * The outcome of one attempt, with a phrase for the owner. `gone`: the receiver wants no more
 * messages (HTTP status 410).
 */
export type WebhookOutcome = {
  state: 'taken' | 'gone' | 'failed'
  status: number | undefined
  outcome: Phrase
}

/** Sends one webhook message. Never rejects. */
export type PostWebhook = (message: WebhookMessage) => Promise<WebhookOutcome>

/** Maximum length of a webhook's URL in characters. */
export const WEBHOOK_URL_CHARS_MAX = 2_000

/**
 * Parses the URL of a webhook: https to a public name on the default port, without credentials;
 * with `mayBeInternal`, to any host name. For any other URL, returns what is wrong with it, as the
 * end of a sentence.
 */
export function readWebhookUrl(
  text: string,
  { mayBeInternal }: { mayBeInternal: boolean },
): { url: URL } | { refused: string } {
  const url = text.length <= WEBHOOK_URL_CHARS_MAX ? URL.parse(text) : null
  if (!url || /[\s\\]/.test(text)) return { refused: 'is not a valid URL.' }
  if (url.protocol !== 'https:') return { refused: 'must begin with https://.' }
  if (url.username !== '' || url.password !== '') {
    return { refused: 'must not contain a user name or a password.' }
  }
  if (url.port !== '') return { refused: 'must use the default port.' }
  const isName = mayBeInternal ? isHostName(url.hostname) : isPublicName(url.hostname)
  if (!isName) return { refused: `must lead to a ${mayBeInternal ? '' : 'public '}host name.` }
  url.hash = ''
  return { url }
}

/** Whether a host is given by name and not by address. */
function isHostName(host: string): boolean {
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) && !/^[0-9.]+$/.test(host)
}

/** Derives the key of a webhook, which nobody can compute without a key of ours. */
export function webhookKey(
  { id, generation }: { id: string; generation: number },
  key: Buffer,
): Buffer {
  return createHmac('sha256', key).update(`webhook ${id} ${generation}`).digest()
}

/** The key as displayed to its owner. */
export function shownWebhookKey(key: Buffer): string {
  return `whsec_${key.toString('base64')}`
}

/**
 * Composes the header fields of Standard Webhooks: one signature for each key, separated by spaces.
 */
export function webhookHeaders({ id, timestamp, body, keys }: WebhookMessage) {
  const content = `${id}.${timestamp}.${body}`
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
