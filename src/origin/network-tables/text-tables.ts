import { blocksOfRange, parseBlock, quadOf } from '../../mail/ip-blocks.ts'
import { parseIp } from '../../mail/ip.ts'
import { storableText } from '../../mail/text.ts'

/** The information in one line or record of a table about a range of addresses. */
type RangeReading = {
  is: 'range'
  /** The smallest list of CIDR blocks that makes up the range. */
  blocks: readonly string[]
  asn: number | null
  name: string | null
  /** ISO 3166-1 alpha-2, or `EU` and `AP` as registries use them. */
  country: string | null
  /** Abuse contacts, the best first. */
  contacts: readonly string[]
}

/**
 * The result of parsing one line. `skipped` lines are valid but describe no network: comments,
 * totals, ranges that are not routed. `nothing` is an empty line or a header.
 */
export type LineReading =
  | RangeReading
  | { is: 'skipped' }
  | { is: 'nothing' }
  | { is: 'faulty'; why: string }

/** Parses one line of a table; called with the lines in their order. */
export type LineReader = (line: string) => LineReading

/** A valid line that describes no network. */
export const skipped: LineReading = { is: 'skipped' }

/** An empty line or the header. */
const nothing: LineReading = { is: 'nothing' }

/** A line that cannot be parsed, and why. */
export function faulty(why: string): { is: 'faulty'; why: string } {
  return { is: 'faulty', why }
}

const NAME_CHARS_MAX = 200
const QUOTED_CHARS_MAX = 60
const AS_NUMBER_MAX = 0xffff_ffff
const CONTACTS_MAX = 10
const MAIL_ADDRESS = /^[^\s@<>,;:"()[\]\\]{1,64}@[A-Za-z0-9.-]{1,253}$/

/** Parses an AS number with or without `AS` before it; null when empty, undefined when invalid. */
export function readAsn(text: string): number | null | undefined {
  if (text === '') return null
  const digits = /^(?:AS)?(\d{1,10})$/i.exec(text)?.[1]
  const asn = Number(digits)
  return digits !== undefined && asn <= AS_NUMBER_MAX ? asn : undefined
}

/** Parses a country code and returns it in upper case; null when empty, undefined when invalid. */
export function readCountry(text: string): string | null | undefined {
  if (text === '') return null
  return /^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : undefined
}

/** A name in storable form, at most 200 characters; null when empty. */
export function readName(text: string): string | null {
  return storableText(text.trim(), NAME_CHARS_MAX) || null
}

export function isContact(text: string): boolean {
  return MAIL_ADDRESS.test(text)
}

/**
 * Parses mail addresses separated by commas, semicolons or blanks, and removes duplicates.
 * Undefined when one is invalid or there are more than ten.
 */
export function readContacts(text: string): string[] | undefined {
  const contacts = [...new Set(text.split(/[\s,;]+/).filter((part) => part !== ''))]
  return contacts.length <= CONTACTS_MAX && contacts.every(isContact) ? contacts : undefined
}

/** Untrusted text in quotation marks, at most 60 characters, for an error message. */
function quoted(text: string): string {
  return JSON.stringify(storableText(text, QUOTED_CHARS_MAX))
}

const columns = ['cidr', 'asn', 'name', 'country', 'abuse'] as const
type Column = (typeof columns)[number] | 'contacts'

/** The header as shown to people. */
export const csvHeader = columns.join(',')

/**
 * Whether a line is the header of our own format: its columns in any order, perhaps with others.
 */
function isCsvHeader(line: string): boolean {
  return headerOf(splitRow(line)) !== undefined
}

/**
 * Creates a parser for CSV or TSV with a header: `cidr,asn,name,country,abuse`, and `contacts` if
 * there is more than one abuse contact. The column `cidr` may contain a CIDR block or a range
 * `first-last`.
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
  if (!contacts)
    return faulty(`${quoted(cell('contacts'))} is not a list of at most ten mail addresses.`)
  return { is: 'range', blocks, asn, name: readName(cell('name')), country, contacts }
}

/** Splits a row into cells at tabs, or at commas with RFC 4180 quotes. */
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

const ADDRESSES = 2 ** 32

/**
 * Parses a line of the statistics in which the regional registries publish their allocations ("RIR
 * Statistics Exchange Format", version 2 and its extended form):
 * `registry|country|ipv4|first address|number of addresses|date|status[|holder]`. The number need
 * not be a power of two; for `ipv6` it is the length of the prefix. A line gives only the country,
 * neither a name nor an abuse contact. Skips the version line, the totals, AS numbers, and reserved
 * or available ranges.
 */
export function readDelegated(line: string): LineReading {
  const row = line.trimEnd()
  if (row === '') return nothing
  if (row.startsWith('#') || /^\d+(?:\.\d+)?\|/.test(row)) return skipped
  const cells = row.split('|').map((cell) => cell.trim())
  const [registry = '', place = '', type = '', start = '', value = '', , status = ''] = cells
  if (!/^[a-z]+$/i.test(registry) || cells.length < 6) {
    return faulty('a line must have seven cells: registry|cc|type|start|value|date|status.')
  }
  if (cells[5] === 'summary' || type === 'asn') return skipped
  if (type !== 'ipv4' && type !== 'ipv6') {
    return faulty(`${quoted(type)} is neither ipv4, ipv6 nor asn.`)
  }
  if (/^(?:reserved|available)$/i.test(status)) return skipped
  const blocks = type === 'ipv4' ? blocks4(start, value) : blocks6(start, value)
  if (!blocks) return faulty(`${quoted(`${start} ${value}`)} is not a range of addresses.`)
  const country = place === 'ZZ' ? null : readCountry(place)
  if (country === undefined) return faulty(`${quoted(place)} is not a country code.`)
  if (country === null) return skipped
  return { is: 'range', blocks, asn: null, name: null, country, contacts: [] }
}

/** Whether a line looks like one of a registry's delegation file (`registry|cc|type|…`). */
function isDelegated(line: string): boolean {
  return /^(?:\d+(?:\.\d+)?\|[a-z]+\||[a-z]+\|(?:[a-z]{2}|\*)?\|(?:ipv4|ipv6|asn)\|)/i.test(line)
}

function blocks4(start: string, value: string): string[] | undefined {
  const first = parseIp(start)
  if (first?.family !== 4 || !/^\d{1,10}$/.test(value)) return undefined
  const [high = 0, low = 0] = first.groups.slice(6)
  const last = high * 65_536 + low + Number(value) - 1
  return last < ADDRESSES ? blocksOfRange(start, quadOf(last)) : undefined
}

function blocks6(start: string, value: string): string[] | undefined {
  if (parseIp(start)?.family !== 6 || !/^\d{1,3}$/.test(value)) return undefined
  const block = parseBlock(`${start}/${value}`)
  return block === undefined ? undefined : [block]
}

const cellsInRow = 5
/** Values with which IP-to-AS tables mark an unknown country. */
const unknown = ['None', 'Unknown', '-', 'ZZ']

/**
 * Parses a line of an IP-to-AS table as iptoasn.com publishes it: first address, last address, AS
 * number, country, name, separated by tabs. Addresses may be decimal numbers (its `ip2asn-v4-u32`).
 * AS 0 is address space that is not announced; it is skipped.
 */
export function readIpToAs(line: string): LineReading {
  const row = line.trimEnd()
  if (row === '') return nothing
  if (row.startsWith('#')) return skipped
  const cells = row.split('\t').map((cell) => cell.trim())
  const [first = '', last = '', as = '', place = '', name = ''] = cells
  if (cells.length < cellsInRow - 1 || cells.length > cellsInRow) {
    return faulty(
      'a line must have five cells between tabs: first, last, AS number, country, name.',
    )
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

/** Whether a line looks like one of an IP-to-AS table. */
function isIpToAs(line: string): boolean {
  return /^[0-9a-f.:]+\t[0-9a-f.:]+\t(?:AS)?\d+\t/i.test(line)
}

function addressOf(text: string): string {
  return /^\d{1,10}$/.test(text) && Number(text) <= 0xffff_ffff ? quadOf(Number(text)) : text
}

/**
 * The formats of network tables that we read: our own CSV, IP-to-AS, the statistics of the regional
 * registries, MaxMind's format.
 */
export const tableFormats = ['csv', 'ip2asn', 'rir', 'mmdb'] as const

export type TableFormat = (typeof tableFormats)[number]

/**
 * Detects the format of a table from its first bytes: MaxMind's if they contain a NUL, else by the
 * first line that is neither empty nor a comment. Undefined when no format matches.
 */
export function detectFormat(head: Buffer): TableFormat | undefined {
  if (head.includes(0)) return 'mmdb'
  const lines = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split('\n')
  const line = lines.map((text) => text.trimEnd()).find((text) => text !== '' && text[0] !== '#')
  if (line === undefined) return undefined
  if (isCsvHeader(line)) return 'csv'
  if (isDelegated(line)) return 'rir'
  return isIpToAs(line) ? 'ip2asn' : undefined
}
