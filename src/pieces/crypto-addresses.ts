import { hash } from 'node:crypto'

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
 * The hash is Keccak-256, SHA-3 before NIST changed its padding.
 */
function isEthereum(word: string): boolean {
  const digits = word.slice(2)
  const lower = digits.toLowerCase()
  if (digits === lower || digits === digits.toUpperCase()) return true
  const digest = hash('keccak-256', lower)
  return [...lower].every((char, at) => {
    return digits[at] === ((digest[at] ?? '') >= '8' ? char.toUpperCase() : char)
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
