/** An IP address. IPv4-mapped IPv6 addresses (RFC 4291 §2.5.5.2) are read as IPv4. */
export type IpAddress = {
  family: 4 | 6
  /** Canonical text: dotted quad, or RFC 5952. */
  text: string
  /** Eight 16-bit groups; an IPv4 address is in the last two, after ::ffff:. */
  groups: readonly number[]
}

/**
 * The purpose of an address (IANA special-purpose registries, RFC 6890). `documentation` ranges
 * (RFC 5737, RFC 3849) belong to nobody; tests and demonstrations use them for public hosts.
 */
export type AddressScope = 'public' | 'documentation' | 'loopback' | 'private' | 'reserved'

/** A set of networks that can be tested for an address. */
export type NetworkSet = { has: (address: IpAddress) => boolean }

type Network = { groups: readonly number[]; bits: number }

const textCharsMax = 64

/**
 * Parses an address in the forms that mail uses: bare, in brackets, with `IPv6:` before it or a
 * `%zone` after it, IPv4-mapped. Undefined when the text is not an address; leading zeros in IPv4
 * are not accepted.
 */
export function parseIp(text: string): IpAddress | undefined {
  if (text.length > textCharsMax) return undefined
  let bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (bare.charCodeAt(4) === 0x3a && /^ipv[46]:/i.test(bare)) bare = untagged(bare)
  const zone = bare.indexOf('%')
  if (zone > 0) bare = bare.slice(0, zone)
  if (!bare.includes(':')) return fromQuad(bare)
  const groups = parseGroups(bare)
  if (!groups) return undefined
  return isMapped(groups) ? fromGroups4(groups) : { family: 6, text: text6(groups), groups }
}

/** Parses an address with or without a port: `192.0.2.7:4711`, `[2001:db8::1]:443`. */
export function parseIpAndPort(text: string): IpAddress | undefined {
  const [, host = text] = /^(\[[^\]]*\]|[^:]*):\d+$/.exec(text) ?? []
  return parseIp(host)
}

/** Builds a set of CIDR blocks and single addresses; ignores those that cannot be parsed. */
export function networkSet(cidrs: readonly string[]): NetworkSet {
  const networks = cidrs.map(parseNetwork).filter((network) => network !== undefined)
  return { has: (address) => networks.some((network) => contains(network, address)) }
}

/** Whether `networkSet` accepts a text: it is a CIDR block or an address. */
export function isCidr(text: string): boolean {
  return parseNetwork(text) !== undefined
}

export function addressScope(address: IpAddress): AddressScope {
  if (address.family === 4 && specialOctets[(address.groups[6] ?? 0) >>> 8] === 0) return 'public'
  for (const [scope, networks] of specialNetworks) if (networks.has(address)) return scope
  const first = address.groups[0] ?? 0
  return address.family === 6 && (first & 0xe000) !== 0x2000 ? 'reserved' : 'public'
}

/** Whether the address can send mail across the Internet; documentation ranges count. */
export function isRoutable(address: IpAddress): boolean {
  const scope = addressScope(address)
  return scope === 'public' || scope === 'documentation'
}

/** Whether the address is that of the machine itself or of an internal network. */
export function isInternal(address: IpAddress): boolean {
  const scope = addressScope(address)
  return scope === 'loopback' || scope === 'private'
}

/**
 * Removes the tag `IPv6:`. Some systems write only one colon for the tag and the address:
 * `IPv6::1`.
 */
function untagged(text: string): string {
  const isShort = text.charCodeAt(5) === 0x3a && text.charCodeAt(6) !== 0x3a
  return text.slice(isShort ? 4 : 5)
}

/** Parses four decimal octets without leading zeros, so that the text is already canonical. */
function fromQuad(text: string): IpAddress | undefined {
  if (text.length > 15) return undefined
  let value = 0
  let octet = -1
  let dots = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x2e) {
      if (octet < 0) return undefined
      value = value * 256 + octet
      octet = -1
      dots++
    } else {
      if (code < 0x30 || code > 0x39 || octet === 0) return undefined
      octet = octet < 0 ? code - 0x30 : octet * 10 + code - 0x30
      if (octet > 255) return undefined
    }
  }
  if (dots !== 3 || octet < 0) return undefined
  value = value * 256 + octet
  return { family: 4, text, groups: [0, 0, 0, 0, 0, 0xffff, value >>> 16, value & 0xffff] }
}

/** Parses IPv6 (RFC 4291 §2.2): groups of hexadecimal digits, one gap of zeros, IPv4 at the end. */
function parseGroups(text: string): number[] | undefined {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0]
  let count = 0
  let gap = text.startsWith('::') ? 0 : -1
  for (let at = gap === 0 ? 2 : 0; at < text.length;) {
    const end = hexEnd(text, at)
    if (text.charCodeAt(end) === 0x2e) {
      const quad = fromQuad(text.slice(at))
      if (!quad || count > 6) return undefined
      groups[count++] = quad.groups[6] ?? 0
      groups[count++] = quad.groups[7] ?? 0
      break
    }
    if (end === at || end - at > 4 || count === 8) return undefined
    groups[count++] = parseInt(text.slice(at, end), 16)
    if (end === text.length) break
    if (text.charCodeAt(end) !== 0x3a || end + 1 === text.length) return undefined
    const isGap = text.charCodeAt(end + 1) === 0x3a
    if (isGap && gap >= 0) return undefined
    if (isGap) gap = count
    at = end + (isGap ? 2 : 1)
  }
  if (gap < 0) return count === 8 ? groups : undefined
  return count > 7 ? undefined : widened(groups, gap, count)
}

/** Moves the groups after the gap to the end. */
function widened(groups: number[], gap: number, count: number): number[] {
  for (let moved = 1; moved <= count - gap; moved++) {
    groups[8 - moved] = groups[count - moved] ?? 0
    groups[count - moved] = 0
  }
  return groups
}

/** Where the hexadecimal digits end, at most five characters after the start. */
function hexEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + 5)
  let at = start
  while (at < limit && isHexDigit(text.charCodeAt(at))) at++
  return at
}

export function isHexDigit(code: number): boolean {
  const letter = code | 0x20
  return (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

function isMapped(groups: readonly number[]): boolean {
  if (groups[5] !== 0xffff) return false
  for (let at = 0; at < 5; at++) if (groups[at] !== 0) return false
  return true
}

function fromGroups4(groups: readonly number[]): IpAddress {
  const [high = 0, low = 0] = groups.slice(6)
  const text = `${high >>> 8}.${high & 255}.${low >>> 8}.${low & 255}`
  return { family: 4, text, groups }
}

/**
 * Formats IPv6 (RFC 5952 §4): lower case, no leading zeros, the longest run of zeros (at least two)
 * as `::`.
 */
function text6(groups: readonly number[]): string {
  let runStart = -9
  let runLength = 1
  for (let start = 0; start < 8; start++) {
    let length = 0
    while (start + length < 8 && groups[start + length] === 0) length++
    if (length > runLength) {
      runStart = start
      runLength = length
    }
  }
  let text = ''
  for (let at = 0; at < 8; at++) {
    if (at === runStart) {
      text += '::'
      at += runLength - 1
    } else {
      if (at > 0 && at !== runStart + runLength) text += ':'
      text += hexText(groups[at] ?? 0)
    }
  }
  return text
}

const hexTexts: (string | undefined)[] = []

function hexText(group: number): string {
  return (hexTexts[group] ??= group.toString(16))
}

function parseNetwork(cidr: string): Network | undefined {
  const slash = cidr.indexOf('/')
  const address = parseIp(slash < 0 ? cidr : cidr.slice(0, slash))
  if (!address) return undefined
  const width = address.family === 4 ? 32 : 128
  const length = slash < 0 ? width : decimalLength(cidr.slice(slash + 1))
  if (length === undefined || length > width) return undefined
  return { groups: address.groups, bits: length + (128 - width) }
}

/** Parses the length of a prefix: one to three digits. */
export function decimalLength(text: string): number | undefined {
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined
}

function contains({ groups, bits }: Network, address: IpAddress): boolean {
  const whole = bits >>> 4
  for (let at = 0; at < whole; at++) if (groups[at] !== address.groups[at]) return false
  const rest = bits & 15
  if (rest === 0) return true
  const differing = (groups[whole] ?? 0) ^ (address.groups[whole] ?? 0)
  return differing >>> (16 - rest) === 0
}

const specialCidrs: readonly (readonly [AddressScope, readonly string[]])[] = [
  ['loopback', ['127.0.0.0/8', '::1']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10']],
  ['private', ['169.254.0.0/16', 'fc00::/7', 'fe80::/10']],
  ['documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']],
  ['documentation', ['2001:db8::/32', '3fff::/20']],
  ['reserved', ['0.0.0.0/8', '192.0.0.0/24', '192.88.99.0/24', '198.18.0.0/15']],
  ['reserved', ['224.0.0.0/4', '240.0.0.0/4', '2001::/23']],
]
const specialNetworks = specialCidrs.map(([scope, cidrs]) => [scope, networkSet(cidrs)] as const)

/** 1 for each first octet of an IPv4 address with a special network; most have none. */
const specialOctets = new Uint8Array(256)
for (const { groups, bits } of specialCidrs
  .flatMap(([, cidrs]) => cidrs.map(parseNetwork))
  .filter((network) => network !== undefined)) {
  const first = (groups[6] ?? 0) >>> 8
  const isIpv4 = groups[5] === 0xffff
  if (isIpv4) specialOctets.fill(1, first, first + Math.max(1, 2 ** (104 - bits)))
}
