import { Readable } from 'node:stream'
import { ZipFile } from 'yazl'
import type { Reporter } from '../../db/reporters.ts'
import type { Site } from '../site.ts'
import { describeAccount } from './export-account.ts'
import { mailEntries, reportEntries } from './export-entries.ts'

/** One file of an archive. */
export type ArchiveEntry = { path: string; at: Date; bytes: Buffer }

type Needs = Pick<Site, 'pool' | 'clock' | 'config'>

/**
 * Writes everything we hold of a reporter as a ZIP into `out`, file by file: each is read when the
 * one before it has left, so memory does not grow with what there is. Resolves when all has been
 * written; rejects when `gone` says that nobody reads any more.
 */
export async function writeArchive(
  reporter: Reporter,
  site: Needs,
  out: NodeJS.WritableStream,
  gone: AbortSignal,
): Promise<void> {
  const zip = new ZipFile()
  zip.outputStream.pipe(out)
  for await (const entry of entriesOf(reporter, site)) await add(zip, entry, gone)
  const written = new Promise<void>((resolve) => zip.outputStream.once('end', resolve))
  zip.end()
  await Promise.race([written, untilGone(gone)])
}

async function* entriesOf(reporter: Reporter, site: Needs): AsyncGenerator<ArchiveEntry> {
  const account = await describeAccount(reporter, site)
  yield { path: 'account.json', at: site.clock(), bytes: jsonBytes(account) }
  yield* reportEntries(reporter, site)
  yield* mailEntries(reporter, site)
}

/** JSON for people: indented. */
function jsonBytes(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
}

/** Resolves when the bytes have been taken on. */
async function add(zip: ZipFile, { path, at, bytes }: ArchiveEntry, gone: AbortSignal) {
  const taken = new Promise<void>((resolve, reject) => {
    zip.addReadStreamLazy(path, { mtime: at }, (give) => {
      const stream = Readable.from([bytes], { objectMode: false })
      stream.once('error', reject).once('close', resolve)
      give(null, stream)
    })
  })
  await Promise.race([taken, untilGone(gone)])
}

function untilGone(gone: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const leave = () => reject(new Error('Nobody reads the archive any more.'))
    if (gone.aborted) leave()
    else gone.addEventListener('abort', leave, { once: true })
  })
}
