import type { App } from '../app.ts'
import { claimLists, pageListings } from '../db/listings.ts'
import { inTransaction } from '../db/pool.ts'
import { DAY_MS } from '../durations.ts'
import { jsonFooter, jsonHeader, listedJson } from '../verdict/lists/judge-candidate.ts'
import {
  type ListEdition,
  type Listing,
  type ListName,
  listNames,
  MANIFEST,
  type PageFeed,
  pageFeeds,
  zoneHeader,
  zoneLine,
  zoneOf,
  type ZoneType,
  zoneTypeOf,
  zoneTypes,
} from '../verdict/lists/list.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { draftFiles, type FileSet, type WrittenFile } from './draft-files.ts'
import { writePages } from './publish-pages.ts'
import { addListings, keepDeserved, PAGE, type Renewal } from './renew-listings.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

/** The content of `manifest.json`, which describes the published files. */
export type ListManifest = {
  generated_at: string
  expires_at: string
  lists: Record<ListName | PageFeed, { zone: string; entries: number }>
  files: WrittenFile[]
}

/** Validity of published lists in days. */
const GOOD_DAYS = 3

/**
 * Updates the entries and writes the lists: for rbldnsd, as JSON, as plain text, and the
 * feeds of confirmed pages. The previous files
 * stay until all new ones are complete. Undefined when another process is publishing.
 *
 * @throws the error of the database or the disk; if the new files are not complete, the previous
 * lists stay
 */
export async function runPublishLists(app: Needs): Promise<ListManifest | undefined> {
  return inTransaction(app.pool, async (tx) => {
    if (!(await claimLists(tx))) return undefined
    const now = app.clock()
    const renewal = { own: ownNamesOf(app.config), now }
    await addListings(app, renewal)
    const manifest = await writeLists(app, renewal)
    const entries = Object.entries(manifest.lists).map(([list, its]) => [list, its.entries])
    app.log.info(Object.fromEntries(entries), 'Published the lists.')
    return manifest
  })
}

async function writeLists(app: Needs, renewal: Renewal): Promise<ListManifest> {
  const { now } = renewal
  const files = await draftFiles(app.config.listsDir, now)
  try {
    const expiresAt = new Date(now.getTime() + GOOD_DAYS * DAY_MS)
    const { publicUrl } = app.config
    const lists: Partial<ListManifest['lists']> = {}
    const of = <List extends ListName | PageFeed>(list: List) => {
      return { list, zone: zoneOf(list, app.config), publicUrl, madeAt: now, expiresAt }
    }
    for (const list of listNames) {
      const edition = of(list)
      lists[list] = { zone: edition.zone, entries: await writeList(app, edition, files, renewal) }
    }
    const pages = await writePages(app, files, pageFeeds.map(of), renewal)
    for (const feed of pageFeeds) lists[feed] = { zone: of(feed).zone, entries: pages[feed] }
    const manifest = {
      generated_at: now.toISOString(),
      expires_at: expiresAt.toISOString(),
      lists: lists as ListManifest['lists'],
      files: files.written(),
    }
    await files.append(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`)
    await files.commit()
    return manifest
  } finally {
    await files.clear()
  }
}

/** Writes all files of a list; returns the number of its entries. */
async function writeList(
  app: Needs,
  edition: ListEdition & { list: ListName },
  files: FileSet,
  renewal: Renewal,
): Promise<number> {
  const { list } = edition
  for (const type of zoneTypes[list]) {
    await files.append(`${list}.${type}`, zoneHeader(edition, type))
  }
  await files.append(`${list}.json`, jsonHeader(edition))
  await files.append(`${list}.txt`, '')
  let [entries, after] = [0, '']
  for (;;) {
    const page = await pageListings(app.pool, list, { after, limit: PAGE, now: renewal.now })
    const listed = await keepDeserved(app, list, page, renewal)
    await appendPage(files, edition, listed, entries === 0)
    entries += listed.length
    after = page.at(-1)?.name ?? ''
    if (page.length < PAGE) break
  }
  await files.append(`${list}.json`, jsonFooter)
  return entries
}

async function appendPage(
  files: FileSet,
  edition: ListEdition,
  page: readonly Listing[],
  isFirst: boolean,
): Promise<void> {
  if (page.length === 0) return
  const { list } = edition
  const zones = new Map<ZoneType, string>()
  let [json, text] = ['', '']
  for (const [at, listing] of page.entries()) {
    const type = zoneTypeOf(listing)
    zones.set(type, (zones.get(type) ?? '') + zoneLine(listing, edition))
    json += `${isFirst && at === 0 ? '' : ','}\n${JSON.stringify(listedJson(listing))}`
    text += `${listing.name}\n`
  }
  for (const [type, lines] of zones) await files.append(`${list}.${type}`, lines)
  await files.append(`${list}.json`, json)
  await files.append(`${list}.txt`, text)
}
