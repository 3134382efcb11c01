import { parseHeader } from '../../src/mail/header.ts'
import type { DnsTools } from '../../src/origin/authenticity/ask-dns.ts'
import { rsaKey, signed } from '../../test/support/signing.ts'

const SELECTOR = 'measurement'
const key = rsaKey()

/** A zone that has the key of the measurement for every domain, and no other answer. */
export const testZone: DnsTools = {
  resolve: async (name, type) =>
    type === 'TXT' && name.toLowerCase().startsWith(`${SELECTOR}._domainkey.`)
      ? { is: 'found', records: [key.record] }
      : { is: 'unknown', why: 'The zones of the past are gone.' },
  listings: async () => [],
}

/** The hosts that stamp a message are at its top; anybody may have written what is below. */
const STAMPS_MAX = 2
const SIGNERS_MAX = 3

/**
 * Returns a message with valid signatures of those domains whose signatures the receiving host
 * found valid, as its `Authentication-Results` fields say. The keys of real signatures are gone.
 */
export async function signedAnew(raw: Buffer): Promise<Buffer> {
  const stamps = parseHeader(raw)
    .fields.filter(({ key: name }) => /^(?:arc-)?authentication-results$/.test(name))
    .slice(0, STAMPS_MAX)
  const passed = stamps.flatMap(({ value }) => [
    ...value
      .replaceAll(/\s+/g, ' ')
      .matchAll(/dkim=pass[^;]*?header\.(?:d=|i=[^@; ]*@)([\w.-]+)/gi),
  ])
  const domains = [...new Set(passed.map(([, domain = '']) => domain.toLowerCase()))]
  let message = raw
  for (const domain of domains.slice(0, SIGNERS_MAX)) {
    message = await signed(message, { domain, key, selector: SELECTOR, signedAt: new Date() })
  }
  return message
}
