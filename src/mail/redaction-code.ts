import { createHmac } from 'node:crypto'
import { base32 } from './base32.ts'

/** The code that stands for an address or a token; the same one for the same text. */
export type CodeOf = (text: string) => string

/** A code as it stands in a text: what is one already is not replaced again. */
export const codeShape = /redacted-[a-z2-7]{16}/

const codeBytes = 10

/**
 * The codes of one consumer for addresses, by its `key`; each is made once, the same however the
 * address is written. They cannot be turned back.
 */
export function createCodes(key: Buffer): CodeOf {
  return remembered((address) => address.toLowerCase(), key)
}

/** The same for tokens, in which case matters; no token has the code of an address. */
export function createTokenCodes(key: Buffer): CodeOf {
  return remembered((token) => `token\0${token}`, key)
}

function remembered(normalize: (text: string) => string, key: Buffer): CodeOf {
  const codes = new Map<string, string>()
  return (text) => {
    const normal = normalize(text)
    const code = codes.get(normal) ?? codeUnder(key, normal)
    codes.set(normal, code)
    return code
  }
}

function codeUnder(key: Buffer, text: string): string {
  const mac = createHmac('sha256', key).update(text).digest()
  return `redacted-${base32(mac.subarray(0, codeBytes))}`
}
