import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { AnalysisOptions, FileFindings } from '../../pieces/analyze.ts'
import { inTime, systemElapsed } from '../../world.ts'
import { type ChosenFile, type ChosenFiles, chooseFiles, type FileKind } from './choose-files.ts'
import type { FileFinding } from './read-file.ts'
import { createReaderChild, type ReaderChild } from './reader-child.ts'

/** For whom files are read, and how long the caller waits for them, in milliseconds. */
export type FileOrder = { owner: string; waitMs: number }

/** What is known about the files of a message. */
export type FilesRead = {
  findings: FileFindings
  /** The findings after all files are read; undefined if they are complete. */
  later: Promise<FileFindings> | undefined
}

/** Reads files in processes of their own. */
export type FileReader = {
  /**
   * Reads the files of a message and returns what is known after `waitMs`; the rest is read
   * afterwards. Never rejects.
   */
  read: (chosen: ChosenFiles, order: FileOrder) => Promise<FilesRead>
  /** The ids of its processes. */
  pids: () => number[]
  close: () => void
}

/** Files beyond these limits are not read. */
const WAITING = { files: 200, bytes: 64_000_000 }
/** Findings are kept by the content of the file, so that its next copy costs nothing. */
const KEPT = { max: 10_000, maxSize: 8_000_000, ttl: 600_000 }
const OWNERS = { max: 10_000, ttl: 60_000 }
const WHOLE_MS_MAX = 10_000
/** Bytes that a finding takes besides its texts. */
const ENTRY_BYTES = 300

type Waiting = {
  file: ChosenFile
  owner: string
  /** Whether a caller still waits for it. */
  isAwaited: boolean
  resolve: (finding: FileFinding) => void
}
type Reading = { finding: Promise<FileFinding>; waiting: Waiting }

/**
 * Creates a reader. PDF files and pictures have a process each, so that a QR code does not wait for
 * a PDF file. Among waiting files, those that a caller awaits come first, then those of the owner
 * whose files have taken the least time in the last minute, then the oldest.
 */
export function createFileReader(): FileReader {
  const children = new Map<FileKind, ReaderChild>()
  const lines: Readonly<Record<FileKind, Waiting[]>> = { pdf: [], picture: [] }
  const isBusy: Record<FileKind, boolean> = { pdf: false, picture: false }
  const known = new LRUCache<string, FileFinding>({ ...KEPT, sizeCalculation: sizeOf })
  const spentMs = new LRUCache<string, number>(OWNERS)
  const underWay = new Map<string, Reading>()
  let waitingBytes = 0
  let isClosed = false

  function takeNext(line: Waiting[]): Waiting | undefined {
    const rank = ({ isAwaited, owner }: Waiting) =>
      (isAwaited ? 0 : 1e9) + (spentMs.get(owner) ?? 0)
    const [next] = line.toSorted((a, b) => rank(a) - rank(b))
    if (next) line.splice(line.indexOf(next), 1)
    return next
  }

  async function work(kind: FileKind): Promise<void> {
    if (isBusy[kind]) return
    isBusy[kind] = true
    for (let next = takeNext(lines[kind]); next; next = takeNext(lines[kind])) {
      const { file, owner, resolve } = next
      const start = systemElapsed()
      const finding = isClosed ? unread : await childOf(kind).read(file)
      waitingBytes -= file.content.length
      spentMs.set(owner, (spentMs.get(owner) ?? 0) + systemElapsed() - start)
      resolve(finding)
    }
    isBusy[kind] = false
  }

  function childOf(kind: FileKind): ReaderChild {
    const child = children.get(kind) ?? createReaderChild(kind)
    children.set(kind, child)
    return child
  }

  function begin(key: string, file: ChosenFile, owner: string): Reading | undefined {
    const count = lines.pdf.length + lines.picture.length
    if (isClosed || count >= WAITING.files || waitingBytes + file.content.length > WAITING.bytes) {
      return undefined
    }
    waitingBytes += file.content.length
    const { promise, resolve } = Promise.withResolvers<FileFinding>()
    const waiting: Waiting = { file, owner, isAwaited: false, resolve }
    const finding = promise.then((made) => {
      underWay.delete(key)
      if (made.fault !== 'unread') known.set(key, made)
      return made
    })
    lines[file.kind].push(waiting)
    const reading = { finding, waiting }
    underWay.set(key, reading)
    // Deferred, so that all files of a message are in the line before the first is taken.
    queueMicrotask(() => void work(file.kind))
    return reading
  }

  async function readOne(file: ChosenFile, { owner, waitMs }: FileOrder) {
    const { kind, needsLook, content } = file
    const key = `${kind} ${needsLook} ${hash('sha256', content)}`
    const kept = known.get(key)
    if (kept) return { now: kept }
    const reading = underWay.get(key) ?? begin(key, file, owner)
    if (!reading) return { now: unread }
    reading.waiting.isAwaited = true
    const now = await inTime(reading.finding, waitMs, undefined)
    if (now) return { now }
    reading.waiting.isAwaited = false
    return { now: unread, later: reading.finding }
  }

  return {
    async read({ files, faults }, order) {
      const readings = await Promise.all(files.map((file) => readOne(file, order)))
      const now = readings.map((reading) => reading.now)
      const isComplete = readings.every(({ later }) => later === undefined)
      const later = isComplete
        ? undefined
        : Promise.all(readings.map((one) => one.later ?? one.now)).then((all) => {
            return findingsOf(all, faults)
          })
      return { findings: findingsOf(now, faults), later }
    },
    pids: () => [...children.values()].flatMap((child) => child.pid() ?? []),
    close() {
      isClosed = true
      for (const child of children.values()) child.close()
    },
  }
}

/** Returns a function for an analysis that waits until all files of a message are read. */
export function readFilesWith(reader: FileReader): NonNullable<AnalysisOptions['readFiles']> {
  return async (attachments, wishes) => {
    const { findings, later } = await reader.read(chooseFiles(attachments, wishes), {
      ...{ owner: '', waitMs: WHOLE_MS_MAX },
    })
    return (await later) ?? findings
  }
}

const unread: FileFinding = { links: [], fault: 'unread' }

function sizeOf({ links }: FileFinding): number {
  const chars = links.flatMap(({ urls, text }) => [text, ...urls]).map(({ length }) => length)
  return ENTRY_BYTES + 2 * chars.reduce((sum, length) => sum + length, 0)
}

function findingsOf(found: readonly FileFinding[], faults: ChosenFiles['faults']): FileFindings {
  return {
    links: found.flatMap(({ links }) => links),
    look: found.find(({ look }) => look !== undefined)?.look,
    faults: [...faults, ...found.flatMap(({ fault }) => fault ?? [])],
  }
}
