import { hash } from 'node:crypto'

const mask = (1n << 64n) - 1n
const rounds = 24
const rateBytes = 136

/**
 * Returns Keccak-256 as used by Ethereum: SHA-3 before NIST changed its padding. For short texts.
 */
export function keccak256(text: string): Uint8Array {
  const lanes = Array<bigint>(25).fill(0n)
  const padded = new Uint8Array(rateBytes * (Math.floor(text.length / rateBytes) + 1))
  padded.set(Buffer.from(text, 'latin1'))
  padded[text.length] = 0x01
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80
  const view = new DataView(padded.buffer)
  for (let block = 0; block < padded.length; block += rateBytes) {
    for (let lane = 0; lane < rateBytes / 8; lane++) {
      lanes[lane] = (lanes[lane] ?? 0n) ^ view.getBigUint64(block + lane * 8, true)
    }
    permute(lanes)
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (let lane = 0; lane < 4; lane++) digest.setBigUint64(lane * 8, lanes[lane] ?? 0n, true)
  return new Uint8Array(digest.buffer)
}

/** Keccak-f[1600] (FIPS 202 §3.2). */
function permute(lanes: bigint[]): void {
  const at = (index: number) => lanes[index] ?? 0n
  let register = 1
  for (let round = 0; round < rounds; round++) {
    const columns = [0, 1, 2, 3, 4].map(
      (x) => at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20),
    )
    for (let x = 0; x < 5; x++) {
      const mixed = (columns[(x + 4) % 5] ?? 0n) ^ rotated(columns[(x + 1) % 5] ?? 0n, 1)
      for (let y = 0; y < 25; y += 5) lanes[x + y] = at(x + y) ^ mixed
    }
    let [x, y] = [1, 0]
    let current = at(1)
    for (let step = 0; step < 24; step++) {
      ;[x, y] = [y, (2 * x + 3 * y) % 5]
      const kept = at(x + 5 * y)
      lanes[x + 5 * y] = rotated(current, (((step + 1) * (step + 2)) / 2) % 64)
      current = kept
    }
    for (let row = 0; row < 25; row += 5) {
      const old = lanes.slice(row, row + 5)
      for (let column = 0; column < 5; column++) {
        const and = ~(old[(column + 1) % 5] ?? 0n) & mask & (old[(column + 2) % 5] ?? 0n)
        lanes[row + column] = (old[column] ?? 0n) ^ and
      }
    }
    for (let bit = 0; bit < 7; bit++) {
      if ((register & 1) === 1) lanes[0] = at(0) ^ (1n << BigInt((1 << bit) - 1))
      register = (register << 1) ^ (register >> 7 === 1 ? 0x171 : 0)
    }
  }
}

function rotated(lane: bigint, bits: number): bigint {
  const by = BigInt(bits)
  return ((lane << by) | (lane >> (64n - by))) & mask
}

/**
 * Returns the cryptocurrency addresses in a text, without duplicates, as `bitcoin:1A1z…`: Bitcoin
 * and Litecoin (Base58Check; BIP 173 and 350), Dogecoin, Tron, Ethereum (EIP-55). Only addresses
 * with a valid checksum; an Ethereum address in a single case has no checksum and is accepted. At
 * most 20.
 */
export function findCryptoAddresses(text: string): string[] {
  const found = new Set<string>()
  let count = 0
  for (const [word] of text.matchAll(candidates)) {
    const address = readCryptoAddress(word)
    if (address !== undefined) found.add(address)
    if (found.size >= addressesMax || ++count >= candidatesMax) break
  }
  return [...found]
}

const addressesMax = 20
const candidatesMax = 200
const candidates = new RegExp(
  `(?<![A-Za-z0-9])(?:${[
    '0x[0-9a-fA-F]{40}',
    '(?:bc|BC|ltc|LTC)1[a-zA-Z0-9]{11,87}',
    '[13LMDT][1-9A-HJ-NP-Za-km-z]{25,34}',
  ].join('|')})(?![A-Za-z0-9])`,
  'g',
)

function readCryptoAddress(word: string): string | undefined {
  if (word.startsWith('0x')) return isEthereum(word) ? `ethereum:${word.toLowerCase()}` : undefined
  const [, prefix] = /^(bc|ltc)1/i.exec(word) ?? []
  if (prefix === undefined) return readBase58(word)
  if (!isBech32(word)) return undefined
  const chain = prefix.toLowerCase() === 'ltc' ? 'litecoin' : 'bitcoin'
  return `${chain}:${word.toLowerCase()}`
}

/**
 * Checks the checksum of EIP-55: a letter is a capital where the digit of the hash is 8 or more.
 */
function isEthereum(word: string): boolean {
  const digits = word.slice(2)
  const lower = digits.toLowerCase()
  if (digits === lower || digits === digits.toUpperCase()) return true
  const digest = keccak256(lower)
  return [...lower].every((char, at) => {
    const nibble = ((digest[at >> 1] ?? 0) >> (at % 2 === 0 ? 4 : 0)) & 15
    return digits[at] === (nibble >= 8 ? char.toUpperCase() : char)
  })
}

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const chains: Readonly<Record<number, string>> = {
  0x00: 'bitcoin',
  0x05: 'bitcoin',
  0x30: 'litecoin',
  0x32: 'litecoin',
  0x1e: 'dogecoin',
  0x41: 'tron',
}

function readBase58(word: string): string | undefined {
  let number = 0n
  for (const char of word) number = number * 58n + BigInt(base58.indexOf(char))
  const hex = number.toString(16)
  if (hex.length > 50) return undefined
  const bytes = Buffer.from(hex.padStart(50, '0'), 'hex')
  const payload = bytes.subarray(0, 21)
  const once = hash('sha256', payload, 'buffer')
  const check = hash('sha256', once, 'buffer').subarray(0, 4)
  const chain = chains[payload[0] ?? -1]
  return chain !== undefined && check.equals(bytes.subarray(21)) ? `${chain}:${word}` : undefined
}

const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
const bech32mConstant = 0x2bc830a3

/** Checks the checksum of BIP 173, or of BIP 350 for witness versions from 1. */
function isBech32(word: string): boolean {
  const lower = word.toLowerCase()
  if (word !== lower && word !== word.toUpperCase()) return false
  const one = lower.lastIndexOf('1')
  const prefix = lower.slice(0, one)
  const values = [...lower.slice(one + 1)].map((char) => bech32.indexOf(char))
  if (values.length < 7 || values.includes(-1)) return false
  const codes = [...prefix].map((char) => char.charCodeAt(0))
  const expanded = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31)]
  return checksumOf([...expanded, ...values]) === (values[0] === 0 ? 1 : bech32mConstant)
}

function checksumOf(values: readonly number[]): number {
  let check = 1
  for (const value of values) {
    const top = check >>> 25
    check = ((check & 0x1ffffff) << 5) ^ value
    generators.forEach((generator, bit) => {
      if (((top >>> bit) & 1) === 1) check ^= generator
    })
  }
  return check >>> 0
}
