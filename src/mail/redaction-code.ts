import { createHmac } from 'node:crypto'
import { base32 } from './base32.ts'

/** The code that stands for an address, the same however the address is written. */
export type CodeOf = (address: string) => string

const codeBytes = 10

/** The codes of one consumer, by its `key`; each is made once. They cannot be turned back. */
export function createCodes(key: Buffer): CodeOf {
  const codes = new Map<string, string>()
  return (address) => {
    const lower = address.toLowerCase()
    const code = codes.get(lower) ?? codeUnder(key, lower)
    codes.set(lower, code)
    return code
  }
}

function codeUnder(key: Buffer, address: string): string {
  const mac = createHmac('sha256', key).update(address).digest()
  return `redacted-${base32(mac.subarray(0, codeBytes))}`
}
