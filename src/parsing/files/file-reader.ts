import { LRUCache } from 'lru-cache'
import { complainer } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { AnalysisOptions, FileFindings } from '../../pieces/analyze.ts'
import { type Clock, inTime } from '../../world.ts'
import { type ChosenFile, type ChosenFiles, chooseFiles } from './choose-files.ts'
import { combinedFindings, createKnownFindings, type KeyedFinding } from './file-findings.ts'
import type { FileFinding } from './read-file.ts'
import { createReaderChild, type FileOrder } from './reader-child.ts'

/** For whom files are read, and how long the caller waits for them, in milliseconds. */
type Asking = { owner: string; waitMs: number }

/** What was found in the files of a message: in all, and in each. */
export type FilesRead = { findings: FileFindings; each: readonly KeyedFinding[] }

/** What is known about them, and the same after all are read; undefined if all are. */
type FilesKnown = FilesRead & { later: Promise<FilesRead> | undefined }

/** For messages about processes that cannot be started. */
export type ReaderTools = { clock: Clock; log: Pick<Logger, 'warn'> }

/** Reads files in a process of its own. */
export type FileReader = {
  /**
   * Reads the files of a message and returns what is known after `waitMs`; the rest is read
   * afterwards. Never rejects.
   */
  read: (chosen: ChosenFiles, asking: Asking) => Promise<FilesKnown>
  /** The id of its process; undefined while there is none. */
  pid: () => number | undefined
  close: () => void
}

/** Files beyond these limits are not read. */
const WAITING = { files: 200, bytes: 64_000_000 }
const KEPT = { max: 10_000, bytesMax: 8_000_000 }
const OWNERS = { max: 10_000, ttl: 60_000 }
const WHOLE_MS_MAX = 60_000
/** A file that nobody awaits ranks as if its owner's files had taken so much longer. */
const LATE_MS = 1_000
/** The files of an owner rank lower by so much for each of them that is not read yet. */
const WAITING_MS = 100

type Waiting = FileOrder & {
  owner: string
  /** How many callers still wait for it. */
  awaiting: number
}
/** What is known about a file; `later`: all of it, if it was not read in time. */
type OneRead = { now: FileFinding; later?: Promise<FileFinding> }
type Reading = { finding: Promise<FileFinding>; waiting: Waiting }

/** Ranks owners by the time that their files took lately, and by how many are not read yet. */
function createOwners() {
  const spentMs = new LRUCache<string, number>(OWNERS)
  const waiting = new Map<string, number>()
  return {
    rank: (owner: string, more = 0) =>
      (spentMs.get(owner) ?? 0) + WAITING_MS * ((waiting.get(owner) ?? 0) + more),
    add(owner: string, files: number, ms = 0): void {
      const all = (waiting.get(owner) ?? 0) + files
      if (all > 0) waiting.set(owner, all)
      else waiting.delete(owner)
      if (ms > 0) spentMs.set(owner, (spentMs.get(owner) ?? 0) + ms)
    },
  }
}

/** Creates a reader. Logs when a process cannot be started. */
export function createFileReader(app?: ReaderTools): FileReader {
  const owners = createOwners()
  const rank = ({ isAwaited, owner }: Waiting) => (isAwaited() ? 0 : LATE_MS) + owners.rank(owner)
  const failed = app && complainer(app, 'Attached files cannot be read. Will retry.')
  const child = createReaderChild(rank, failed)
  const known = createKnownFindings(KEPT)
  const underWay = new Map<string, Reading>()
  let bytes = 0

  /** Takes back the file that would be read last, if that is after a new one of an owner. */
  function takeLast(owner: string): Waiting | undefined {
    const waiting = [...underWay.values()].map((one) => one.waiting)
    const later = waiting.filter((one) => rank(one) > owners.rank(owner, 1))
    return later.toSorted((a, b) => rank(b) - rank(a)).find(child.takeBack)
  }

  function begin(file: ChosenFile, owner: string): Reading | undefined {
    const [key, length] = [file.key, file.content.length]
    while (underWay.size >= WAITING.files || bytes + length > WAITING.bytes) {
      const last = takeLast(owner)
      if (!last) return undefined
      last.settle(unread, 0)
    }
    const { promise: finding, resolve } = Promise.withResolvers<FileFinding>()
    const settle = (made: FileFinding, ms: number) => {
      bytes -= length
      underWay.delete(key)
      owners.add(owner, -1, ms)
      known.keep([key, made])
      resolve(made)
    }
    bytes += length
    owners.add(owner, 1)
    const isAwaited = () => waiting.awaiting > 0
    const waiting: Waiting = { file, owner, awaiting: 0, isAwaited, settle }
    underWay.set(key, { finding, waiting })
    child.add(waiting)
    return underWay.get(key)
  }

  async function readOne(file: ChosenFile, { owner, waitMs }: Asking): Promise<OneRead> {
    const kept = known.find(file.key)
    if (kept) return { now: kept }
    const reading = underWay.get(file.key) ?? begin(file, owner)
    // Another attempt may find room.
    if (!reading) return { now: unread, later: Promise.resolve(unread) }
    reading.waiting.awaiting++
    if (reading.waiting.awaiting === 1) queueMicrotask(child.look)
    const now = await inTime(reading.finding, waitMs, undefined)
    reading.waiting.awaiting--
    return now ? { now } : { now: unread, later: reading.finding }
  }

  return {
    async read({ files, faults }, asking) {
      const readings = await Promise.all(files.map((file) => readOne(file, asking)))
      return filesKnown(readings, files, faults)
    },
    pid: child.pid,
    close: child.close,
  }
}

/** Returns a function for an analysis that waits until all files of a message are read. */
export function readFilesWith(reader: FileReader): NonNullable<AnalysisOptions['readFiles']> {
  return async (attachments, wishes) => {
    const { findings, later } = await reader.read(chooseFiles(attachments, wishes), {
      ...{ owner: '', waitMs: WHOLE_MS_MAX },
    })
    return (await later)?.findings ?? findings
  }
}

function filesKnown(
  readings: readonly OneRead[],
  files: ChosenFiles['files'],
  faults: ChosenFiles['faults'],
): FilesKnown {
  const read = (found: readonly FileFinding[]): FilesRead => ({
    findings: combinedFindings(found, faults),
    each: files.map(({ key }, index) => [key, found[index] ?? unread]),
  })
  const now = read(readings.map((one) => one.now))
  if (readings.every(({ later }) => later === undefined)) return { ...now, later: undefined }
  const all = Promise.all(readings.map((one) => one.later ?? one.now))
  return { ...now, later: all.then(read) }
}

const unread: FileFinding = { links: [], fault: 'unread' }
