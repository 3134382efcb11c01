import path from 'node:path'
import { parseArgs } from 'node:util'
import { manualSource, registrySource } from '../../verdict/network-layers.ts'
import type { App } from '../../app.ts'
import {
  LAYERS_PER_STATEMENT,
  type NewLayer,
  replaceNetworks,
  tidyNetworks,
} from '../../db/networks.ts'
import { inTransaction } from '../../db/pool.ts'
import { UsageError } from '../../errors.ts'
import { type TableFormat, tableFormats } from '../../mail/ip-tables/detect-format.ts'
import { openTable, type OpenTable } from './table-file.ts'

/** How a table is to be imported. */
export type ImportOptions = {
  /** What it replaces and is replaced by; the name of the file without `.gz` when absent. */
  source?: string | undefined
  format?: TableFormat | 'auto' | undefined
  /** Is told now and then how many ranges have been read. */
  tell?: (ranges: number) => void
}

/** What an import did. */
export type ImportSummary = {
  source: string
  format: TableFormat
  ranges: number
  blocks: number
  /** Lines that are right and tell of no network: comments, sums, what nobody routes. */
  skipped: number
}

const PROBLEMS_MAX = 20
const SOURCE_CHARS_MAX = 100
const RANGES_PER_GLANCE = 5_000
const RANGES_PER_LINE = 100_000
const reserved: readonly string[] = [manualSource, registrySource]

/** Reads `networks FILE [--as NAME] [--format auto|csv|ip2asn|rir|mmdb]`. */
export function parseImport(args: readonly string[]): ImportOptions & { file: string } {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { as: { type: 'string' }, format: { type: 'string', default: 'auto' } },
  })
  const [what, file, ...rest] = positionals
  if (what !== 'networks' || file === undefined || rest.length > 0) {
    throw new UsageError(['Say "import networks FILE".'])
  }
  const format = (['auto', ...tableFormats] as const).find((name) => name === values.format)
  if (!format) throw new UsageError([`--format must be auto, ${tableFormats.join(', ')}.`])
  return { file, source: values.as, format }
}

/**
 * Replaces all that an earlier table of the same name told by what a file tells: CSV or TSV,
 * IP-to-AS, statistics of a regional registry, or MaxMind's format, packed by gzip or not. Readers
 * see the old table until all of the new one is there; nothing is kept of a file with a fault in
 * it. Memory does not grow with the number of lines.
 *
 * @throws UsageError naming the faulty lines
 */
export async function importNetworks(
  file: string,
  app: Pick<App, 'pool' | 'clock'>,
  options: ImportOptions = {},
): Promise<ImportSummary> {
  const source = options.source ?? path.basename(file).replace(/\.gz$/i, '')
  refuseName(source)
  const table = await openTable(file, options.format ?? 'auto')
  const tally = { ranges: 0, skipped: 0 }
  const parts = layersIn(table, tally, options.tell)
  const blocks = await inTransaction(app.pool, (tx) =>
    replaceNetworks(tx, source, parts, app.clock()),
  )
  await tidyNetworks(app.pool)
  return { source, format: table.format, blocks, ...tally }
}

/** Where progress is told: a terminal, or a file that should not get long. */
export type ProgressStream = { isTTY?: boolean; write: (text: string) => unknown }

/** Tells how far an import is: on one line of a terminal, else a line each 100,000 ranges. */
export function progressOn(stream: ProgressStream): {
  tell: (ranges: number) => void
  end: () => void
} {
  const step = stream.isTTY ? RANGES_PER_GLANCE : RANGES_PER_LINE
  let told = 0
  return {
    tell(ranges) {
      if (ranges < told + step) return
      told = ranges - (ranges % step)
      const text = `${told.toLocaleString('en')} ranges read`
      stream.write(stream.isTTY ? `\r${text}` : `${text}\n`)
    },
    end() {
      if (stream.isTTY && told > 0) stream.write('\n')
    },
  }
}

function refuseName(source: string): void {
  if (reserved.includes(source)) {
    throw new UsageError([`The name "${source}" is taken; choose another by --as.`])
  }
  if (source === '' || source.length > SOURCE_CHARS_MAX || /\p{Cc}/u.test(source)) {
    throw new UsageError([`Choose a name of 1 to ${SOURCE_CHARS_MAX} letters by --as.`])
  }
}

/** Layers in parts of a statement's size. After a fault only further faults are looked for. */
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
      if (reading.is === 'faulty') problems.push(`${where}: ${reading.why}`)
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
  if (problems.length === 0 && tally.ranges === 0) problems.push('The file tells of no network.')
  if (problems.length > 0) throw new UsageError([...problems, 'Nothing was imported.'])
  yield layers
}
