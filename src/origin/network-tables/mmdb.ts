import { LRUCache } from 'lru-cache'
import { quadOf } from '../../mail/ip-blocks.ts'
import { faulty, type LineReading, readAsn, readCountry, readName, skipped } from './text-tables.ts'

/**
 * A value of the data section. Numbers beyond 2^53 lose their last digits; byte strings are null.
 */
export type MmdbValue = string | number | boolean | null | MmdbValue[] | MmdbMap

/** A map of the data section. */
export type MmdbMap = { [key: string]: MmdbValue }

const types = {
  pointer: 1,
  text: 2,
  double: 3,
  bytes: 4,
  uint16: 5,
  uint32: 6,
  map: 7,
  int32: 8,
  uint64: 9,
  uint128: 10,
  list: 11,
  boolean: 14,
  float: 15,
} as const

const DEPTH_MAX = 16
/** Maximum number of values in one record; only a file with circular pointers exceeds it. */
const VALUES_MAX = 2_000

type Read = { value: MmdbValue; next: number }
type Section = { bytes: Buffer; start: number; values: number }

/**
 * Parses the value at a place of the data section that begins at `start` ("MaxMind DB File Format",
 * version 2.0, "Output Data Section"). Undefined when the value is damaged or never ends.
 */
export function readMmdbValue(bytes: Buffer, start: number, place: number): MmdbValue | undefined {
  return readValue({ bytes, start, values: 0 }, start + place, 0)?.value
}

export function isMmdbMap(value: MmdbValue | undefined): value is MmdbMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readValue(section: Section, at: number, depth: number): Read | undefined {
  const { bytes } = section
  if (depth > DEPTH_MAX || ++section.values > VALUES_MAX || at >= bytes.length) return undefined
  const control = bytes[at] ?? 0
  if (control >> 5 === types.pointer) return readPointer(section, at, depth)
  const isExtended = control >> 5 === 0
  const type = isExtended ? (bytes[at + 1] ?? 0) + 7 : control >> 5
  const size = readSize(bytes, control & 31, at + (isExtended ? 2 : 1))
  if (!size) return undefined
  if (type === types.map) return readMap(section, size, depth)
  if (type === types.list) return readList(section, size, depth)
  if (type === types.boolean) return { value: size.size === 1, next: size.next }
  const next = size.next + size.size
  if (next > bytes.length) return undefined
  const value = readScalar(type, bytes.subarray(size.next, next))
  return value === undefined ? undefined : { value, next }
}

function readSize(bytes: Buffer, code: number, at: number) {
  if (code < 29) return { size: code, next: at }
  const more = code - 28
  if (at + more > bytes.length) return undefined
  return { size: bytes.readUIntBE(at, more) + ([29, 285, 65_821][more - 1] ?? 0), next: at + more }
}

function readPointer(section: Section, at: number, depth: number): Read | undefined {
  const { bytes, start } = section
  const control = bytes[at] ?? 0
  const more = ((control >> 3) & 3) + 1
  if (at + 1 + more > bytes.length) return undefined
  const low = bytes.readUIntBE(at + 1, more)
  const high = more === 4 ? 0 : (control & 7) * 256 ** more
  const target = high + low + ([0, 2_048, 526_336, 0][more - 1] ?? 0)
  const found = readValue(section, start + target, depth + 1)
  return found && { value: found.value, next: at + 1 + more }
}

type Size = { size: number; next: number }

function readMap(section: Section, { size, next }: Size, depth: number): Read | undefined {
  const pairs: [string, MmdbValue][] = []
  let at = next
  for (let index = 0; index < size; index++) {
    const key = readValue(section, at, depth + 1)
    const read = key && readValue(section, key.next, depth + 1)
    if (!read || typeof key.value !== 'string') return undefined
    pairs.push([key.value, read.value])
    at = read.next
  }
  return { value: Object.fromEntries(pairs), next: at }
}

function readList(section: Section, { size, next }: Size, depth: number): Read | undefined {
  const value: MmdbValue[] = []
  let at = next
  for (let index = 0; index < size; index++) {
    const read = readValue(section, at, depth + 1)
    if (!read) return undefined
    value.push(read.value)
    at = read.next
  }
  return { value, next: at }
}

function readScalar(type: number, bytes: Buffer): MmdbValue | undefined {
  switch (type) {
    case types.text:
      return bytes.toString('utf8')
    case types.bytes:
      return null
    case types.double:
      return bytes.length === 8 ? bytes.readDoubleBE() : undefined
    case types.float:
      return bytes.length === 4 ? bytes.readFloatBE() : undefined
    case types.int32:
      // Shorter values lack their leading zeros, so only values of four bytes can be negative.
      return bytes.length === 4 ? bytes.readInt32BE() : unsigned(bytes, 4)
    case types.uint16:
      return unsigned(bytes, 2)
    case types.uint32:
      return unsigned(bytes, 4)
    case types.uint64:
      return unsigned(bytes, 8)
    case types.uint128:
      return unsigned(bytes, 16)
    default:
      return undefined
  }
}

function unsigned(bytes: Buffer, bytesMax: number): number | undefined {
  if (bytes.length > bytesMax) return undefined
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
}

/**
 * The facts that a record contains about its network, under the keys that publishers use: GeoLite2
 * and DB-IP (`autonomous_system_number`, `country.iso_code`), IPinfo (`asn` as `AS64496`,
 * `as_name`, `country_code` or `country`). A value that cannot be parsed is null, so that one odd
 * record does not make a file unusable.
 */
function networkFields(record: MmdbMap): {
  asn: number | null
  name: string | null
  country: string | null
} {
  const asn = textIn(record, 'autonomous_system_number', 'asn')
  const name = textIn(record, 'autonomous_system_organization', 'as_name', 'name')
  return {
    asn: readAsn(asn) || null,
    name: readName(name),
    country: countryOf(record),
  }
}

/**
 * The country code of the network, else that of its registration. Ignores a value that is not a
 * code, such as the name of a country.
 */
function countryOf(record: MmdbMap): string | null {
  const codes = [
    codeIn(record, 'country'),
    textIn(record, 'country_code'),
    textIn(record, 'country'),
    codeIn(record, 'registered_country'),
  ]
  for (const code of codes) {
    const country = readCountry(code)
    if (country) return country
  }
  return null
}

function codeIn(record: MmdbMap, key: string): string {
  const place = record[key]
  return isMmdbMap(place) ? textIn(place, 'iso_code') : ''
}

function textIn(record: MmdbMap, ...keys: string[]): string {
  for (const key of keys) {
    const value = record[key]
    if (typeof value === 'string' && value !== '') return value
    if (typeof value === 'number') return String(value)
  }
  return ''
}

const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
const METADATA_BYTES_MAX = 128 * 1024
/** Number of zero bytes between the tree and the data. */
const GAP_BYTES = 16
const VERSION = 2
const READINGS_KEPT_MAX = 50_000
/**
 * Maximum number of visits per node of the tree, on average. Some writers store equal parts of the
 * tree only once, so nodes may be visited repeatedly. More visits mean that the tree is circular.
 */
const VISITS_PER_NODE_MAX = 4

/**
 * The layout of a file. A record equal to `nodes` means "no data"; a larger one is a place in the
 * data.
 */
type Tree = {
  bytes: Buffer
  nodes: number
  recordBits: 24 | 28 | 32
  isIpv6: boolean
  dataStart: number
}

/**
 * Parses a MaxMind-format file (version 2.0: GeoLite2-ASN, GeoLite2-Country, and others in this
 * format), network by network in the order of their addresses. Returns each IPv4 network once: the
 * IPv4-mapped, Teredo and 6to4 prefixes, under which writers repeat the IPv4 tree, are left out.
 * Networks without AS number, name and country are `skipped`. Damage ends the reading with a
 * `faulty` result.
 */
export function* readMmdb(bytes: Buffer): Generator<LineReading> {
  const tree = treeOf(bytes)
  if (typeof tree === 'string') return yield faulty(tree)
  const kept = new LRUCache<number, NetworkReading>({ max: READINGS_KEPT_MAX })
  for (const leaf of leavesOf(tree)) {
    if (typeof leaf === 'string') return yield faulty(leaf)
    const reading = kept.get(leaf.place) ?? readNetwork(tree, leaf.place)
    kept.set(leaf.place, reading)
    if ('is' in reading) yield reading
    else yield { is: 'range', blocks: [leaf.cidr], ...reading, contacts: [] }
    if ('is' in reading && reading.is === 'faulty') return
  }
}

type NetworkReading = ReturnType<typeof networkFields> | typeof skipped | ReturnType<typeof faulty>

function readNetwork({ bytes, dataStart }: Tree, place: number): NetworkReading {
  const value = place < 0 ? undefined : readMmdbValue(bytes, dataStart, place)
  if (!isMmdbMap(value)) return faulty(`the record at ${place} of the data is damaged.`)
  const fields = networkFields(value)
  return fields.asn === null && fields.name === null && fields.country === null ? skipped : fields
}

function metadataStart(bytes: Buffer): number | undefined {
  const tail = Math.max(0, bytes.length - METADATA_BYTES_MAX)
  const at = bytes.subarray(tail).lastIndexOf(marker)
  return at < 0 ? undefined : tail + at + marker.length
}

function treeOf(bytes: Buffer): Tree | string {
  const start = metadataStart(bytes)
  if (start === undefined) return 'the file has no MaxMind metadata.'
  const metadata = readMmdbValue(bytes, start, 0)
  if (!isMmdbMap(metadata)) return 'the metadata is damaged.'
  const version = metadata['binary_format_major_version']
  if (version !== VERSION) return `version ${show(version)} of the format is not supported.`
  const { node_count: nodes, record_size: recordBits, ip_version: family } = metadata
  if (recordBits !== 24 && recordBits !== 28 && recordBits !== 32) {
    return `records of ${show(recordBits)} bits are not supported.`
  }
  if (family !== 4 && family !== 6) return `IP version ${show(family)} is not supported.`
  if (typeof nodes !== 'number' || !Number.isInteger(nodes))
    return 'the number of nodes is missing.'
  const dataStart = (nodes * recordBits) / 4 + GAP_BYTES
  if (dataStart > start) return 'the tree is longer than the file.'
  return { bytes, nodes, recordBits, isIpv6: family === 6, dataStart }
}

function show(value: MmdbValue | undefined): string {
  return JSON.stringify(value ?? null).slice(0, 20)
}

type Leaf = { cidr: string; place: number }
type Branch = { record: number; address: bigint; length: number }

/**
 * Prefixes under which writers repeat the IPv4 tree: IPv4-mapped (RFC 4291), Teredo (RFC 4380) and
 * 6to4 (RFC 3056).
 */
const repeated = [
  { address: 0xffffn << 32n, length: 96 },
  { address: 0x2001_0000n << 96n, length: 32 },
  { address: 0x2002n << 112n, length: 16 },
]

/** Yields every network that has data, in the order of addresses; a string describes damage. */
function* leavesOf(tree: Tree): Generator<Leaf | string> {
  const { nodes, isIpv6 } = tree
  const bits = isIpv6 ? 128 : 32
  const root4 = isIpv6 ? rootOfIpv4(tree) : undefined
  const waiting: Branch[] = [{ record: 0, address: 0n, length: 0 }]
  let visited = 0
  for (let branch = waiting.pop(); branch; branch = waiting.pop()) {
    const { record, address, length } = branch
    if (record === nodes || (isIpv6 && isRepeated(branch, root4))) continue
    if (record > nodes) {
      yield { cidr: cidrOf(branch, isIpv6), place: record - nodes - GAP_BYTES }
      continue
    }
    if (length === bits) return yield 'the tree is deeper than an address has bits.'
    if (++visited > nodes * VISITS_PER_NODE_MAX) return yield 'the tree has a loop.'
    const half = 1n << BigInt(bits - length - 1)
    const [left, right] = recordsOf(tree, record)
    waiting.push({ record: right, address: address + half, length: length + 1 })
    waiting.push({ record: left, address, length: length + 1 })
  }
}

/** The node of ::/96; undefined when it has no node of its own. */
function rootOfIpv4(tree: Tree): number | undefined {
  let record = 0
  for (let length = 0; length < 96 && record < tree.nodes; length++) {
    record = recordsOf(tree, record)[0]
  }
  return record < tree.nodes ? record : undefined
}

function isRepeated({ record, address, length }: Branch, root4: number | undefined): boolean {
  if (record === root4) return address !== 0n || length !== 96
  return repeated.some((one) => length === one.length && address === one.address)
}

function cidrOf({ address, length }: Branch, isIpv6: boolean): string {
  if (!isIpv6) return `${quadOf(Number(address))}/${length}`
  if (length >= 96 && address < 1n << 32n) return `${quadOf(Number(address))}/${length - 96}`
  const hex = address.toString(16).padStart(32, '0')
  return `${hex.replace(/(.{4})(?=.)/g, '$1:')}/${length}`
}

function recordsOf({ bytes, recordBits }: Tree, node: number): [left: number, right: number] {
  const at = (node * recordBits) / 4
  if (recordBits === 24) return [bytes.readUIntBE(at, 3), bytes.readUIntBE(at + 3, 3)]
  if (recordBits === 32) return [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
  const middle = bytes[at + 3] ?? 0
  return [
    (middle >> 4) * 0x100_0000 + bytes.readUIntBE(at, 3),
    (middle & 15) * 0x100_0000 + bytes.readUIntBE(at + 4, 3),
  ]
}
