import { hash } from 'node:crypto'
import type { KeyRing } from '../key-ring.ts'
import { base32 } from '../mail/verp.ts'

/**
 * Returns the key for one consumer's codes; another consumer's codes differ. A consumer keeps its
 * codes after a change of the secret while the one in force when it was added is accepted.
 */
export function redactionKey(secret: KeyRing, consumer: string, addedAt?: Date): Buffer {
  return secret.key('codes', addedAt, consumer)
}

/** The domain of coded addresses. */
export const redactedDomain = 'redacted.invalid'

/** A code in a text. Its length says nothing about what it replaces. */
export const codeShape = /redacted-[a-z2-7]{16}/
export const codeInText = new RegExp(codeShape, 'g')
/** A text of this shape, for what is not shown to anybody. */
export const anyCode = `redacted-${'a'.repeat(16)}`
export const wholeCode = new RegExp(`^${codeShape.source}$`)

/**
 * The codes of one consumer: the same text always has the same code, so that the consumer can group
 * messages. They cannot be reversed. No token has the code of a person.
 */
export type Codes = {
  /** The code of a person, by an address in any case or a name. */
  ofPerson: (address: string) => string
  /** The code of a token, which is case-sensitive. */
  ofToken: (token: string) => string
}

/** Creates the codes of one consumer; `key` is from `redactionKey`. */
export function createCodes(key: Buffer): Codes {
  const sign = keyedHash(key)
  const codeOf = (text: string) => `redacted-${base32(sign(text))}`
  return {
    ofPerson: bounded((address) => codeOf(address.toLowerCase())),
    // An address contains no blank.
    ofToken: bounded((token) => codeOf(`token ${token}`)),
  }
}

const CODE_BYTES = 10

/**
 * Returns the start of a keyed hash: SHA-256 of key and text. An HMAC takes twice the time and
 * protects only hashes that are shown whole from being continued; of these, a third is shown.
 */
function keyedHash(key: Buffer): (text: string) => Buffer {
  const secret = key.toString('hex')
  // Hexadecimal, because memory for each hash takes as long as the hash.
  return (text) => Buffer.from(hash('sha256', `${secret} ${text}`).slice(0, 2 * CODE_BYTES), 'hex')
}

/** Maximum number of texts with separate codes; all further ones share one code. */
const CODES_MAX = 5_000

function bounded(make: (text: string) => string): (text: string) => string {
  const codes = new Map<string, string>()
  return (text) => {
    const known = codes.get(text)
    if (known !== undefined) return known
    if (codes.size >= CODES_MAX) return codes.getOrInsertComputed('', make)
    const code = make(text)
    codes.set(text, code)
    return code
  }
}
