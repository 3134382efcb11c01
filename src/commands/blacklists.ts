import type { Config } from '../config.ts'
import { knownZones } from '../mail/dnsbl-zones.ts'
import type { ZoneState } from '../outbound/watched-zone.ts'
import type { Clock } from '../world.ts'
import { openDns } from './open-dns.ts'

/** What the command found: its text, and whether every list may be asked. */
export type BlacklistReport = { text: string; isSound: boolean }

/**
 * Tests the lists of the settings (RFC 5782 §5) and tells how they stand, one to a line. With none
 * set it names the lists that could be.
 *
 * @throws UsageError naming every wrong entry of BLACKLISTS
 */
export async function testBlacklists(
  config: Pick<Config, 'dnsServers' | 'blacklists'>,
  clock: Clock,
): Promise<BlacklistReport> {
  const dns = await openDns(config, { clock })
  const states = await dns.blacklists.test()
  dns.close()
  if (states.length === 0) {
    const known = knownZones.map(({ zone, lists }) => `  ${zone.padEnd(26)}${lists}`)
    return { text: ['BLACKLISTS is empty. Known lists:', ...known].join('\n'), isSound: true }
  }
  const rows = [['zone', 'lists', 'state', 'ms', 'reason'], ...states.map(rowOf)]
  return { text: table(rows), isSound: states.every(({ state }) => state === 'on') }
}

function rowOf({ zone, lists, state, hasIpv6, testMs, reason }: ZoneState): string[] {
  const what =
    lists === 'domains' || state === 'off' ? lists : `${lists}${hasIpv6 ? '' : ' (IPv4)'}`
  return [zone, what, state, String(testMs ?? ''), reason ?? '']
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
  return lines.map((cells) => cells.join('  ').trimEnd()).join('\n')
}
