import { open } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream'
import { parseArgs } from 'node:util'
import { createGunzip } from 'node:zlib'
import type { App } from '../app.ts'
import { insertAudit } from '../db/audit-log.ts'
import {
  LAYERS_PER_STATEMENT,
  listSources,
  type NewLayer,
  replaceNetworks,
  tidyNetworks,
} from '../db/networks.ts'
import { inTransaction } from '../db/pool.ts'
import { reasonOf, UsageError } from '../errors.ts'
import { isWiderThanAnyHolding } from '../mail/ip-blocks.ts'
import { readMmdb } from '../origin/network-tables/mmdb.ts'
import {
  csvHeader,
  csvReader,
  detectFormat,
  type LineReader,
  type LineReading,
  readDelegated,
  readIpToAs,
  type TableFormat,
  tableFormats,
} from '../origin/network-tables/text-tables.ts'
import { manualSource, registrySource } from '../origin/networks.ts'

/**
 * A parsed line of a table, and its position: the line number from 1, or the network in formats
 * without lines.
 */
type Reading = { where: string; reading: LineReading }

/** A table that is being read, with its lines grouped by chunk of the file. */
type OpenTable = { format: TableFormat; parts: AsyncIterable<readonly Reading[]> }

const HEAD_BYTES = 16 * 1024
const LINE_CHARS_MAX = 64 * 1024
/** Maximum size in bytes of a file that must be read whole; those of 2026 have up to 150 MB. */
const WHOLE_BYTES_MAX = 1024 * 1024 * 1024
const NETWORKS_PER_PART = 1_000
const GZIP = 0x1f8b

const lineReaders: Record<Exclude<TableFormat, 'mmdb'>, () => LineReader> = {
  csv: csvReader,
  ip2asn: () => readIpToAs,
  rir: () => readDelegated,
}

/**
 * Opens a table of networks, gzip-compressed or not, and detects its format unless given. Text is
 * streamed, so memory use does not grow with the file; MaxMind's format is read into memory.
 *
 * @throws UsageError if the file does not exist or its format is unknown, and during reading if it
 * is damaged
 */
async function openTable(file: string, given: TableFormat | 'auto'): Promise<OpenTable> {
  const chunks = await openChunks(file)
  const head = await takeHead(chunks)
  const format = given === 'auto' ? detectFormat(head) : given
  if (!format) {
    await chunks.return(undefined)
    throw new UsageError([
      head.length === 0
        ? 'The file is empty.'
        : 'The format of the file is unknown. Name it with --format.',
      `A CSV file starts with the header ${csvHeader}. Other formats are ip2asn, rir and mmdb.`,
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
      // The callback is required; errors also surface when the last stream is read.
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
      throw new UsageError([`Line ${line + 1} is too long.`, 'Nothing was imported.'])
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

export type ImportOptions = {
  /**
   * The name under which a later import replaces this one; by default the file name without `.gz`.
   */
  source?: string | undefined
  format?: TableFormat | 'auto' | undefined
  /** Whether a table that is much smaller or larger than the one it replaces is refused. */
  comparesSize?: boolean
  /** Set if a person imports it: the audit log names the table. */
  isAudited?: boolean
  /** Called from time to time with the number of ranges read. */
  tell?: (ranges: number) => void
}

const PROBLEMS_MAX = 20
const SOURCE_CHARS_MAX = 100
const RANGES_PER_GLANCE = 5_000
const RANGES_PER_LINE = 100_000
const reserved: readonly string[] = [manualSource, registrySource]

/** Parses `networks FILE [--as NAME] [--format auto|csv|ip2asn|rir|mmdb]`. */
export function parseImport(args: readonly string[]): ImportOptions & { file: string } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { as: { type: 'string' }, format: { type: 'string', default: 'auto' } },
  })
  const [what, file, ...rest] = positionals
  if (what !== 'networks' || file === undefined || rest.length > 0) {
    throw new UsageError(['Use "import networks FILE".'])
  }
  const format = (['auto', ...tableFormats] as const).find((name) => name === values.format)
  if (!format) throw new UsageError([`--format must be auto, ${tableFormats.join(', ')}.`])
  return { file, source: values.as, format }
}

/**
 * Replaces the table of the same name by the content of a file: CSV or TSV, IP-to-AS, statistics of
 * a regional registry, or MaxMind's format, gzip-compressed or not. Readers see the old table until
 * the new one is complete; a file with an error changes nothing. Memory use does not grow with the
 * number of lines.
 *
 * @throws UsageError listing the invalid lines
 */
export async function importNetworks(
  file: string,
  app: Pick<App, 'pool' | 'clock'>,
  options: ImportOptions = {},
) {
  const source = options.source ?? path.basename(file).replace(/\.gz$/i, '')
  refuseName(source)
  const table = await openTable(file, options.format ?? 'auto')
  // `skipped`: valid lines without a network: comments, totals, unrouted ranges.
  const tally = { ranges: 0, skipped: 0 }
  const parts = layersIn(table, tally, options.tell)
  const before = options.comparesSize ? await listSources(app.pool) : []
  const blocksBefore = before.find((one) => one.source === source)?.blocks
  const blocks = await inTransaction(app.pool, async (tx) => {
    const made = await replaceNetworks(tx, source, parts, app.clock())
    refuseSize(made, blocksBefore)
    if (options.isAudited) {
      const entry = { at: app.clock(), reporterId: null, detail: `${source}: ${made} blocks` }
      await insertAudit(tx, { ...entry, action: 'import networks' })
    }
    return made
  })
  await tidyNetworks(app.pool)
  return { source, format: table.format, blocks, ...tally }
}

/** The stream for progress messages: a terminal, or a log that must stay short. */
export type ProgressStream = { isTTY?: boolean; write: (text: string) => unknown }

/**
 * Reports progress: on a terminal by updating one line, otherwise with one line per 100,000 ranges.
 */
export function progressOn(stream: ProgressStream): {
  tell: (ranges: number) => void
  end: () => void
} {
  const step = stream.isTTY ? RANGES_PER_GLANCE : RANGES_PER_LINE
  let reported = 0
  return {
    tell(ranges) {
      if (ranges < reported + step) return
      reported = ranges - (ranges % step)
      const text = `${reported.toLocaleString('en')} ranges read`
      stream.write(stream.isTTY ? `\r${text}` : `${text}\n`)
    },
    end() {
      if (stream.isTTY && reported > 0) stream.write('\n')
    },
  }
}

/** The factor by which a table may shrink or grow if no person imports it. */
const SIZE_FACTOR_MAX = 2
/** Smaller tables are not compared: their owner edits them. */
const COMPARED_BLOCKS_MIN = 100

function refuseSize(blocks: number, before = blocks): void {
  if (before < COMPARED_BLOCKS_MIN) return
  if (blocks * SIZE_FACTOR_MAX >= before && blocks <= before * SIZE_FACTOR_MAX) return
  throw new UsageError([
    `The table has ${blocks} blocks, and the one in use has ${before}. If that is right, use ` +
      '"import networks". Nothing was imported.',
  ])
}

function refuseName(source: string): void {
  if (reserved.includes(source)) {
    throw new UsageError([`The name "${source}" is reserved. Choose another with --as.`])
  }
  if (source === '' || source.length > SOURCE_CHARS_MAX || /\p{Cc}/u.test(source)) {
    throw new UsageError([`Choose a name of 1 to ${SOURCE_CHARS_MAX} characters with --as.`])
  }
}

/** The reason why a line is rejected; undefined if it is valid. */
function faultOf(reading: LineReading): string | undefined {
  if (reading.is === 'faulty') return reading.why
  if (reading.is !== 'range' || reading.contacts.length === 0) return undefined
  const wide = reading.blocks.find(isWiderThanAnyHolding)
  return wide === undefined ? undefined : `${wide} is too wide for one abuse contact.`
}

/**
 * Groups layers into batches for one statement each. After an error, only looks for further errors.
 */
async function* layersIn(
  { parts }: OpenTable,
  tally: { ranges: number; skipped: number },
  tell?: (ranges: number) => void,
): AsyncGenerator<NewLayer[]> {
  const problems: string[] = []
  let layers: NewLayer[] = []
  for await (const part of parts) {
    for (const { where, reading } of part) {
      if (reading.is === 'skipped') tally.skipped++
      const fault = faultOf(reading)
      if (fault !== undefined) problems.push(`${where}: ${fault}`)
      if (problems.length >= PROBLEMS_MAX) break
      if (reading.is !== 'range') continue
      tally.ranges++
      const { asn, name, country, contacts } = reading
      for (const cidr of reading.blocks) {
        layers.push({ cidr, asn, name, country, contacts: [...contacts] })
        if (layers.length < LAYERS_PER_STATEMENT) continue
        if (problems.length === 0) yield layers
        layers = []
      }
    }
    if (problems.length >= PROBLEMS_MAX) break
    tell?.(tally.ranges)
  }
  if (problems.length === 0 && tally.ranges === 0) problems.push('The file contains no networks.')
  if (problems.length > 0) throw new UsageError([...problems, 'Nothing was imported.'])
  yield layers
}
