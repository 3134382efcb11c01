import { blocksOfRange, parseBlock } from '../ip-blocks.ts'
import {
  faulty,
  isContact,
  nothing,
  quoted,
  readAsn,
  readContacts,
  readCountry,
  readName,
  skipped,
  type LineReader,
  type LineReading,
} from './reading.ts'

const columns = ['cidr', 'asn', 'name', 'country', 'abuse'] as const
type Column = (typeof columns)[number] | 'contacts'

/** The header as a person is told it. */
export const csvHeader = columns.join(',')

/** Whether a line is the header of such a table: its columns in any order, and perhaps more. */
export function isCsvHeader(line: string): boolean {
  return headerOf(splitRow(line)) !== undefined
}

/**
 * Reads CSV or TSV with a header: `cidr,asn,name,country,abuse`, and `contacts` if there are more
 * abuse addresses than one. The first column may hold a CIDR or a range `first-last`.
 */
export function csvReader(): LineReader {
  let order: Column[] | undefined
  return (line) => {
    const row = line.trimEnd()
    if (row === '') return nothing
    if (row.startsWith('#')) return skipped
    const cells = splitRow(row)
    if (order) return readRow(cells, order)
    order = headerOf(cells)
    return order ? nothing : faulty(`the header must be ${csvHeader}.`)
  }
}

function headerOf(cells: readonly string[]): Column[] | undefined {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const isComplete = columns.every((column) => names.includes(column))
  return isComplete ? (names as Column[]) : undefined
}

function readRow(cells: readonly string[], order: readonly Column[]): LineReading {
  const cell = (column: Column) => cells[order.indexOf(column)]?.trim() ?? ''
  const [first = '', last] = cell('cidr').split(/\s*-\s*/)
  const block = last === undefined ? parseBlock(first) : undefined
  const blocks = last === undefined ? block && [block] : blocksOfRange(first, last)
  if (!blocks) return faulty(`${quoted(cell('cidr'))} is neither a CIDR nor a range first-last.`)
  const asn = readAsn(cell('asn'))
  if (asn === undefined) return faulty(`${quoted(cell('asn'))} is not an AS number.`)
  const country = readCountry(cell('country'))
  if (country === undefined) return faulty(`${quoted(cell('country'))} is not a country code.`)
  const abuse = cell('abuse')
  if (abuse !== '' && !isContact(abuse)) return faulty(`${quoted(abuse)} is not a mail address.`)
  const contacts = readContacts(`${abuse} ${cell('contacts')}`)
  if (!contacts) return faulty(`${quoted(cell('contacts'))} are not at most ten mail addresses.`)
  return { is: 'range', blocks, asn, name: readName(cell('name')), country, contacts }
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
