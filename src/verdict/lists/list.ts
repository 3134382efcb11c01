import type { SubjectKind } from '../reputation/reputation.ts'

/** The lists that are given out. */
export const listNames = ['addresses', 'domains', 'hosts'] as const

/** One of them. */
export type ListName = (typeof listNames)[number]

/** Why something is listed, the worst last. */
export const listCategories = ['spam', 'phishing', 'malware'] as const

/** One of these. */
export type ListCategory = (typeof listCategories)[number]

/**
 * What the zones answer for each category. 127.0.0.2 is also what RFC 5782 §2.1 wants of an entry
 * that says nothing more.
 */
export const listCodes: Readonly<Record<ListCategory, string>> = {
  spam: '127.0.0.2',
  phishing: '127.0.0.4',
  malware: '127.0.0.5',
}

/** What is known of a subject, as far as a list is concerned. */
export type ListCandidate = {
  kind: SubjectKind
  name: string
  /** From -1, nothing but good, to +1, nothing but bad: shrunken and decayed. */
  score: number
  /** How much evidence there still is, decayed, in reports of reporters of full karma. */
  weight: number
  /**
   * At least so many reporters complained who have nothing but the complaint in common; decayed as
   * `weight` is, so not a whole number.
   */
  independentReporters: number
  /** When somebody proven last complained. */
  lastSeen: Date
  /** `exempt` and `welcome` spare it; `phishing` and `malware` say what it is, else it is spam. */
  flags: readonly string[]
}

/** An entry of a list. It is listed while `until` is to come, and remembered for a while after. */
export type Listing = {
  list: ListName
  name: string
  category: ListCategory
  since: Date
  until: Date
  /** How often it was listed, this time included. */
  times: number
  /** A round number, see `roundedReporters`. */
  reportersAtLeast: number
  lastSeen: Date
  /** When it was last taken off on request; null: never. */
  pardonedAt: Date | null
  /** The independent reporters there were then, rounded up. */
  pardonedReporters: number | null
}

/**
 * The kind of subject that a list is made of. Not of networks, because one customer is not all; nor
 * of signers, authors and return paths, because domains that send are shared by many or written by
 * anybody. A domain is listed for what is linked to.
 */
export const listedKinds = {
  addresses: 'address',
  domains: 'link-domain',
  hosts: 'link-host',
} as const satisfies Record<ListName, SubjectKind>

/** Which list a kind of subject belongs on; undefined for most. */
export function listForSubject(kind: SubjectKind): ListName | undefined {
  return listNames.find((list) => listedKinds[list] === kind)
}

/** Whether it is listed at an instant. */
export function isLive({ until }: Pick<Listing, 'until'>, now: Date): boolean {
  return until > now
}

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

/** The file that tells of all others; put in place last. */
export const MANIFEST = 'manifest.json'

/** The files of a list: `addresses.ip4set`, `addresses.ip6trie`, `addresses.json` … */
export function fileNamesOf(list: ListName): string[] {
  return [...zoneTypes[list], 'json', 'txt'].map((ending) => `${list}.${ending}`)
}

/** Every file that is given out. */
export const listFileNames: readonly string[] = [...listNames.flatMap(fileNamesOf), MANIFEST]

/** The zone of a list below that of the settings. */
export function zoneOf(list: ListName, { listsZone }: { listsZone: string }): string {
  return `${list}.${listsZone}`
}
