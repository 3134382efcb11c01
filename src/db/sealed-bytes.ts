import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { KeyRing } from '../key-ring.ts'
import { systemRandom } from '../world.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The purpose of sealed bytes, and the row they belong to, if any. */
export type SealedFor = {
  purpose:
    | 'second step'
    | 'known callers'
    | 'keys of a letter'
    | 'provider flow'
    | 'refresh token'
    | 'partner key'
  owner?: string
}

/**
 * Encrypts bytes for storage (AES-256-GCM): they can be decrypted only with our secret, for this
 * purpose and for this owner.
 */
export function sealBytes(bytes: Buffer, { purpose, owner = '' }: SealedFor, secret: KeyRing) {
  const nonce = systemRandom(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', secret.key(purpose), nonce)
  cipher.setAAD(Buffer.from(owner))
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts bytes; undefined if they were sealed for another owner, purpose or secret. */
export function openBytes(sealed: Buffer, about: SealedFor, secret: KeyRing): Buffer | undefined {
  return secret.find(about.purpose, (key) => openWith(key, sealed, about))
}

/** Whether bytes are encrypted with the secret in force, and not with a previous one. */
export function isSealedNow(sealed: Buffer, about: SealedFor, secret: KeyRing): boolean {
  return openWith(secret.key(about.purpose), sealed, about) !== undefined
}

function openWith(key: Buffer, sealed: Buffer, { owner = '' }: SealedFor): Buffer | undefined {
  try {
    const nonce = sealed.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', key, nonce)
    decipher.setAAD(Buffer.from(owner))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const content = sealed.subarray(NONCE_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(content), decipher.final()])
  } catch {
    return undefined
  }
}
