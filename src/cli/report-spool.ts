import { constants } from 'node:fs'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { reasonOf } from '../errors.ts'
import { type Answered, postMessage, type ReportRequest } from './report.ts'

/** Where `clients/spool/signalpost-spool` puts messages, and where they are reported. */
export type SpoolRequest = Omit<ReportRequest, 'files' | 'kind'> & { folder: string }

type SpoolIo = {
  print: (line: string) => void
  complain: (line: string) => void
  signal: AbortSignal
  /** Waits before the next attempt; resolves early at the end of the work. */
  pause?: (ms: number) => Promise<unknown>
}

/**
 * Messages in the spool: the time, something unique, the hash of the user if one is named, and the
 * kind. Others are not complete yet.
 */
const spooled = /^\d+\.\w+(?:-(?<user>[\da-f]{32}))?\.(?<kind>spam|phishing|not-spam)$/
const REFUSED = 'refused'
/** How often the spool is read, and how long to wait when the service does not answer. */
const IDLE_MS = 2_000
const AWAY_MS = { first: 5_000, most: 300_000 }

/**
 * Reports the messages of a spool, the oldest first, until the signal. A message leaves the spool
 * only when the service has it, or has refused it; then it is kept in the folder `refused`. A
 * message that was reported just before a crash is reported again, which counts once.
 */
export async function reportSpool(request: SpoolRequest, io: SpoolIo): Promise<void> {
  const pause =
    io.pause ?? ((ms) => wait(ms, undefined, { signal: io.signal }).catch(() => undefined))
  await mkdir(path.join(request.folder, REFUSED), { recursive: true, mode: 0o700 })
  let awayMs = 0
  while (!io.signal.aborted) {
    const why = await emptySpool(request, io)
    if (why === undefined) awayMs = 0
    else {
      awayMs = Math.min(AWAY_MS.most, Math.max(AWAY_MS.first, awayMs * 2))
      io.complain(`${why} The messages stay in ${request.folder}; next try in ${awayMs / 1_000} s.`)
    }
    await pause(awayMs || IDLE_MS)
  }
}

/** Reports what is in the spool. Returns why it stopped before the end, if it did. */
async function emptySpool(request: SpoolRequest, io: SpoolIo): Promise<string | undefined> {
  const names = (await readdir(request.folder)).filter((name) => spooled.test(name)).sort()
  for (const name of names) {
    if (io.signal.aborted) return undefined
    const file = path.join(request.folder, name)
    const { kind = '', user } = spooled.exec(name)?.groups ?? {}
    const answer = await answerOf(file, { ...request, kind, user })
    if (answer.is === 'taken') {
      io.print(`${name}: ${answer.said}`)
      await rm(file, { force: true })
    } else if (answer.is === 'refused') {
      io.complain(`${name}: ${answer.why} Kept in ${REFUSED}.`)
      await rename(file, path.join(request.folder, REFUSED, name))
    } else return `${name}: ${answer.why}`
  }
  return undefined
}

async function answerOf(
  file: string,
  request: Parameters<typeof postMessage>[1],
): Promise<Answered> {
  let raw: Buffer
  try {
    raw = await readSpooled(file)
  } catch (error) {
    return { is: 'refused', why: reasonOf(error) }
  }
  try {
    return await postMessage(raw, request)
  } catch (error) {
    return { is: 'away', why: reasonOf(error) }
  }
}

/** Reads a message. Every user may write into the spool, so it may also be a link or a pipe. */
async function readSpooled(name: string): Promise<Buffer> {
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
  await using file = await open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const found = await file.stat()
  if (!found.isFile()) throw new Error('This is not a file.')
  if (found.size > BYTES_MAX) throw new Error(`The message has ${found.size} bytes.`)
  const raw = await file.readFile()
  // A mail program puts its separator in front of a message from a mailbox file.
  return raw.subarray(0, 5).toString() === 'From ' ? raw.subarray(raw.indexOf(10) + 1) : raw
}

/** No service accepts larger messages. */
const BYTES_MAX = 200_000_000
