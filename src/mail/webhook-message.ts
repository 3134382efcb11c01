import { createHmac } from 'node:crypto'
import { isPublicName } from './address.ts'

/** What is sent to a webhook: the body, and what it is signed with. */
export type WebhookMessage = {
  url: string
  /** The same at every attempt, so that who gets it twice can tell. */
  id: string
  /** Of this attempt, in seconds. */
  timestamp: number
  body: string
  /** The keys it is signed with, the one that counts first. */
  keys: readonly Buffer[]
}

/** How one attempt went, with a sentence for the owner. `gone`: it never wants to hear of us. */
export type WebhookOutcome = {
  state: 'taken' | 'gone' | 'failed'
  status: number | undefined
  outcome: string
}

/** Sends one such message. Never rejects. */
export type PostWebhook = (message: WebhookMessage) => Promise<WebhookOutcome>

/** No address of a webhook is longer. */
export const WEBHOOK_URL_CHARS_MAX = 2_000

/**
 * Reads the address of a webhook: https to a public name on the usual port, without credentials.
 * Else what is wrong with it, as the end of a sentence.
 */
export function readWebhookUrl(
  text: string,
  { mayBeInternal }: { mayBeInternal: boolean },
): { url: URL } | { refused: string } {
  const url = text.length <= WEBHOOK_URL_CHARS_MAX ? URL.parse(text) : null
  if (!url || /[\s\\]/.test(text)) return { refused: 'cannot be read as an address.' }
  if (url.protocol !== 'https:') return { refused: 'must begin with https://.' }
  if (url.username !== '' || url.password !== '') {
    return { refused: 'may hold no name and no password.' }
  }
  if (url.port !== '') return { refused: 'must be on the usual port.' }
  const isName = mayBeInternal ? isHostName(url.hostname) : isPublicName(url.hostname)
  if (!isName) return { refused: `must lead to a ${mayBeInternal ? '' : 'public '}host name.` }
  url.hash = ''
  return { url }
}

/** Whether a host is named, and not given by its address. */
function isHostName(host: string): boolean {
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) && !/^[0-9.]+$/.test(host)
}

/** The key of a webhook: nobody can tell it who does not have our secret. */
export function webhookKey(
  { id, generation }: { id: string; generation: number },
  secret: string,
): Buffer {
  return createHmac('sha256', secret).update(`webhook ${id} ${generation}`).digest()
}

/** The key as its owner gets it. */
export function shownWebhookKey(key: Buffer): string {
  return `whsec_${key.toString('base64')}`
}

/** The header fields of Standard Webhooks: one signature for each key, blanks between. */
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
