import { dateOf, hourOf } from '../durations.ts'
import { csvLine } from '../mail/csv.ts'
import { parseIp } from '../mail/ip.ts'
import type { ListedPage } from '../verdict/lists/list.ts'

/** A page in JSON and CSV. It reveals neither single reports nor the times at which they came. */
export type FeedEntry = {
  id: string
  url: string
  host: string
  scope: 'host' | 'path'
  category: 'phishing' | 'malware'
  /** The brand that the messages pretend to come from. */
  imitates: string | null
  /** Days in UTC. */
  first_seen: string
  last_seen: string
  /** To the hour. */
  confirmed_at: string
  /** How sure it is, 0 to 100. */
  confidence: number
}

/** Confidence in percent: of pages that a person of the site saw, and of others. */
const confidences = { person: 95, reporters: 75 } as const

/** Returns what is published about a page. `id` names it in all editions. */
export function feedEntry(page: ListedPage, id: string): FeedEntry {
  const { url, host, scope, type, imitates } = page
  return {
    ...{ id, url, host, scope, category: type, imitates },
    first_seen: dateOf(page.firstSeen),
    last_seen: dateOf(page.lastSeen),
    confirmed_at: `${hourOf(page.confirmedAt).toISOString().slice(0, 19)}Z`,
    confidence: confidences[page.confirmedBy],
  }
}

const csvColumns = [
  ...(['id', 'url', 'host', 'scope', 'category', 'imitates'] as const),
  ...(['first_seen', 'last_seen', 'confirmed_at', 'confidence'] as const),
] satisfies (keyof FeedEntry)[]

/** The first line of the CSV file (RFC 4180). */
export const csvHeader = csvLine(csvColumns)

export function csvEntry(entry: FeedEntry): string {
  return csvLine(csvColumns.map((name) => entry[name]))
}

/** Longest name in an RPZ zone: the name of the zone follows it, and both have 253 characters. */
const RPZ_NAME_CHARS_MAX = 180
const RPZ_TTL_SECONDS = 600

/**
 * Returns the start of a response policy zone. Its names are relative, so every resolver can name
 * the zone as it likes. Secondary servers drop it when it is not renewed for three days.
 */
export function rpzHeader({ zone, madeAt }: { zone: string; madeAt: Date }): string {
  const serial = Math.floor(madeAt.getTime() / 1_000)
  return [
    `; Hosts of phishing pages, made ${madeAt.toISOString()}`,
    `$TTL ${RPZ_TTL_SECONDS}`,
    `@ SOA localhost. hostmaster.${zone}. ${serial} 600 300 259200 ${RPZ_TTL_SECONDS}`,
    '@ NS localhost.',
    '',
  ].join('\n')
}

/** Returns the line by which a resolver answers that the host does not exist. */
export function rpzLine(host: string): string {
  return `${host} CNAME .\n`
}

/** Whether an RPZ zone can contain a host: a name, not an address, which nobody looks up. */
export function isRpzName(host: string): boolean {
  const isName = /^(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}$/.test(host)
  return isName && host.length <= RPZ_NAME_CHARS_MAX && parseIp(host) === undefined
}
