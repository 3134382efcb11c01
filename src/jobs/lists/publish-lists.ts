import type { App } from '../../app.ts'
import { removeDelistings } from '../../db/delisting-requests.ts'
import { claimLists, pageListings, removeListings } from '../../db/listings.ts'
import { inTransaction } from '../../db/pool.ts'
import { jsonFooter, jsonHeader, listedJson } from '../../verdict/lists/json-list.ts'
import { MANIFEST, zoneOf } from '../../verdict/lists/list-file-names.ts'
import { ownNamesOf } from '../../verdict/lists/own-names.ts'
import { type Listing, listNames, type ListName } from '../../verdict/lists/list.ts'
import {
  type ListEdition,
  zoneHeader,
  zoneLine,
  type ZoneType,
  zoneTypeOf,
  zoneTypes,
} from '../../verdict/lists/zone-file.ts'
import { draftFiles, type FileSet, type WrittenFile } from './list-files.ts'
import { addListings, keepDeserved, PAGE, type Renewal } from './renew-listings.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

/** What was given out, as `manifest.json` tells it. */
export type ListManifest = {
  generated_at: string
  expires_at: string
  lists: Record<ListName, { zone: string; entries: number }>
  files: WrittenFile[]
}

const DAY_MS = 86_400_000
/** Lists that nobody renews are not believed for longer. */
const GOOD_DAYS = 3
/** How long who was listed is remembered, so that who comes back stays longer. */
const MEMORY_DAYS = 180

/**
 * Judges who is to be listed, and writes the lists: for rbldnsd, as JSON, as plain text. The former
 * files stay until all new ones are complete. Undefined when another process is at it.
 *
 * @throws whatever the database or the disk throws; then nothing was given out
 */
export async function publishLists(app: Needs): Promise<ListManifest | undefined> {
  return inTransaction(app.pool, async (tx) => {
    if (!(await claimLists(tx))) return undefined
    const now = app.clock()
    const renewal = { own: ownNamesOf(app.config), now }
    await addListings(app, renewal)
    const manifest = await writeLists(app, renewal)
    await removeListings(app.pool, new Date(now.getTime() - MEMORY_DAYS * DAY_MS))
    const oldest = new Date(now.getTime() - app.config.retentionDays * DAY_MS)
    await removeDelistings(app.pool, oldest)
    const entries = Object.fromEntries(listNames.map((list) => [list, countOf(manifest, list)]))
    app.log.info(entries, 'Published the lists.')
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
    for (const list of listNames) {
      const zone = zoneOf(list, app.config)
      const edition = { list, zone, publicUrl, madeAt: now, expiresAt }
      lists[list] = { zone, entries: await writeList(app, edition, files, renewal) }
    }
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

/** Writes all files of a list, and counts its entries. */
async function writeList(
  app: Needs,
  edition: ListEdition,
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

function countOf({ lists }: ListManifest, list: ListName): number {
  return lists[list].entries
}
