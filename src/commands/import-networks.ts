import { open } from 'node:fs/promises'
import path from 'node:path'
import type { Network } from '../analysis/network.ts'
import type { App } from '../app.ts'
import { replaceNetworks } from '../db/networks.ts'
import { inTransaction } from '../db/pool.ts'
import { UsageError } from '../errors.ts'
import { blocksOfRange, parseBlock } from '../mail/ip-blocks.ts'

/** What an import did. */
export type ImportSummary = { source: string; ranges: number; blocks: number }

const columns = ['cidr', 'asn', 'name', 'country', 'abuse'] as const
type Column = (typeof columns)[number]

const PROBLEMS_MAX = 20
const MAIL_ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$/

/**
 * Reads a table of networks from CSV or TSV and replaces all that an earlier file of the same name
 * told. The header names the columns `cidr,asn,name,country,abuse`; the first may hold a CIDR or a
 * range `first-last`. Nothing is kept of a file with a fault in it.
 *
 * @throws UsageError naming the faulty lines
 */
export async function importNetworks(
  file: string,
  app: Pick<App, 'pool' | 'clock'>,
): Promise<ImportSummary> {
  const source = path.basename(file)
  const { networks, ranges } = await readNetworks(file)
  await inTransaction(app.pool, (tx) => replaceNetworks(tx, source, networks, app.clock()))
  return { source, ranges, blocks: networks.length }
}

async function readNetworks(file: string): Promise<{ networks: Network[]; ranges: number }> {
  const handle = await open(file).catch((cause: unknown) => {
    throw new UsageError([`Cannot read ${file}: ${cause instanceof Error ? cause.message : ''}`])
  })
  const networks = new Map<string, Network>()
  const problems: string[] = []
  let order: Column[] | undefined
  let [line, ranges] = [0, 0]
  for await (const text of handle.readLines()) {
    line++
    const row = text.replace(/^\uFEFF/, '').trimEnd()
    if (row === '' || row.startsWith('#')) continue
    const cells = splitRow(row)
    if (!order) {
      order = headerOf(cells)
      if (order) continue
      throw new UsageError([`Line ${line}: the header must be ${columns.join(',')}.`])
    }
    const read = readRow(cells, order)
    if (typeof read === 'string') problems.push(`Line ${line}: ${read}`)
    else {
      ranges++
      for (const network of read) networks.set(network.cidr, network)
    }
    if (problems.length >= PROBLEMS_MAX) break
  }
  if (!order) problems.push('The file is empty.')
  if (problems.length > 0) throw new UsageError([...problems, 'Nothing was imported.'])
  return { networks: [...networks.values()], ranges }
}

function headerOf(cells: readonly string[]): Column[] | undefined {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const isComplete = columns.every((column) => names.includes(column))
  return isComplete ? (names as Column[]) : undefined
}

function readRow(cells: readonly string[], order: readonly Column[]): Network[] | string {
  const cell = (column: Column) => cells[order.indexOf(column)]?.trim() ?? ''
  const [first = '', last] = cell('cidr').split(/\s*-\s*/)
  const block = last === undefined ? parseBlock(first) : undefined
  const blocks = last === undefined ? (block ? [block] : undefined) : blocksOfRange(first, last)
  if (!blocks) return `"${cell('cidr')}" is neither a CIDR nor a range first-last.`
  const asn = cell('asn').replace(/^AS/i, '')
  if (asn !== '' && !/^\d{1,10}$/.test(asn)) return `"${cell('asn')}" is not an AS number.`
  const country = cell('country').toUpperCase()
  if (country !== '' && !/^[A-Z]{2}$/.test(country)) return `"${country}" is not a country code.`
  const abuse = cell('abuse')
  if (abuse !== '' && !MAIL_ADDRESS.test(abuse)) return `"${abuse}" is not a mail address.`
  const rest = {
    asn: asn === '' ? null : Number(asn),
    name: cell('name') || null,
    country: country || null,
    contacts: abuse === '' ? [] : [abuse],
    abuse: abuse || null,
  }
  return blocks.map((cidr) => ({ cidr, ...rest }))
}

/** Cells between tabs, or between commas with RFC 4180 quotes. */
function splitRow(row: string): string[] {
  if (row.includes('\t')) return row.split('\t')
  const cells: string[] = []
  const cell = /\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(?:,|$)/y
  while (cell.lastIndex < row.length) {
    const match = cell.exec(row)
    if (!match) break
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
  }
  return cells
}
