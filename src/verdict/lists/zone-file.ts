import { listCodes, type Listing, type ListName } from './list.ts'

/** Where a list is asked for and looked up, and how old it may get. */
export type ListEdition = {
  list: ListName
  /** Of this list, in lower case: `addresses.bl.example`. */
  zone: string
  /** Without a trailing slash. */
  publicUrl: string
  madeAt: Date
  /** Nobody should believe it from then on. */
  expiresAt: Date
}

/** The data sets of rbldnsd, by the list they make up. */
export const zoneTypes: Readonly<Record<ListName, readonly ZoneType[]>> = {
  addresses: ['ip4set', 'ip6trie'],
  domains: ['dnset'],
  hosts: ['dnset'],
}

/** A kind of data set. */
export type ZoneType = 'ip4set' | 'ip6trie' | 'dnset'

/** Seconds for which answers may be kept: about the time between two editions. */
const TTL_SECONDS = 600
const TXT_CHARS_MAX = 250

/** What every list must list (RFC 5782 §5); 127.0.0.1, ::ffff:7f00:1 and INVALID never are. */
const testEntries: Readonly<Record<ZoneType, string>> = {
  ip4set: '127.0.0.2',
  ip6trie: '::ffff:7f00:2',
  dnset: 'test',
}

/**
 * The beginning of a data set of rbldnsd: who it is, how long it is good, what an entry means, and
 * the test entry. rbldnsd stops answering from a set that has expired: it accuses nobody for ever.
 */
export function zoneHeader(edition: ListEdition, type: ZoneType): string {
  const { list, zone, madeAt, expiresAt } = edition
  const serial = Math.floor(madeAt.getTime() / 1_000)
  const expires = expiresAt.toISOString().slice(0, 19).replaceAll(/[-T]/g, ':')
  return [
    `# The list "${list}" (${type}), made ${madeAt.toISOString()}`,
    `$SOA ${TTL_SECONDS} ns.${zone} hostmaster.${zone} ${serial} 10m 5m 3d ${TTL_SECONDS}`,
    `$NS ${TTL_SECONDS} ns.${zone}`,
    `$TTL ${TTL_SECONDS}`,
    `$TIMESTAMP 0 ${expires}`,
    `:${listCodes.spam}:${meaningOf('spam', edition)}`,
    `${testEntries[type]}`,
    '',
  ].join('\n')
}

/** The line of an entry. In `domains` all below is listed too; a host stands for itself. */
export function zoneLine(listing: Listing, edition: ListEdition): string {
  const { list, name, category } = listing
  const subject = list === 'domains' ? `.${name}` : name
  if (category === 'spam') return `${subject}\n`
  return `${subject} :${listCodes[category]}:${meaningOf(category, edition)}\n`
}

/** The data set that an entry of a list belongs into. */
export function zoneTypeOf({ list, name }: Pick<Listing, 'list' | 'name'>): ZoneType {
  if (list !== 'addresses') return 'dnset'
  return name.includes(':') ? 'ip6trie' : 'ip4set'
}

/** A single dollar sign is where rbldnsd writes what it was asked for. */
function meaningOf(category: Listing['category'], { publicUrl }: ListEdition): string {
  const url = publicUrl.replaceAll('$', '$$$$')
  return `Reported for ${category}, see ${url}/lookup?q=$`.slice(0, TXT_CHARS_MAX)
}
