import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { batched } from '../db/batched.ts'
import { BusyError, reasonOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type Clock, inTime, systemElapsed, systemRandom, uuidTime, uuidv7 } from '../world.ts'

/** What a process accepted for the database: values as JSON, and the bytes of a message. */
export type SpoolEntry = { id: string; values: object; content: Buffer }

/** The entries on disk that wait for the database, and the number of files for operators. */
export type SpoolState = { bytes: number; oldestAt: Date | null; unstorable: number }

/**
 * Entries in files, while the database is away. Several processes may use one folder, also on a
 * shared disk: each appends to files of its own, and each may take all files. An entry may be taken
 * twice, after a crash or by two processes, so taking must be repeatable.
 */
export type Spool = {
  /**
   * Resolves when the entry is on disk.
   *
   * @throws BusyError if the spool or the disk is full; then the entry is not kept
   */
  append: (entry: SpoolEntry) => Promise<void>
  /**
   * Passes all entries to `work`, oldest first, and deletes the files whose entries it has stored.
   * Entries that `work` returns cannot be stored; each is moved to a file of its own. Returns the
   * number of entries. Rejects when `work` does; the files then stay.
   */
  take: (
    work: (entries: readonly SpoolEntry[]) => Promise<readonly SpoolEntry[]>,
  ) => Promise<number>
  state: () => Promise<SpoolState>
  /**
   * Returns why no entry can be appended (see `findSpoolFault`), as found within the last `msMax`;
   * undefined if one can. Takes a few seconds at most, also while the disk hangs.
   */
  fault: (msMax: number) => Promise<string | undefined>
  close: () => Promise<void>
}

/** Files to which a process may still append, complete ones, and those that operators look at. */
const [OPEN, CLOSED, DAMAGED, REFUSED] = ['.open', '.closed', '.damaged', '.refused']
const FILE = /^[0-9a-f-]{36}\.(open|closed)$/
const UUID_CHARS = 36
const FILE_BYTES_MAX = 16_000_000
const BATCH = { entries: 256, bytes: 8_000_000 }
const TAKEN_MAX = 64
const LOOK_MS = 2_000
const RETRY_SECONDS = 60
const LOG_MS = 10_000
/** Pauses in milliseconds between two tests: usually, and while the spool cannot be used. */
const TEST_MS = { usual: 30_000, faulty: 5_000 }
/** Maximum duration in milliseconds of a test. */
const TEST_MS_MAX = 3_000
/** The fault of a spool whose disk does not answer. */
export const spoolHangs = 'SPOOL_DIR cannot be written: the disk does not answer'
/** About the size of an entry. */
const TEST_BYTES = 65_536
/** Each entry begins with these bytes, its length and its checksum. */
const MAGIC = Buffer.from('SPR1')
const HEAD_BYTES = 12

type SpoolOptions = {
  folder: string
  bytesMax: number
  clock: Clock
  log: Logger
  /** For tests. */
  testDisk?: typeof testDisk
}

/** Opens a spool, creates its folder, and tests it again and again until it is closed. */
export function openSpool({ folder, bytesMax, clock, log, ...given }: SpoolOptions): Spool {
  const ownFile = createOwnFile(folder, clock)
  const tests = startTests({ folder, bytesMax, log, testDisk, ...given })
  let used = { bytes: 0, lookedAt: Number.NEGATIVE_INFINITY }
  let loggedAt = Number.NEGATIVE_INFINITY

  async function state(): Promise<SpoolState> {
    const read = await readSpool(folder)
    used = { bytes: read.bytes, lookedAt: systemElapsed() }
    return read
  }

  async function appendAll(entries: readonly SpoolEntry[]): Promise<undefined[]> {
    const bytes = encodeEntries(entries)
    await tests.first
    try {
      if (systemElapsed() - used.lookedAt > LOOK_MS) await state()
      if (used.bytes + bytes.length > bytesMax) throw new Error('the spool is full')
      await ownFile.append(bytes)
    } catch (error) {
      void tests.fault(0)
      if (systemElapsed() - loggedAt > LOG_MS) {
        loggedAt = systemElapsed()
        const reason = reasonOf(error)
        log.error({ reason }, 'Could not store reports on disk. Clients are asked to retry later.')
      }
      throw new BusyError('The server cannot store reports at the moment.', RETRY_SECONDS)
    }
    used.bytes += bytes.length
    return entries.map(() => undefined)
  }

  return {
    append: batched(appendAll, { lanes: 1, fill }),
    state,
    fault: tests.fault,
    async close() {
      await tests.close()
      await ownFile.close()
    },
    async take(work) {
      await tests.first
      let taken = 0
      for (const name of await listFiles(folder)) {
        taken += await takeFile({ folder, name, log }, work)
      }
      if (taken > 0) await state()
      return taken
    },
  }
}

type TestOptions = Required<Omit<SpoolOptions, 'clock'>>

/** Tests a spool at once and again and again, more often while it cannot be used. */
function startTests({ folder, bytesMax, log, ...given }: TestOptions) {
  let last: { fault: string | undefined; at: number } | undefined
  let testing: Promise<string | undefined> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function test(): Promise<string | undefined> {
    clearTimeout(timer)
    const fault = await findSpoolFault({ folder, bytesMax }, given.testDisk)
    testing = undefined
    if (fault !== last?.fault && bytesMax > 0) {
      if (fault === undefined) log.info('Reports can be stored on disk again.')
      else log.error({ reason: fault }, 'No report can be stored on disk.')
    }
    last = { fault, at: systemElapsed() }
    const pause = fault === undefined ? TEST_MS.usual : TEST_MS.faulty
    if (!isClosed && bytesMax > 0) timer = setTimeout(() => void run(), pause).unref()
    return fault
  }

  const run = () => (testing ??= test())
  return {
    first: run(),
    fault: (msMax: number) => {
      const isRecent = last !== undefined && systemElapsed() - last.at < msMax
      return isRecent && !testing ? Promise.resolve(last?.fault) : run()
    },
    async close() {
      isClosed = true
      await testing
      clearTimeout(timer)
    },
  }
}

type Place = Pick<SpoolOptions, 'folder' | 'bytesMax'>

/** The tests that have not ended, by folder. */
const tested = new Map<string, Promise<string | undefined>>()

/**
 * Returns why no report can be stored in a spool, in English and without paths; undefined if one
 * can. Writes a file to the disk and deletes it. Health, `doctor`, `/readyz` and the log say this.
 * Takes three seconds at most. While the disk hangs, all calls wait for one and the same write.
 */
export async function findSpoolFault(place: Place, test = testDisk): Promise<string | undefined> {
  const testing = tested.getOrInsertComputed(place.folder, (folder) =>
    test(place).finally(() => tested.delete(folder)),
  )
  return inTime(testing, TEST_MS_MAX, spoolHangs)
}

async function testDisk({ folder, bytesMax }: Place): Promise<string | undefined> {
  const full = 'the spool is full'
  if (bytesMax === 0) return full
  const file = path.join(folder, `.test-${systemRandom(16).toString('hex')}`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(file, Buffer.alloc(TEST_BYTES), { mode: 0o600, flag: 'wx', flush: true })
    await syncFolder(folder)
    await rm(file)
    return (await readSpool(folder)).bytes + TEST_BYTES > bytesMax ? full : undefined
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined)
    return `SPOOL_DIR cannot be written: ${diskFaultOf(error)}`
  }
}

const diskFaults = new Map([
  ...(['ENOSPC', 'EDQUOT'] as const).map((code) => [code, 'the disk is full'] as const),
  ...(['EACCES', 'EPERM'] as const).map((code) => [code, 'access is denied'] as const),
  ['EROFS', 'the disk is read-only'],
  ['EIO', 'the disk fails'],
  ...(['ENOENT', 'ENOTDIR', 'EEXIST'] as const).map(
    (code) => [code, 'it is not a folder and cannot be created'] as const,
  ),
] as const)

function diskFaultOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  const words = diskFaults.get(code as never)
  return words === undefined ? code : `${words} (${code})`
}

/** The file to which one process appends; a new one when it is large, or was taken by another. */
function createOwnFile(folder: string, clock: Clock) {
  let current: { file: FileHandle; name: string; length: number } | undefined

  async function start() {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const name = uuidv7(clock())
    const file = await open(path.join(folder, name + OPEN), 'wx', 0o600)
    await syncFolder(folder)
    return { file, name, length: 0 }
  }

  async function close(): Promise<void> {
    const ended = current
    current = undefined
    if (!ended) return
    await ended.file.close().catch(() => undefined)
    const file = path.join(folder, ended.name)
    await rename(file + OPEN, file + CLOSED).catch(() => undefined)
  }

  return {
    close,
    /** Resolves when the bytes are on disk, in a file that no process has begun to read before. */
    async append(bytes: Buffer): Promise<void> {
      for (;;) {
        const into = (current ??= await start())
        try {
          await writeAll(into.file, bytes, into.length)
          await into.file.datasync()
        } catch (error) {
          // Otherwise the next entries would follow half an entry.
          await into.file.truncate(into.length).catch(close)
          throw error
        }
        into.length += bytes.length
        // A process that takes the file renames it before it reads it. If the name is still there,
        // its reading begins after our bytes were on disk; otherwise it may have missed them.
        if (await exists(path.join(folder, into.name + OPEN))) break
        await close()
      }
      if (current && current.length >= FILE_BYTES_MAX) await close()
    },
  }
}

/** Passes the entries of a file to `work`, and deletes it. Returns the number of entries. */
async function takeFile(
  { folder, name, log }: Pick<SpoolOptions, 'folder' | 'log'> & { name: string },
  work: (entries: readonly SpoolEntry[]) => Promise<readonly SpoolEntry[]>,
): Promise<number> {
  const file = path.join(folder, name.slice(0, UUID_CHARS))
  // The owner notices that the name is gone, and continues in another file.
  if (name.endsWith(OPEN)) await rename(file + OPEN, file + CLOSED).catch(ignoreAbsent)
  const bytes = await readFile(file + CLOSED).catch(ignoreAbsent)
  if (!bytes) return 0
  const { entries, isDamaged } = decodeEntries(bytes)
  for (let at = 0; at < entries.length; at += TAKEN_MAX) {
    for (const refused of await work(entries.slice(at, at + TAKEN_MAX))) {
      const ownFile = path.join(folder, refused.id + REFUSED)
      await writeFile(ownFile, encodeEntries([refused]), { mode: 0o600, flush: true })
    }
  }
  if (isDamaged) {
    log.error({ file: file + DAMAGED }, 'A file of the spool has damaged bytes. It is kept.')
    await rename(file + CLOSED, file + DAMAGED).catch(ignoreAbsent)
  } else {
    await rm(file + CLOSED, { force: true })
  }
  return entries.length
}

export async function readSpool(folder: string): Promise<SpoolState> {
  const names = await listFiles(folder)
  const sizes = await Promise.all(names.map((name) => sizeOf(path.join(folder, name))))
  // An open file is empty until its first entry is on disk.
  const oldest = names.find((_name, index) => (sizes[index] ?? 0) > 0)
  const all = (await readdir(folder).catch(ignoreAbsent)) ?? []
  return {
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    oldestAt: oldest === undefined ? null : uuidTime(oldest.slice(0, UUID_CHARS)),
    unstorable: all.filter((name) => name.endsWith(DAMAGED) || name.endsWith(REFUSED)).length,
  }
}

function fill(waiting: readonly SpoolEntry[]): number {
  let bytes = 0
  const past = waiting.findIndex(({ content }, index) => {
    bytes += content.length
    return index > 0 && (index >= BATCH.entries || bytes > BATCH.bytes)
  })
  return past === -1 ? waiting.length : past
}

export function encodeEntries(entries: readonly SpoolEntry[]): Buffer {
  return Buffer.concat(entries.map(encode))
}

function encode({ id, values, content }: SpoolEntry): Buffer {
  const json = Buffer.from(JSON.stringify({ id, values }))
  const head = Buffer.alloc(HEAD_BYTES + 4)
  MAGIC.copy(head)
  head.writeUInt32BE(4 + json.length + content.length, 4)
  head.writeUInt32BE(json.length, HEAD_BYTES)
  const bytes = Buffer.concat([head, json, content])
  bytes.writeUInt32BE(crc32(bytes.subarray(HEAD_BYTES)), 8)
  return bytes
}

/**
 * Reads the entries of a file. An incomplete entry at the end was never acknowledged. Bytes before
 * a later entry that are no entry are damage.
 */
export function decodeEntries(bytes: Buffer): { entries: SpoolEntry[]; isDamaged: boolean } {
  const entries: SpoolEntry[] = []
  let isDamaged = false
  for (let at = 0; at < bytes.length;) {
    const end = endOfEntry(bytes, at)
    if (end !== undefined) {
      entries.push(entryOf(bytes.subarray(at + HEAD_BYTES, end)))
      at = end
      continue
    }
    const next = nextEntry(bytes, at + 1)
    if (next === undefined) break
    isDamaged = true
    at = next
  }
  return { entries, isDamaged }
}

/** The end of the entry that begins at `at`; undefined if none does. */
function endOfEntry(bytes: Buffer, at: number): number | undefined {
  const start = at + HEAD_BYTES
  if (start + 4 > bytes.length || !bytes.subarray(at, at + 4).equals(MAGIC)) return undefined
  const end = start + bytes.readUInt32BE(at + 4)
  if (end > bytes.length || start + 4 + bytes.readUInt32BE(start) > end) return undefined
  return crc32(bytes.subarray(start, end)) === bytes.readUInt32BE(at + 8) ? end : undefined
}

/** Maximum number of places tried, because a message may repeat the first bytes of an entry. */
const TRIES_MAX = 1_000

function nextEntry(bytes: Buffer, from: number): number | undefined {
  let at = from
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    at = bytes.indexOf(MAGIC, at)
    if (at < 0) return undefined
    if (endOfEntry(bytes, at) !== undefined) return at
    at++
  }
  return undefined
}

function entryOf(body: Buffer): SpoolEntry {
  const end = 4 + body.readUInt32BE(0)
  const { id, values } = JSON.parse(body.toString('utf8', 4, end)) as Omit<SpoolEntry, 'content'>
  return { id, values, content: body.subarray(end) }
}

/** The files of a spool, oldest first. */
async function listFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(ignoreAbsent)) ?? []
  return names.filter((name) => FILE.test(name)).sort()
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at)
    at += bytesWritten
  }
}

/** Makes the names of new files survive a power failure. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(ignoreAbsent))?.size ?? 0
}

/** Another process may take or delete a file at any time. */
function ignoreAbsent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
