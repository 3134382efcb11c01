import { analyzeMessage } from '../../src/analysis/analyze.ts'
import type { Authentication } from '../../src/analysis/authenticity/authenticate.ts'
import { askAbout } from '../../src/analysis/authenticity/ask-dns.ts'
import type { DnsTools } from '../../src/analysis/authenticity/ask-dns.ts'
import type { Resolve } from '../../src/world.ts'
import { fakeDns } from './signing.ts'
import type { FakeZone } from './signing.ts'

const options = { trustedRelays: [], ignoreStamps: false }
const silent: DnsTools['listings'] = () => Promise.resolve([])

/** What the analysis makes of a message when the DNS says so: asked and judged as in the work. */
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
