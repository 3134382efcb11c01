import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { AskAboutClient } from '../judging/first-filter.ts'
import type { Logger } from '../log.ts'
import { type Blacklists, createBlacklists } from '../net/blacklists.ts'
import { createGuardedFetch } from '../net/guarded-http.ts'
import { reachOf } from '../net/rdap/get-json.ts'
import { createRdap, type Rdap } from '../net/rdap/rdap.ts'
import { createResolver } from '../net/resolver.ts'
import type { DnsTools } from '../origin/authenticity/ask-dns.ts'
import { type Clock, systemClock } from '../world.ts'
import { readZones } from './blacklist-zones.ts'

/** The DNS clients of a process. */
export type OpenDns = {
  /** For the analysis of messages. */
  tools: DnsTools
  blacklists: Blacklists
  close: () => void
}

/**
 * Opens the resolver and the blacklists of the settings. Sends no queries yet.
 *
 * @throws UsageError listing every invalid entry of BLACKLISTS
 */
export async function openDns(
  config: Pick<Config, 'dnsServers' | 'blacklists'>,
  { clock, log }: { clock: Clock; log?: Logger },
): Promise<OpenDns> {
  const zones = await readZones(config.blacklists)
  const { resolve, close } = createResolver({ servers: config.dnsServers, clock })
  const blacklists = createBlacklists({ zones, resolve, clock, ...(log && { log }) })
  return { tools: { resolve, listings: blacklists.listings }, blacklists, close }
}

/**
 * Maximum time in milliseconds that a check of a mail server waits for the blacklists. A later
 * answer is cached, so the next check of the same client has it.
 */
const CLIENT_ASK_MS = 250

/**
 * Opens the blacklists for checks of mail servers. `ask` is undefined without DNS and without
 * blacklists of addresses.
 *
 * @throws UsageError listing every invalid entry of BLACKLISTS
 */
export async function openClientBlacklists(
  config: Pick<Config, 'dnsServers' | 'blacklists'>,
  tools: { clock: Clock; log: Logger },
): Promise<{ ask: AskAboutClient | undefined; close: () => void }> {
  const { blacklists, close } = await openDns(config, tools)
  const hasLists = blacklists.states().some(({ lists }) => lists !== 'domains')
  if (!hasLists || config.dnsServers === 'none') return { ask: undefined, close }
  const ask: AskAboutClient = (ip) =>
    blacklists.listings({ addresses: [ip], domains: [] }, CLIENT_ASK_MS)
  return { ask, close }
}

/** Creates a registry client from the settings; undefined if registry queries are disabled. */
export function openRdap({ rdapBootstrapUrl }: Pick<Config, 'rdapBootstrapUrl'>): Rdap | undefined {
  if (rdapBootstrapUrl === undefined) return undefined
  return createRdap(rdapBootstrapUrl, {
    clock: systemClock,
    fetch: createGuardedFetch(reachOf(rdapBootstrapUrl).mayConnect),
    wait: (ms) => wait(ms),
  })
}
