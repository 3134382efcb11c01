import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'
import { systemRandom } from '../world.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The purpose of sealed bytes, and the row they belong to, if any. */
export type SealedFor = {
  purpose: 'second step' | 'known callers' | 'keys of a letter'
  owner?: string
}

/**
 * Encrypts bytes for storage (AES-256-GCM): they can be decrypted only with this SECRET, for this
 * purpose and for this owner.
 */
export function sealBytes(bytes: Buffer, { purpose, owner = '' }: SealedFor, secret: string) {
  const nonce = systemRandom(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(purpose, secret), nonce)
  cipher.setAAD(Buffer.from(owner))
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts bytes; undefined if they were sealed for another owner, purpose or SECRET. */
export function openBytes(
  sealed: Buffer,
  { purpose, owner = '' }: SealedFor,
  secret: string,
): Buffer | undefined {
  try {
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', keyOf(purpose, secret), nonce)
    decipher.setAAD(Buffer.from(owner))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const content = sealed.subarray(NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(content), decipher.final()])
  } catch {
    return undefined
  }
}

function keyOf(purpose: SealedFor['purpose'], secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `signalpost ${purpose}`, 32))
}
