import { readFileSync } from 'node:fs'
import path from 'node:path'

const folder = path.join(import.meta.dirname, '../fixtures/rdap')

/** Returns an answer in the format of a registry, without real data. */
export function recordedAnswer(registry: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path.join(folder, `${registry}.json`), 'utf8')) as Record<
    string,
    unknown
  >
}

/** Composes an entity with mail addresses, one property each. */
export function entity(
  handle: string,
  roles: readonly string[],
  addresses: readonly string[],
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const emails = addresses.map((address) => ['email', {}, 'text', address])
  const vcardArray = ['vcard', [['version', {}, 'text', '4.0'], ...emails]]
  return { objectClassName: 'entity', handle, roles, vcardArray, ...more }
}

/** Composes a network from its first to its last address. */
export function network(
  startAddress: string,
  endAddress: string,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const name = 'EXAMPLE-NET'
  return { objectClassName: 'ip network', startAddress, endAddress, name, country: 'FR', ...more }
}
