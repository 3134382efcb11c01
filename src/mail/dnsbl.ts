import { registrableDomain } from './address.ts'
import { type IpAddress, parseIp } from './ip.ts'
import zones from './known-zones.json' with { type: 'json' }

/**
 * Well-known lists by zone, as their operators document them (as of 2026-11). No list is queried
 * unless the settings name it: each has terms of use, and most refuse queries that come through a
 * public resolver.
 */
export const knownZones = zones as readonly BlacklistZone[]

export const blacklistCategories = [
  'spam',
  'compromised',
  'dynamic',
  'phishing',
  'malware',
  'welcome',
  'other',
] as const

/** What a DNS blacklist says about an address or a domain (RFC 5782). */
export type BlacklistEntry = {
  /** The list's zone, in lower case. */
  zone: string
  /** The address or domain that was queried. */
  subject: string
  /** The returned addresses (127.0.0.0/8), sorted. */
  codes: readonly string[]
  category: (typeof blacklistCategories)[number]
  /** The meaning as a sentence for people. */
  meaning: string
}

type ZoneMeaning = {
  /**
   * An address, in which `*` matches any octet (`127.0.*.3`); a number, whose bits must be set in
   * the last octet; or `any`, for an answer that nothing else matches.
   */
  match: string | number
  category: BlacklistEntry['category']
  meaning: string
}

/** One DNS blacklist or welcome list, and how to interpret its answers. */
export type BlacklistZone = {
  /** In lower case, without a final dot. */
  zone: string
  /** The label of a customer, which precedes the zone in queries. It is never shown. */
  key?: string
  lists: 'addresses' | 'domains' | 'both'
  answers: readonly ZoneMeaning[]
  /** Answers, besides 127.255.255.0/24, with which the zone refuses queries. */
  refusals?: readonly string[]
  /**
   * Whether domains are queried with all their labels; otherwise only registrable domains are
   * queried.
   */
  takesWholeNames?: boolean
  /** The domain that is always listed; `test` when absent. */
  testDomain?: string
}

/** The interpretation of a zone's answer. `refused`: the zone answers, but refuses our queries. */
export type ZoneReading =
  | { is: 'listed'; listings: readonly BlacklistEntry[] }
  | { is: 'clean' }
  | { is: 'refused'; why: string }

const nameCharsMax = 253

/**
 * The name to query for an address: octets reversed, or 32 nibbles reversed (RFC 5782 §2.1 and
 * §2.4). `family` 6 queries an IPv4-mapped address as IPv6.
 */
export function addressQuestion(
  zone: string,
  { family, text, groups }: Pick<IpAddress, 'family' | 'text' | 'groups'>,
): string {
  if (family === 4) return `${text.split('.').reverse().join('.')}.${zone}`
  const nibbles = groups.map((group) => group.toString(16).padStart(4, '0')).join('')
  return `${[...nibbles].reverse().join('.')}.${zone}`
}

/** The name whose PTR record is the reverse name of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export function pointerQuestion(address: IpAddress): string {
  return addressQuestion(address.family === 4 ? 'in-addr.arpa' : 'ip6.arpa', address)
}

/** The zone as it is queried. */
export function queriedZone({ zone, key }: Pick<BlacklistZone, 'zone' | 'key'>): string {
  return key === undefined ? zone : `${key}.${zone}`
}

/**
 * The name to query for a domain (RFC 5782 §2.2): its registrable domain, or the whole name if the
 * zone accepts it. Undefined when there is no registrable domain or the name is too long.
 */
export function domainQuestion(
  { takesWholeNames, ...zone }: Pick<BlacklistZone, 'zone' | 'key' | 'takesWholeNames'>,
  domain: string,
): string | undefined {
  const bare = domain.toLowerCase().replace(/\.$/, '')
  const registered = registrableDomain(bare)
  if (registered === undefined) return undefined
  const name = `${takesWholeNames ? bare : registered}.${queriedZone(zone)}`
  return name.length <= nameCharsMax ? name : undefined
}

/**
 * Interprets the A records of a zone's answer. Only 127.0.0.0/8 can list, and 127.0.0.1 never does
 * (RFC 5782 §2.1); any other address means that the zone is parked or hijacked. An answer with
 * several meanings gives several listings.
 */
export function readZoneAnswer(
  zone: BlacklistZone,
  subject: string,
  records: readonly string[],
): ZoneReading {
  const codes = [...new Set(records)].sort()
  for (const code of codes) {
    if (code.startsWith('127.255.255.') || zone.refusals?.includes(code)) {
      return { is: 'refused', why: `The list refuses our queries (${code}).` }
    }
    if (!code.startsWith('127.')) {
      return { is: 'refused', why: `The list answered ${code}, which is not a valid list answer.` }
    }
  }
  const listing = codes.filter((code) => code !== '127.0.0.1')
  if (listing.length === 0) return { is: 'clean' }
  const byMeaning = Map.groupBy(
    listing.flatMap((code) => meaningsOf(zone, code).map((meant) => ({ code, meant }))),
    ({ meant }) => `${meant.category} ${meant.meaning}`,
  )
  const listings = [...byMeaning.values()].flatMap((same) => {
    const [first] = same
    if (!first) return []
    const { category, meaning } = first.meant
    const ofThese = same.map(({ code }) => code)
    return [{ zone: zone.zone, subject, codes: ofThese, category, meaning }]
  })
  return { is: 'listed', listings }
}

function meaningsOf({ answers }: BlacklistZone, code: string): Omit<ZoneMeaning, 'match'>[] {
  const meant = answers.filter(({ match }) => match !== 'any' && matches(match, code))
  if (meant.length > 0) return meant
  const anything = answers.find(({ match }) => match === 'any')
  return [
    anything ?? {
      category: 'other',
      meaning: `The list answered ${code}, whose meaning is unknown.`,
    },
  ]
}

function matches(match: string | number, code: string): boolean {
  const octets = code.split('.')
  if (typeof match === 'number') return (Number(octets[3]) & match) === match
  return match.split('.').every((wanted, at) => wanted === '*' || wanted === octets[at])
}

/** A name to query in a zone, and the entry as it is displayed. */
export type TestEntry = { name: string; shown: string }

/**
 * For each kind of entry that a zone lists (addresses, domains): one entry that the zone must list,
 * and one that it must not list (RFC 5782 §5).
 */
export function testEntries({ lists, testDomain = 'test', ...its }: BlacklistZone): {
  ipv4?: { listed: TestEntry; unlisted: TestEntry }
  ipv6?: { listed: TestEntry; unlisted: TestEntry }
  domains?: { listed: TestEntry; unlisted: TestEntry }
} {
  const zone = queriedZone(its)
  const address = (last: number, family: 4 | 6): TestEntry => {
    const ipv4 = `127.0.0.${last}`
    const { groups = [] } = parseIp(ipv4) ?? {}
    const shown = family === 4 ? ipv4 : `::ffff:7f00:${last}`
    return { name: addressQuestion(zone, { family, text: ipv4, groups }), shown }
  }
  const domain = (name: string): TestEntry => ({ name: `${name}.${zone}`, shown: name })
  return {
    ...(lists !== 'domains' && {
      ipv4: { listed: address(2, 4), unlisted: address(1, 4) },
      ipv6: { listed: address(2, 6), unlisted: address(1, 6) },
    }),
    ...(lists !== 'addresses' && {
      domains: { listed: domain(testDomain), unlisted: domain('invalid') },
    }),
  }
}
