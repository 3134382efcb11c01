import { parseIp } from '../../src/mail/ip.ts'

/** The value of a record. A big integer is written as an unsigned one of 64 bits. */
export type MmdbRecord =
  | string
  | number
  | bigint
  | boolean
  | Buffer
  | MmdbRecord[]
  | { [key: string]: MmdbRecord }

export type MmdbOptions = {
  ipVersion?: 4 | 6
  recordBits?: 24 | 28 | 32
  /** Prefixes below which the IPv4 tree is repeated, as in the files of most writers. */
  aliases?: readonly string[]
  metadata?: Record<string, MmdbRecord>
}

type Node = { children: [Child, Child] }
type Child = Node | { place: number } | undefined

/**
 * Writes a file in the "MaxMind DB File Format" 2.0, for tests: networks with their records, where
 * later networks are inside earlier ones. Equal records are written once.
 */
export function composeMmdb(
  networks: readonly (readonly [cidr: string, record: MmdbRecord])[],
  options: MmdbOptions = {},
): Buffer {
  const { ipVersion = 6, recordBits = 24, aliases = [] } = options
  const root: Node = { children: [undefined, undefined] }
  const { data, placeOf } = composeData(networks.map(([, record]) => record))
  for (const [cidr, record] of networks) insert(root, bitsOf(cidr, ipVersion), placeOf(record))
  const root4 = ipVersion === 6 ? nodeAt(root, '0'.repeat(96)) : undefined
  if (root4) for (const alias of aliases) insert(root, bitsOf(alias, 6), root4)
  const nodes = numberNodes(root)
  const tree = Buffer.concat([...nodes.keys()].map((node) => composeNode(node, nodes, recordBits)))
  const metadata = {
    node_count: nodes.size,
    record_size: recordBits,
    ip_version: ipVersion,
    database_type: 'Test-Networks',
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_795_000_000n,
    description: { en: 'written by a test' },
    ...options.metadata,
  }
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')
  return Buffer.concat([tree, Buffer.alloc(16), data, marker, composeValue(metadata)])
}

/** Composes a value as it is in the data section. */
export function composeValue(value: MmdbRecord): Buffer {
  if (typeof value === 'string') return sized(2, Buffer.from(value))
  if (typeof value === 'boolean') return control(14, value ? 1 : 0)
  if (typeof value === 'bigint') return sized(9, shortest(value))
  if (Buffer.isBuffer(value)) return sized(4, value)
  if (Array.isArray(value)) {
    return Buffer.concat([control(11, value.length), ...value.map(composeValue)])
  }
  if (typeof value === 'object') {
    const pairs = Object.entries(value).flatMap(([key, one]) => [
      composeValue(key),
      composeValue(one),
    ])
    return Buffer.concat([control(7, pairs.length / 2), ...pairs])
  }
  if (Number.isInteger(value) && value >= 0) return sized(6, shortest(BigInt(value)))
  const double = Buffer.alloc(8)
  double.writeDoubleBE(value)
  return sized(3, double)
}

function composeData(records: readonly MmdbRecord[]) {
  const places = new Map<string, number>()
  const pieces: Buffer[] = []
  const placeOf = (record: MmdbRecord) => places.get(composeValue(record).toString('latin1')) ?? 0
  let length = 0
  for (const record of records) {
    const bytes = composeValue(record)
    const key = bytes.toString('latin1')
    if (places.has(key)) continue
    places.set(key, length)
    pieces.push(bytes)
    length += bytes.length
  }
  return { data: Buffer.concat(pieces), placeOf }
}

function sized(type: number, content: Buffer): Buffer {
  return Buffer.concat([control(type, content.length), content])
}

function control(type: number, size: number): Buffer {
  const [code, more] =
    size < 29
      ? [size, []]
      : size < 285
        ? [29, [size - 29]]
        : [30, [(size - 285) >> 8, (size - 285) & 255]]
  return type > 7
    ? Buffer.from([code, type - 7, ...more])
    : Buffer.from([(type << 5) | code, ...more])
}

function shortest(value: bigint): Buffer {
  const hex = value === 0n ? '' : value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
}

function bitsOf(cidr: string, ipVersion: 4 | 6): string {
  const [start = '', length] = cidr.split('/')
  const address = parseIp(start)
  if (!address) throw new Error(`${cidr} is no block.`)
  const groups = address.groups.map((group) => group.toString(2).padStart(16, '0')).join('')
  const isIpv4 = address.family === 4 && !start.includes(':')
  if (!isIpv4) return groups.slice(0, Number(length))
  const bits = groups.slice(96).slice(0, Number(length))
  return ipVersion === 6 ? '0'.repeat(96) + bits : bits
}

function insert(root: Node, bits: string, content: number | Node): void {
  let node = root
  for (const [depth, bit] of [...bits].entries()) {
    const side = bit === '1' ? 1 : 0
    if (depth === bits.length - 1) {
      node.children[side] = typeof content === 'number' ? { place: content } : content
      return
    }
    const child = node.children[side]
    // The block is inside a larger one, and the record of the larger one covers the rest.
    if (!child || 'place' in child) node.children[side] = { children: [child, child] }
    node = node.children[side] as Node
  }
}

function nodeAt(root: Node, bits: string): Node | undefined {
  let node: Node | undefined = root
  for (const bit of bits) {
    const child: Child = node?.children[bit === '1' ? 1 : 0]
    node = child && 'children' in child ? child : undefined
  }
  return node
}

function numberNodes(root: Node): Map<Node, number> {
  const numbers = new Map([[root, 0]])
  for (const node of numbers.keys()) {
    for (const child of node.children) {
      if (child && 'children' in child && !numbers.has(child)) numbers.set(child, numbers.size)
    }
  }
  return numbers
}

function composeNode(node: Node, numbers: ReadonlyMap<Node, number>, bits: 24 | 28 | 32): Buffer {
  const [left = 0, right = 0] = node.children.map((child) => {
    if (!child) return numbers.size
    return 'place' in child ? numbers.size + 16 + child.place : (numbers.get(child) ?? 0)
  })
  const bytes = Buffer.alloc(bits / 4)
  if (bits === 32) {
    bytes.writeUInt32BE(left, 0)
    bytes.writeUInt32BE(right, 4)
    return bytes
  }
  bytes.writeUIntBE(left & 0xff_ffff, 0, 3)
  bytes.writeUIntBE(right & 0xff_ffff, bits === 24 ? 3 : 4, 3)
  if (bits === 28) bytes[3] = ((left >>> 24) << 4) | (right >>> 24)
  return bytes
}
