import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import path from 'node:path'
import { readReported, structureLimits } from '../../src/reports/message-refusal.ts'

const limits = { bytesMax: 25_000_000, ...structureLimits }
const corpus = path.join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus')

/**
 * The messages in the given folders of the corpus that intake accepts. Exits if there is no corpus.
 */
export function readCorpus(folders: readonly string[]): Buffer[] {
  if (!existsSync(corpus)) {
    console.error(`There are no real messages in ${corpus}; this benchmark needs them.`)
    process.exit(1)
  }
  return folders.flatMap((folder) =>
    readdirSync(path.join(corpus, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.eml'))
      .sort()
      .map((file) => readFileSync(path.join(corpus, folder, file)))
      .filter((raw) => 'message' in readReported(raw, limits)),
  )
}

/** Makes a different message by adding a header field with the number at the end of the header. */
export function variantOf(message: Buffer, number: number): Buffer {
  const { separator, at } = endOfHeader(message)
  return Buffer.concat([
    message.subarray(0, at),
    Buffer.from(`${separator}X-Variant: ${number}`),
    message.subarray(at),
  ])
}

/** Returns the median, the 99th percentile and the maximum. */
export function percentiles(values: readonly number[]): { p50: number; p99: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

/** The load of the machine in the last 1, 5 and 15 minutes. */
export function loadOf(): string {
  return loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')
}

/** Formats rows as a Markdown table, with numbers aligned to the right. */
export function printTable(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)),
  )
  const line = (row: readonly string[]) => {
    const cells = row.map((cell, column) => {
      const width = widths[column] ?? 0
      return column === 0 ? cell.padEnd(width) : cell.padStart(width)
    })
    return `| ${cells.join(' | ')} |`
  }
  const rules = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`,
  )
  console.log([line(head), `|${rules.join('|')}|`, ...rows.map(line)].join('\n'))
}

function endOfHeader(message: Buffer): { separator: string; at: number } {
  const crlf = message.indexOf('\r\n\r\n')
  const lf = message.indexOf('\n\n')
  if (crlf >= 0 && (lf < 0 || crlf < lf)) return { separator: '\r\n', at: crlf }
  return { separator: '\n', at: lf >= 0 ? lf : message.length }
}
