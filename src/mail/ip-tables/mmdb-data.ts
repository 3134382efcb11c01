/** A value of the data section. Numbers beyond 2^53 lose their last digits; bytes are left out. */
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
/** No record of a table has so many; a file that points in circles does. */
const VALUES_MAX = 2_000

type Read = { value: MmdbValue; next: number }
type Section = { bytes: Buffer; start: number; values: number }

/**
 * Reads the value at a place of the data section that begins at `start` ("MaxMind DB File Format",
 * version 2.0, "Output Data Section"). Undefined when it is damaged or has no end.
 */
export function readMmdbValue(bytes: Buffer, start: number, place: number): MmdbValue | undefined {
  return readValue({ bytes, start, values: 0 }, start + place, 0)?.value
}

/** Whether a value is a map. */
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
      // Shorter ones lack their leading zeros: only those of four bytes can be negative.
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
