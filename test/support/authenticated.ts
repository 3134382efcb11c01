import { analyzeMessage } from '../../src/pieces/analyze.ts'
import type { Authentication } from '../../src/origin/authenticity/authenticate.ts'
import { askAbout, type DnsTools } from '../../src/origin/authenticity/ask-dns.ts'
import type { Resolve } from '../../src/world.ts'
import { fakeDns, type FakeZone } from './signing.ts'

const options = { trustedRelays: [], ignoreStamps: false }
const silent: DnsTools['listings'] = () => Promise.resolve([])

/**
 * The authentication results of a message with given DNS answers: queried and evaluated as in
 * production.
 */
export async function authenticated(
  raw: Buffer,
  zone: FakeZone | Resolve = {},
  { isRebuilt = false } = {},
): Promise<Authentication> {
  const resolve = typeof zone === 'function' ? zone : fakeDns(zone).resolve
  const signal = new AbortController().signal
  const dns = await askAbout(raw, options, { resolve, listings: silent }, signal)
  const { authentication } = await analyzeMessage(raw, { ...options, dns, isRebuilt })
  if (!authentication) throw new Error('The message was not authenticated.')
  return authentication
}
