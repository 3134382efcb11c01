import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { complainer } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { AnalysisOptions, FileFindings } from '../../pieces/analyze.ts'
import { type Clock, inTime, systemElapsed } from '../../world.ts'
import { type ChosenFile, type ChosenFiles, chooseFiles, type FileKind } from './choose-files.ts'
import type { FileFinding } from './read-file.ts'
import { createReaderChild, type ReaderChild } from './reader-child.ts'

/** For whom files are read, and how long the caller waits for them, in milliseconds. */
type FileOrder = { owner: string; waitMs: number }

/** What is known about the files of a message. */
type FilesRead = {
  findings: FileFindings
  /** The findings after all files are read; undefined if they are complete. */
  later: Promise<FileFindings> | undefined
}

/** For messages about processes that cannot be started. */
export type ReaderTools = { clock: Clock; log: Pick<Logger, 'warn'> }

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
const WHOLE_MS_MAX = 60_000
/** A file that nobody awaits ranks as if its owner's files had taken so much longer. */
const LATE_MS = 1_000
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
 * a PDF file. Logs when a process cannot be started.
 */
export function createFileReader(app?: ReaderTools): FileReader {
  const lines = createLines(app)
  const known = new LRUCache<string, FileFinding>({ ...KEPT, sizeCalculation: sizeOf })
  const underWay = new Map<string, Reading>()

  function begin(key: string, file: ChosenFile, owner: string): Reading | undefined {
    const bytes = [...underWay.values()].reduce(
      (sum, one) => sum + one.waiting.file.content.length,
      0,
    )
    if (underWay.size >= WAITING.files || bytes + file.content.length > WAITING.bytes) {
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<FileFinding>()
    const waiting: Waiting = { file, owner, isAwaited: false, resolve }
    const finding = promise.then((made) => {
      underWay.delete(key)
      if (made.fault !== 'unread') known.set(key, made)
      return made
    })
    lines[file.kind].add(waiting)
    const reading = { finding, waiting }
    underWay.set(key, reading)
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
      const findings = findingsOf(now, faults)
      if (readings.every(({ later }) => later === undefined)) return { findings, later: undefined }
      const all = Promise.all(readings.map((one) => one.later ?? one.now))
      return { findings, later: all.then((made) => findingsOf(made, faults)) }
    },
    pids: () => [lines.pdf.pid(), lines.picture.pid()].filter((pid) => pid !== undefined),
    close() {
      lines.pdf.close()
      lines.picture.close()
    },
  }
}

type Line = {
  add: (waiting: Waiting) => void
  pid: () => number | undefined
  close: () => void
}

function createLines(app: ReaderTools | undefined): Readonly<Record<FileKind, Line>> {
  const spentMs = new LRUCache<string, number>(OWNERS)
  const failed = app && complainer(app, 'Attached files cannot be read. Will retry.')
  return {
    pdf: createLine(createReaderChild('pdf', failed), spentMs),
    picture: createLine(createReaderChild('picture', failed), spentMs),
  }
}

/**
 * Creates the line of files before a process. Those of the owner come first whose files have taken
 * the least time in the last minute; files that no caller awaits any more come later.
 */
function createLine(child: ReaderChild, spentMs: LRUCache<string, number>): Line {
  const line: Waiting[] = []
  let isBusy = false
  let isClosed = false

  function takeNext(): Waiting | undefined {
    const rank = ({ isAwaited, owner }: Waiting) =>
      (isAwaited ? 0 : LATE_MS) + (spentMs.get(owner) ?? 0)
    const [next] = line.toSorted((a, b) => rank(a) - rank(b))
    if (next) line.splice(line.indexOf(next), 1)
    return next
  }

  async function work(): Promise<void> {
    if (isBusy) return
    isBusy = true
    for (let next = takeNext(); next; next = takeNext()) {
      const { file, owner, resolve } = next
      const start = systemElapsed()
      const finding = isClosed ? unread : await child.read(file)
      spentMs.set(owner, (spentMs.get(owner) ?? 0) + systemElapsed() - start)
      resolve(finding)
    }
    isBusy = false
  }

  return {
    add(waiting) {
      line.push(waiting)
      // Deferred, so that all files of a message are in the line before the first is taken.
      queueMicrotask(() => void work())
    },
    pid: child.pid,
    close() {
      isClosed = true
      child.close()
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
