import { blocksOfRange, quadOf } from '../ip-blocks.ts'
import {
  faulty,
  nothing,
  quoted,
  readAsn,
  readCountry,
  readName,
  skipped,
  type LineReading,
} from './reading.ts'

const cellsInRow = 5
/** How these tables say that they do not know. */
const unknown = ['None', 'Unknown', '-', 'ZZ']

/**
 * Reads a line of an IP-to-AS table as iptoasn.com gives it out: first address, last address, AS
 * number, country, name, between tabs. Addresses may be decimal numbers (its `ip2asn-v4-u32`).
 * AS 0 is address space that nobody announces.
 */
export function readIpToAs(line: string): LineReading {
  const row = line.trimEnd()
  if (row === '') return nothing
  if (row.startsWith('#')) return skipped
  const cells = row.split('\t').map((cell) => cell.trim())
  const [first = '', last = '', as = '', place = '', name = ''] = cells
  if (cells.length < cellsInRow - 1 || cells.length > cellsInRow) {
    return faulty('a line has five cells between tabs: first, last, AS number, country, name.')
  }
  const asn = readAsn(as)
  if (asn === undefined || asn === null) return faulty(`${quoted(as)} is not an AS number.`)
  const blocks = blocksOfRange(addressOf(first), addressOf(last))
  if (!blocks) return faulty(`${quoted(`${first} ${last}`)} is not a range of addresses.`)
  if (asn === 0) return skipped
  const country = unknown.includes(place) ? null : readCountry(place)
  if (country === undefined) return faulty(`${quoted(place)} is not a country code.`)
  return { is: 'range', blocks, asn, name: readName(name), country, contacts: [] }
}

/** Whether a line looks like one of such a table. */
export function isIpToAs(line: string): boolean {
  return /^[0-9a-f.:]+\t[0-9a-f.:]+\t(?:AS)?\d+\t/i.test(line)
}

function addressOf(text: string): string {
  return /^\d{1,10}$/.test(text) && Number(text) <= 0xffff_ffff ? quadOf(Number(text)) : text
}
