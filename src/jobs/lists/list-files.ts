import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import path from 'node:path'

/** A file that was written, for the manifest. */
export type WrittenFile = { name: string; bytes: number; sha256: string }

/** Files that take the place of the former ones together, or not at all. */
export type FileSet = {
  /** Appends to a file, which the first word begins. */
  append: (name: string, text: string) => Promise<void>
  /** What was appended so far. */
  written: () => WrittenFile[]
  /** Puts all files in place, in the order in which they were begun. */
  commit: () => Promise<void>
  /** Removes what is not in place. To be called in any case. */
  clear: () => Promise<void>
}

type Draft = {
  name: string
  handle: FileHandle
  bytes: number
  hash: ReturnType<typeof createHash>
}

const draftPrefix = '.draft-'
const DRAFT_MS_MAX = 6 * 3_600_000
/** Others read them: the name server runs under an account of its own. */
const READABLE = 0o644

/**
 * Begins a set of files for a folder, in a folder of its own beside them: readers find the former
 * files, whole, until the new ones are complete and on disk. Drafts that a dead run left are
 * removed.
 */
export async function draftFiles(folder: string, now: Date): Promise<FileSet> {
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
    written: () => [...drafts.values()].map(told),
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

function told({ name, bytes, hash }: Draft): WrittenFile {
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
