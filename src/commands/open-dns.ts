import type { DnsTools } from '../analysis/authenticity/ask-dns.ts'
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import { type Blacklists, createBlacklists } from '../outbound/blacklists.ts'
import { createResolver } from '../outbound/resolver.ts'
import type { Clock } from '../world.ts'
import { readZones } from './blacklist-zones.ts'

/** What a process asks the DNS with. */
export type OpenDns = {
  /** For the analysis of messages. */
  tools: DnsTools
  blacklists: Blacklists
  close: () => void
}

/**
 * Opens the resolver and the blacklists of the settings. Nothing is asked yet.
 *
 * @throws UsageError naming every wrong entry of BLACKLISTS
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
