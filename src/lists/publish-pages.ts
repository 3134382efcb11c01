import type { App } from '../app.ts'
import type { ConfirmedPage } from '../db/pages.ts'
import { dateOf, HOUR_MS } from '../durations.ts'
import {
  type MispAttribute,
  mispAttributes,
  mispEvent,
  mispEventEnd,
  mispEventStart,
  mispHashLine,
  lastingUuid,
  endedAttributes,
} from '../phishing/misp-feed.ts'
import {
  csvEntry,
  csvHeader,
  feedEntry,
  isRpzName,
  rpzHeader,
  rpzLine,
} from '../phishing/page-feed.ts'
import { parseIp } from '../mail/ip.ts'
import {
  type ListEdition,
  mispFolderOf,
  type PageFeed,
  zoneHeader,
  zoneLine,
  zoneTypeOf,
  zoneTypes,
} from '../verdict/lists/list.ts'
import { uuidTime } from '../world.ts'
import type { FileSet } from './draft-files.ts'
import { endedPages, listedPages } from './listed-pages.ts'
import type { Renewal } from './renew-listings.ts'

type Needs = Pick<App, 'pool' | 'config'>

/** An edition of a feed, and the zone of its data sets. */
type FeedEdition = ListEdition & { list: PageFeed }

/**
 * Writes the feeds of confirmed pages in all formats: at once, and with the pages confirmed before
 * the configured delay. Returns the number of pages of each feed.
 */
export async function writePages(
  app: Needs,
  files: FileSet,
  editions: readonly FeedEdition[],
  renewal: Renewal,
): Promise<Record<PageFeed, number>> {
  const delayMs = app.config.pagesDelayHours * HOUR_MS
  const before = { pages: Infinity, 'pages-delayed': renewal.now.getTime() - delayMs }
  const writers = editions.map((edition) => {
    return { writer: new FeedWriter(files, edition), before: before[edition.list] }
  })
  for await (const pages of listedPages(app, renewal)) {
    for (const { writer, before: latest } of writers) {
      await writer.add(pages.filter(({ confirmedAt }) => confirmedAt.getTime() <= latest))
    }
  }
  for await (const ended of endedPages(app, renewal.now)) {
    for (const { writer } of writers) {
      const delay = writer.feed === 'pages' ? 0 : delayMs
      await writer.addEnded(
        ended.filter(({ endedAt, confirmedAt }) => {
          return endedAt.getTime() - confirmedAt.getTime() >= delay
        }),
      )
    }
  }
  for (const { writer } of writers) await writer.end()
  const counts = { pages: 0, 'pages-delayed': 0 }
  for (const { writer } of writers) counts[writer.feed] = writer.entries
  return counts
}

/** Writes one feed in all formats, from pages in the order of their ids. */
class FeedWriter {
  readonly feed: PageFeed
  entries = 0
  readonly #files: FileSet
  readonly #edition: FeedEdition
  /** What is to be added to each file. */
  readonly #texts = new Map<string, string>()
  /** Several pages of a host are one entry of a zone. */
  readonly #hosts = new Set<string>()
  /** The events of MISP by their days, with the number of their attributes. */
  readonly #events = new Map<string, ReturnType<typeof mispEvent> & { attributes: number }>()

  constructor(files: FileSet, edition: FeedEdition) {
    this.feed = edition.list
    this.#files = files
    this.#edition = edition
    for (const ending of ['txt', 'hosts.txt', 'jsonl']) this.#write(ending, '')
    this.#write('csv', csvHeader)
    this.#write('rpz', rpzHeader(edition))
    for (const type of zoneTypes[this.feed]) this.#write(type, zoneHeader(edition, type))
    this.#writeMisp('hashes.csv', '')
  }

  async add(pages: readonly ConfirmedPage[]): Promise<void> {
    this.entries += pages.length
    for (const page of pages) {
      const entry = feedEntry(page, lastingUuid(this.#edition, page.id))
      this.#write('txt', `${entry.url}\n`)
      this.#write('jsonl', `${JSON.stringify(entry)}\n`)
      this.#write('csv', csvEntry(entry))
      const withHost = page.scope === 'host' && !this.#hosts.has(page.host)
      if (withHost) this.#addHost(page)
      for (const attribute of mispAttributes(page, this.#edition, { withHost })) {
        this.#addAttribute(page.id, attribute)
      }
    }
    await this.#flush()
  }

  /** Adds pages that readers of an earlier edition may have. */
  async addEnded(pages: readonly Parameters<typeof endedAttributes>[0][]): Promise<void> {
    for (const page of pages) {
      for (const attribute of endedAttributes(page, this.#edition)) {
        this.#addAttribute(page.id, attribute)
      }
    }
    await this.#flush()
  }

  async end(): Promise<void> {
    for (const { uuid } of this.#events.values()) this.#writeMisp(`${uuid}.json`, mispEventEnd)
    const listed = [...this.#events.values()].map(({ uuid, event }) => [uuid, event])
    this.#writeMisp('manifest.json', `${JSON.stringify(Object.fromEntries(listed))}\n`)
    await this.#flush()
  }

  #addHost({ host, type }: ConfirmedPage): void {
    this.#hosts.add(host)
    const name = parseIp(host)?.text ?? host
    this.#write('hosts.txt', `${name}\n`)
    if (isRpzName(host)) this.#write('rpz', rpzLine(host))
    const list = parseIp(host) ? 'addresses' : 'hosts'
    const entry = { list: this.feed, name, category: type }
    this.#write(zoneTypeOf({ list, name }), zoneLine(entry, this.#edition))
  }

  #addAttribute(pageId: string, attribute: MispAttribute): void {
    const day = dateOf(uuidTime(pageId))
    let event = this.#events.get(day)
    if (!event) {
      event = { ...mispEvent(this.#edition, day), attributes: 0 }
      this.#events.set(day, event)
      this.#writeMisp(`${event.uuid}.json`, mispEventStart(event))
    }
    const { uuid } = event
    const comma = event.attributes++ === 0 ? '' : ','
    this.#writeMisp(`${uuid}.json`, `${comma}\n${JSON.stringify(attribute)}`)
    if (attribute.to_ids) this.#writeMisp('hashes.csv', mispHashLine(attribute.value, uuid))
  }

  #write(ending: string, text: string): void {
    this.#collect(`${this.feed}.${ending}`, text)
  }

  #writeMisp(name: string, text: string): void {
    this.#collect(`${mispFolderOf(this.feed)}/${name}`, text)
  }

  #collect(name: string, text: string): void {
    this.#texts.set(name, (this.#texts.get(name) ?? '') + text)
  }

  async #flush(): Promise<void> {
    for (const [name, text] of this.#texts) await this.#files.append(name, text)
    this.#texts.clear()
  }
}
