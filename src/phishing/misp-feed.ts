import { hash } from 'node:crypto'
import { dateOf, hourOf } from '../durations.ts'
import { parseIp } from '../mail/ip.ts'
import type { ListedPage } from '../verdict/lists/list.ts'
import { uuidOf } from '../world.ts'

/** The installation that publishes a feed, and the time of the edition. */
export type MispSource = { publicUrl: string; madeAt: Date }

type Tag = { name: string }

/** An event as `manifest.json` lists it, by its UUID. */
type MispEvent = {
  info: string
  /** The day on which its pages were first reported. */
  date: string
  analysis: string
  threat_level_id: string
  /** Seconds; MISP reads an event again when they rise. */
  timestamp: string
  Orgc: { name: string; uuid: string }
  Tag: Tag[]
}

/** An indicator of an event. */
export type MispAttribute = {
  uuid: string
  type: 'url' | 'hostname' | 'ip-dst'
  category: 'Network activity'
  value: string
  to_ids: boolean
  timestamp: string
  comment: string
  deleted?: true
  first_seen?: string
  last_seen?: string
  Tag?: readonly Tag[]
}

/** Tags of MISP's taxonomies: how sure a page is. */
const confidence: Readonly<Record<ListedPage['confirmedBy'], Tag>> = {
  person: { name: 'misp:confidence-level="usually-confident"' },
  reporters: { name: 'misp:confidence-level="fairly-confident"' },
}

/** The namespace of names that are URLs (RFC 9562 §6.6). */
const urlNamespace = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')

/**
 * Returns a UUID that is the same in all editions of an installation: version 5, because MISP
 * refuses newer ones.
 */
export function lastingUuid({ publicUrl }: Pick<MispSource, 'publicUrl'>, name: string): string {
  const bytes = hash(
    'sha1',
    Buffer.concat([urlNamespace, Buffer.from(`${publicUrl}#${name}`)]),
    'buffer',
  )
  bytes[6] = 0x50 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return uuidOf(bytes.toString('hex', 0, 16))
}

/** Returns the event of the pages first reported on a day such as `2026-11-20`. */
export function mispEvent(source: MispSource, date: string): { uuid: string; event: MispEvent } {
  const { host: name } = new URL(source.publicUrl)
  const event = {
    info: `Phishing pages reported to ${name}, first on ${date}`,
    date,
    analysis: '2',
    threat_level_id: '2',
    timestamp: seconds(source.madeAt),
    Orgc: { name, uuid: lastingUuid(source, 'organization') },
    Tag: [{ name: 'tlp:clear' }, { name: 'circl:incident-classification="phishing"' }],
  }
  return { uuid: lastingUuid(source, `event ${date}`), event }
}

/**
 * Returns the start of the file of an event, up to its attributes, which are separated by commas.
 */
export function mispEventStart({ uuid, event }: ReturnType<typeof mispEvent>): string {
  const head = { uuid, ...event, published: true, publish_timestamp: event.timestamp }
  return `{"Event":${JSON.stringify(head).slice(0, -1)},"Attribute":[`
}

export const mispEventEnd = '\n]}}\n'

/** Returns the URL of a page and, with `withHost`, its host as indicators. */
export function mispAttributes(
  page: ListedPage,
  source: MispSource,
  { withHost }: { withHost: boolean },
): MispAttribute[] {
  const { url, type, imitates, confirmedAt, lastSeen } = page
  const imitation = imitates === null ? '' : `, imitates ${imitates}`
  const shared = {
    category: 'Network activity',
    to_ids: true,
    timestamp: seconds(hourOf(confirmedAt > lastSeen ? confirmedAt : lastSeen)),
    comment: `${type}${imitation}`,
    first_seen: `${dateOf(page.firstSeen)}T00:00:00+00:00`,
    last_seen: `${dateOf(lastSeen)}T00:00:00+00:00`,
    Tag: [confidence[page.confirmedBy]],
  } as const
  const its = { uuid: lastingUuid(source, page.id), type: 'url', value: url, ...shared } as const
  if (!withHost) return [its]
  return [its, { ...hostOf(page, source), ...shared }]
}

/** The attribute of a host. It has a UUID for each page, because it is in the event of a page. */
function hostOf({ id, host }: Pick<ListedPage, 'id' | 'host'>, source: MispSource) {
  const address = parseIp(host)
  return {
    uuid: lastingUuid(source, `host of ${id}`),
    type: address ? 'ip-dst' : 'hostname',
    value: address?.text ?? host,
  } as const
}

/**
 * Returns the attributes of a page that left the feed: readers delete one that was cleared, and no
 * longer detect one that merely expired.
 */
export function endedAttributes(
  page: Pick<ListedPage, 'id' | 'url' | 'host' | 'scope'> & {
    endedAt: Date
    clearedAt: Date | null
  },
  source: MispSource,
): MispAttribute[] {
  const url = { uuid: lastingUuid(source, page.id), type: 'url', value: page.url } as const
  const values = page.scope === 'host' ? [url, hostOf(page, source)] : [url]
  const end = page.clearedAt
    ? ({ comment: 'No longer listed.', deleted: true } as const)
    : { comment: 'Not reported any more.' }
  return values.map((value) => ({
    ...{ ...value, category: 'Network activity', to_ids: false, ...end },
    timestamp: seconds(page.endedAt),
  }))
}

/** Returns the line of `hashes.csv` by which MISP finds the event of a value. */
export function mispHashLine(value: string, eventUuid: string): string {
  return `${hash('md5', value)},${eventUuid}\n`
}

function seconds(at: Date): string {
  return String(Math.floor(at.getTime() / 1_000))
}
