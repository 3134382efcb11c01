import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { App } from '../app.ts'
import { claimLists, pageListings, removeDelistings, removeListings } from '../db/listings.ts'
import { inTransaction } from '../db/pool.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { jsonFooter, jsonHeader, listedJson } from '../verdict/lists/judge-candidate.ts'
import {
  type ListEdition,
  type Listing,
  type ListName,
  listNames,
  MANIFEST,
  zoneHeader,
  zoneLine,
  zoneOf,
  type ZoneType,
  zoneTypeOf,
  zoneTypes,
} from '../verdict/lists/list.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { addListings, keepDeserved, PAGE, type Renewal } from './renew-listings.ts'

/** A written file, as listed in the manifest. */
type WrittenFile = { name: string; bytes: number; sha256: string }

/** A set of files that replaces the previous one; none is replaced before all are complete. */
type FileSet = {
  /** Appends text to a file; the first call creates the file. */
  append: (name: string, text: string) => Promise<void>
  /** Returns the files written so far. */
  written: () => WrittenFile[]
  /** Moves all files into place, in the order of their creation. */
  commit: () => Promise<void>
  /** Removes the files that were not moved into place. Must always be called last. */
  clear: () => Promise<void>
}

type Draft = {
  name: string
  handle: FileHandle
  bytes: number
  hash: ReturnType<typeof createHash>
}

const draftPrefix = '.draft-'
const DRAFT_MS_MAX = 6 * HOUR_MS
/** Readable by all users, because the name server runs as another user. */
const READABLE = 0o644

/**
 * Starts a set of files for a folder, in a temporary folder inside it: readers find the complete
 * previous files until the new ones are complete and written to disk. Removes temporary folders of
 * dead processes.
 */
async function draftFiles(folder: string, now: Date): Promise<FileSet> {
  await mkdir(folder, { recursive: true })
  await removeOldDrafts(folder, now)
  const place = await mkdtemp(path.join(folder, draftPrefix))
  const drafts = new Map<string, Draft>()
  const begin = async (name: string): Promise<Draft> => {
    const handle = await open(path.join(place, name), 'wx', READABLE)
    const draft = { name, handle, bytes: 0, hash: createHash('sha256') }
    drafts.set(name, draft)
    return draft
  }
  return {
    async append(name, text) {
      const draft = drafts.get(name) ?? (await begin(name))
      const bytes = Buffer.from(text)
      draft.bytes += bytes.length
      draft.hash.update(bytes)
      await draft.handle.appendFile(bytes)
    },
    written: () => [...drafts.values()].map(manifestEntry),
    async commit() {
      for (const { handle } of drafts.values()) await handle.sync()
      for (const name of drafts.keys()) {
        await rename(path.join(place, name), path.join(folder, name))
      }
    },
    async clear() {
      for (const { handle } of drafts.values()) await handle.close()
      await rm(place, { recursive: true, force: true })
    },
  }
}

function manifestEntry({ name, bytes, hash }: Draft): WrittenFile {
  return { name, bytes, sha256: hash.copy().digest('hex') }
}

async function removeOldDrafts(folder: string, now: Date): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(draftPrefix)) continue
    const place = path.join(folder, name)
    const { mtimeMs } = await stat(place)
    if (now.getTime() - mtimeMs > DRAFT_MS_MAX) await rm(place, { recursive: true, force: true })
  }
}

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

/** The content of `manifest.json`, which describes the published files. */
export type ListManifest = {
  generated_at: string
  expires_at: string
  lists: Record<ListName, { zone: string; entries: number }>
  files: WrittenFile[]
}

/** Validity of published lists in days. */
const GOOD_DAYS = 3
/** Time in days for which an ended entry is remembered, so that a repeated listing lasts longer. */
const MEMORY_DAYS = 180

/**
 * Updates the entries and writes the lists: for rbldnsd, as JSON, as plain text. The previous files
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

/** Writes all files of a list; returns the number of its entries. */
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
