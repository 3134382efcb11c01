import { blocksOfRange, parseBlock, quadOf } from '../ip-blocks.ts'
import { parseIp } from '../ip.ts'
import { faulty, nothing, quoted, readCountry, skipped, type LineReading } from './reading.ts'

const ADDRESSES = 2 ** 32

/**
 * Reads a line of the statistics in which the regional registries say what they gave to whom
 * ("RIR Statistics Exchange Format", version 2 and its extended form):
 * `registry|country|ipv4|first address|number of addresses|date|status[|holder]`. The number need
 * not be a power of two; for `ipv6` it is the length of the prefix. It tells the country and
 * nothing else: neither a name nor whom to write to. The version, the sums, AS numbers, and what
 * is reserved or available are skipped.
 */
export function readDelegated(line: string): LineReading {
  const row = line.trimEnd()
  if (row === '') return nothing
  if (row.startsWith('#') || /^\d+(?:\.\d+)?\|/.test(row)) return skipped
  const cells = row.split('|').map((cell) => cell.trim())
  const [registry = '', place = '', type = '', start = '', value = '', , status = ''] = cells
  if (!/^[a-z]+$/i.test(registry) || cells.length < 6) {
    return faulty('a line has seven cells: registry|cc|type|start|value|date|status.')
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

/** Whether a line looks like one of such a table. */
export function isDelegated(line: string): boolean {
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
