import type { Danger } from '../reputation/detail.ts'
import type { SubjectKind } from '../reputation/subject.ts'

export const listNames = ['addresses', 'domains', 'hosts'] as const

export type ListName = (typeof listNames)[number]

/** Feeds of confirmed pages: at once, and some hours later. */
export const pageFeeds = ['pages', 'pages-delayed'] as const

export type PageFeed = (typeof pageFeeds)[number]

/** A confirmed page, as feeds publish it. */
export type ListedPage = {
  id: string
  /** As independent reporters received it. */
  url: string
  host: string
  /** What is accused: the whole host, or only this path, because others have pages on the host. */
  scope: 'host' | 'path'
  type: 'phishing' | 'malware'
  confirmedBy: 'person' | 'reporters'
  confirmedAt: Date
  /** The brand that the messages pretend to come from. */
  imitates: string | null
  firstSeen: Date
  lastSeen: Date
}

/** Reasons for a listing, in order of increasing severity. */
export const listCategories = ['spam', 'phishing', 'malware'] as const

export type ListCategory = (typeof listCategories)[number]

/**
 * DNS answer for each category. RFC 5782 §2.1 requires 127.0.0.2 for an entry without further
 * meaning.
 */
export const listCodes: Readonly<Record<ListCategory, string>> = {
  spam: '127.0.0.2',
  phishing: '127.0.0.4',
  malware: '127.0.0.5',
}

/** Evidence about a subject that may be listed. */
export type ListCandidate = {
  kind: SubjectKind
  name: string
  /** From −1 (only good reports) to +1 (only bad reports), shrunken and decayed. */
  score: number
  /** Amount of evidence left after decay, as a number of reports by reporters with full karma. */
  weight: number
  /**
   * Lower bound for the number of independent reporters who complained. Decayed like `weight`, so
   * not a whole number.
   */
  independentReporters: number
  /** When a proven reporter last complained. */
  lastSeen: Date
  /** `exempt` and `welcome` prevent a listing. */
  flags: readonly string[]
  /**
   * Lower bounds for the numbers of independent reporters of phishing or malware, and of malware;
   * undefined: none.
   */
  dangers?: Readonly<Record<Danger, number>> | undefined
}

/**
 * An entry of a list. The name is listed until `until`; the entry is kept for a while afterwards.
 */
export type Listing = {
  list: ListName
  name: string
  category: ListCategory
  since: Date
  until: Date
  /** Number of times the name was listed, including this one. */
  times: number
  /** Rounded, see `roundedReporters`. */
  reportersAtLeast: number
  lastSeen: Date
  /** When the name was last delisted on request; null: never. */
  delistedAt: Date | null
  /** Number of independent reporters when the name was last delisted, rounded up. */
  delistedReporters: number | null
}

/** What the public may look up: an entry, or a page that is listed by its path. */
export type PublicListing = Omit<Listing, 'list'> & { list: ListName | 'pages' }

/**
 * Kinds of subject for each list. Networks are excluded because one customer is not the whole
 * network. Signers, authors and return paths are excluded because sending domains are shared or can
 * be forged. A domain is listed only if messages link to it.
 */
export const listedKinds = {
  addresses: 'address',
  domains: 'link-domain',
  hosts: 'link-host',
} as const satisfies Record<ListName, SubjectKind>

/** Returns the list for a kind of subject; undefined for kinds that are never listed. */
export function listForSubject(kind: SubjectKind): ListName | undefined {
  return listNames.find((list) => listedKinds[list] === kind)
}

/** Whether an entry is in force at a given time. */
export function isLive({ until }: Pick<Listing, 'until'>, now: Date): boolean {
  return until > now
}

/** Where a list is published, and how long this edition is valid. */
export type ListEdition = {
  list: ListName | PageFeed
  /** DNS zone of the list, in lower case: `addresses.bl.example`. */
  zone: string
  /** Without a trailing slash. */
  publicUrl: string
  madeAt: Date
  /** From this instant on, users of the lists should not use this edition. */
  expiresAt: Date
}

/** rbldnsd data sets of each list. */
export const zoneTypes: Readonly<Record<ListName | PageFeed, readonly ZoneType[]>> = {
  addresses: ['ip4set', 'ip6trie'],
  domains: ['dnset'],
  hosts: ['dnset'],
  pages: ['ip4set', 'ip6trie', 'dnset'],
  'pages-delayed': ['ip4set', 'ip6trie', 'dnset'],
}

export type ZoneType = 'ip4set' | 'ip6trie' | 'dnset'

/** Time to live of DNS answers in seconds, about the interval between editions. */
const TTL_SECONDS = 600
const TXT_CHARS_MAX = 250

/**
 * Test entries that each list must contain (RFC 5782 §5). 127.0.0.1, ::ffff:7f00:1 and INVALID must
 * never be listed.
 */
const testEntries: Readonly<Record<ZoneType, string>> = {
  ip4set: '127.0.0.2',
  ip6trie: '::ffff:7f00:2',
  dnset: 'test',
}

/**
 * Returns the header of an rbldnsd data set: zone, expiry, answers and the test entry. rbldnsd
 * stops answering from an expired data set, so no listing outlives its edition.
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

/**
 * Formats an entry as a line. An entry in `domains` includes all subdomains; a host entry does not.
 */
export function zoneLine(
  listing: Pick<Listing, 'name' | 'category'> & Pick<ListEdition, 'list'>,
  edition: ListEdition,
): string {
  const { list, name, category } = listing
  const subject = list === 'domains' ? `.${name}` : name
  if (category === 'spam') return `${subject}\n`
  return `${subject} :${listCodes[category]}:${meaningOf(category, edition)}\n`
}

export function zoneTypeOf({ list, name }: Pick<Listing, 'list' | 'name'>): ZoneType {
  if (list !== 'addresses') return 'dnset'
  return name.includes(':') ? 'ip6trie' : 'ip4set'
}

/** TXT record for a category. rbldnsd replaces a single dollar sign with the queried name. */
function meaningOf(category: Listing['category'], { publicUrl }: ListEdition): string {
  const url = publicUrl.replaceAll('$', '$$$$')
  return `Reported for ${category}, see ${url}/lookup?q=$`.slice(0, TXT_CHARS_MAX)
}

/** The file that lists all other files; written last. */
export const MANIFEST = 'manifest.json'

const pageEndings = ['rpz', 'txt', 'hosts.txt', 'jsonl', 'csv'] as const

/**
 * Returns the file names of a list: `addresses.ip4set`, `addresses.ip6trie`, `addresses.json` … Of
 * the feed in MISP's format, only the file that leads to the others.
 */
export function fileNamesOf(list: ListName | PageFeed): string[] {
  const misp = isPageFeed(list) ? [`${mispFolderOf(list)}/${MANIFEST}`] : []
  const endings = isPageFeed(list) ? pageEndings : ['json', 'txt']
  return [...[...zoneTypes[list], ...endings].map((ending) => `${list}.${ending}`), ...misp]
}

function isPageFeed(list: ListName | PageFeed): list is PageFeed {
  return pageFeeds.some((feed) => feed === list)
}

/** Returns the folder of a feed in MISP's format. */
export function mispFolderOf(feed: PageFeed): string {
  return `${feed}-misp`
}

/** Returns the feed to which a published file belongs; undefined for other lists. */
export function pageFeedOf(file: string): PageFeed | undefined {
  return pageFeeds.find((feed) => file.startsWith(`${feed}.`) || file.startsWith(`${feed}-misp/`))
}

/** Whether a published file has this name. */
export function isListFile(name: string): boolean {
  if (name === MANIFEST) return true
  if ([...listNames, ...pageFeeds].some((list) => fileNamesOf(list).includes(name))) return true
  return /^pages(?:-delayed)?-misp\/(?:hashes\.csv|[0-9a-f-]{36}\.json)$/.test(name)
}

/** Returns the zone of a list, a subdomain of the configured zone. */
export function zoneOf(list: ListName | PageFeed, { listsZone }: { listsZone: string }): string {
  return `${list}.${listsZone}`
}
