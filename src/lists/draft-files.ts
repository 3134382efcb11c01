import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { HOUR_MS } from '../durations.ts'

/** A written file, as listed in the manifest. */
export type WrittenFile = { name: string; bytes: number; sha256: string }

/** A set of files that replaces the previous one; none is replaced before all are complete. */
export type FileSet = {
  /**
   * Appends text to a file, which may be in a folder: `misp/hashes.csv`. The first call creates the
   * file.
   */
  append: (name: string, text: string) => Promise<void>
  /** Returns the files written so far. */
  written: () => WrittenFile[]
  /**
   * Moves all files into place, in the order of their creation. Then removes from the folders of
   * these files what a previous set left there.
   */
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
export async function draftFiles(folder: string, now: Date): Promise<FileSet> {
  await mkdir(folder, { recursive: true })
  await removeOldDrafts(folder, now)
  const place = await mkdtemp(path.join(folder, draftPrefix))
  const drafts = new Map<string, Draft>()
  const begin = async (name: string): Promise<Draft> => {
    await mkdir(path.dirname(path.join(place, name)), { recursive: true })
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
        await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
        await rename(path.join(place, name), path.join(folder, name))
      }
      await removeOthers(folder, new Set(drafts.keys()))
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

async function removeOthers(folder: string, kept: ReadonlySet<string>): Promise<void> {
  for (const inner of new Set([...kept].map((name) => path.dirname(name)))) {
    if (inner === '.') continue
    for (const name of await readdir(path.join(folder, inner))) {
      const whole = path.join(inner, name)
      if (!kept.has(whole)) await rm(path.join(folder, whole), { force: true, recursive: true })
    }
  }
}
