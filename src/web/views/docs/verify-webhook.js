// Returns whether a request to your webhook is from Signalpost and recent. Pass the raw body.
import { createHmac, timingSafeEqual } from 'node:crypto'

export function isFromSignalpost(headers, body, secret, now = Date.now()) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
  if (Math.abs(now / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest()
  return headers['webhook-signature'].split(' ').some((one) => {
    const [version, signature = ''] = one.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
