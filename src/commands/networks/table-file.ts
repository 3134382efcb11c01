import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { reasonOf, UsageError } from '../../errors.ts'
import { csvHeader, csvReader } from '../../mail/ip-tables/csv.ts'
import { readDelegated } from '../../mail/ip-tables/delegated.ts'
import { detectFormat, type TableFormat } from '../../mail/ip-tables/detect-format.ts'
import { readIpToAs } from '../../mail/ip-tables/ip-to-as.ts'
import { readMmdb } from '../../mail/ip-tables/mmdb.ts'
import type { LineReader, LineReading } from '../../mail/ip-tables/reading.ts'

/** One line of a table (or network, where there are no lines), counted from 1. */
export type Reading = { where: string; reading: LineReading }

/** A table that is being read; parts are as large as a piece of the file. */
export type OpenTable = { format: TableFormat; parts: AsyncIterable<readonly Reading[]> }

const HEAD_BYTES = 16 * 1024
const LINE_CHARS_MAX = 64 * 1024
/** A file that cannot be read piece by piece; those of 2026 have up to 150 MB. */
const WHOLE_BYTES_MAX = 1024 * 1024 * 1024
const NETWORKS_PER_PART = 1_000
const GZIP = 0x1f8b

const lineReaders: Record<Exclude<TableFormat, 'mmdb'>, () => LineReader> = {
  csv: csvReader,
  ip2asn: () => readIpToAs,
  rir: () => readDelegated,
}

/**
 * Opens a table of networks, gzip or not, and finds out its format unless that is given. Text is
 * read piece by piece, so memory does not grow with the file; MaxMind's format must be held whole.
 *
 * @throws UsageError when there is no such file or no such format; reading on throws it when the
 * file is damaged
 */
export async function openTable(file: string, given: TableFormat | 'auto'): Promise<OpenTable> {
  const chunks = await openChunks(file)
  const head = await takeHead(chunks)
  const format = given === 'auto' ? detectFormat(head) : given
  if (!format) {
    await chunks.return(undefined)
    throw new UsageError([
      head.length === 0 ? 'The file is empty.' : 'This begins like none of the tables we read.',
      `A CSV begins with the header ${csvHeader}; --format csv, ip2asn, rir or mmdb says more.`,
      'Nothing was imported.',
    ])
  }
  const bytes = joined(head, chunks)
  if (format === 'mmdb') return { format, parts: networksIn(bytes) }
  return { format, parts: linesIn(bytes, lineReaders[format]()) }
}

type Chunks = AsyncGenerator<Buffer, undefined, undefined>

async function openChunks(file: string): Promise<Chunks> {
  const cannot = (cause: unknown) => new UsageError([`Cannot read ${file}: ${reasonOf(cause)}`])
  const handle = await open(file).catch((cause: unknown) => {
    throw cannot(cause)
  })
  async function* read(): Chunks {
    try {
      const start = Buffer.alloc(2)
      await handle.read(start, 0, 2, 0)
      const packed = handle.createReadStream({ start: 0, autoClose: false })
      const isPacked = start.readUInt16BE() === GZIP
      // The callback is needed; what goes wrong comes out of the last stream as well.
      const stream = isPacked ? pipeline(packed, createGunzip(), () => undefined) : packed
      for await (const chunk of stream) yield chunk as Buffer
    } catch (cause) {
      throw cannot(cause)
    } finally {
      await handle.close()
    }
    return undefined
  }
  return read()
}

async function takeHead(chunks: Chunks): Promise<Buffer> {
  const head: Buffer[] = []
  for (let bytes = 0; bytes < HEAD_BYTES;) {
    const next = await chunks.next()
    if (next.done) break
    head.push(next.value)
    bytes += next.value.length
  }
  return Buffer.concat(head)
}

async function* joined(head: Buffer, chunks: Chunks): Chunks {
  yield head
  yield* chunks
  return undefined
}

async function* linesIn(chunks: Chunks, read: LineReader): AsyncGenerator<Reading[]> {
  const decoder = new TextDecoder()
  let rest = ''
  let line = 0
  const readingOf = (text: string) => ({ where: `Line ${++line}`, reading: read(text) })
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines.map(readingOf)
    if (rest.length > LINE_CHARS_MAX) {
      throw new UsageError([`Line ${line + 1} is far too long.`, 'Nothing was imported.'])
    }
  }
  rest += decoder.decode()
  if (rest !== '') yield [readingOf(rest)]
}

async function* networksIn(chunks: Chunks): AsyncGenerator<Reading[]> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    pieces.push(chunk)
    bytes += chunk.length
    if (bytes > WHOLE_BYTES_MAX) throw new UsageError(['The file is larger than a gigabyte.'])
  }
  let part: Reading[] = []
  let network = 0
  for (const reading of readMmdb(Buffer.concat(pieces))) {
    part.push({ where: `Network ${++network}`, reading })
    if (part.length < NETWORKS_PER_PART) continue
    yield part
    part = []
  }
  yield part
}
