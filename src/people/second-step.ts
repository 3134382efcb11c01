import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Db } from '../db/pool.ts'
import { findTotp, takeRecoveryCode, takeTotpStep } from '../db/sessions.ts'
import { systemRandom } from '../world.ts'

const SECRET_BYTES = 20
const STEP_SECONDS = 30
/** Steps before and after the present one that are taken: clocks differ, and people are slow. */
const STEPS_BESIDE = 1
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10
const IV_BYTES = 12
const TAG_BYTES = 16

/** A new secret for the second step (RFC 6238: HMAC-SHA-1, six digits, thirty seconds). */
export function createTotpSecret(): Buffer {
  return systemRandom(SECRET_BYTES)
}

/** The secret as people type it, and as the address that a QR code holds. */
export function describeTotp(secret: Buffer, email: string): { text: string; uri: string } {
  const totp = totpOf(secret, email)
  return { text: totp.secret.base32.replace(/(.{4})(?=.)/g, '$1 '), uri: totp.toString() }
}

/** The step of which a code is; undefined when it is none of about now. */
export function stepOfCode(secret: Buffer, code: string, now: Date): number | undefined {
  const token = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(token)) return undefined
  const delta = totpOf(secret, '').validate({
    token,
    timestamp: now.getTime(),
    window: STEPS_BESIDE,
  })
  if (delta === null) return undefined
  return Math.floor(now.getTime() / 1_000 / STEP_SECONDS) + delta
}

/** The code of an instant, as the device shows it. */
export function codeAt(secret: Buffer, now: Date): string {
  return totpOf(secret, '').generate({ timestamp: now.getTime() })
}

/** Seals a secret for one account: only who knows SECRET can read it, as that account's alone. */
export function sealTotp(totpSecret: Buffer, reporterId: string, secret: string): Buffer {
  const iv = systemRandom(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(secret), iv)
  cipher.setAAD(Buffer.from(reporterId))
  return Buffer.concat([iv, cipher.update(totpSecret), cipher.final(), cipher.getAuthTag()])
}

/** Opens it; undefined when it was sealed for another, or the installation has another SECRET. */
export function openTotp(sealed: Buffer, reporterId: string, secret: string): Buffer | undefined {
  try {
    const decipher = createDecipheriv(
      'aes-256-gcm',
      sealingKey(secret),
      sealed.subarray(0, IV_BYTES),
    )
    decipher.setAAD(Buffer.from(reporterId))
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    const body = sealed.subarray(IV_BYTES, -TAG_BYTES)
    return Buffer.concat([decipher.update(body), decipher.final()])
  } catch {
    return undefined
  }
}

/** Ten codes for who has lost the device, and the hashes under which they are kept. */
export function createRecoveryCodes(): { codes: string[]; hashes: Buffer[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    systemRandom(RECOVERY_BYTES)
      .toString('hex')
      .replace(/(.{5})(?=.)/g, '$1-'),
  )
  return { codes, hashes: codes.map(recoveryHash) }
}

/**
 * Whether it is the code of the device or a recovery code, and uses it up: none works twice. False
 * for an account without a second step.
 */
export async function takeCode(
  { db, secret }: { db: Db; secret: string },
  reporterId: string,
  code: string,
  now: Date,
): Promise<boolean> {
  const totp = await findTotp(db, reporterId)
  if (!totp) return false
  const opened = openTotp(totp.secret, reporterId, secret)
  const step = opened && stepOfCode(opened, code, now)
  if (step !== undefined) return takeTotpStep(db, reporterId, step)
  return takeRecoveryCode(db, reporterId, recoveryHash(code))
}

/** 80 random bits need no slow hash. */
function recoveryHash(code: string): Buffer {
  const plain = code.toLowerCase().replace(/[^0-9a-f]/g, '')
  return createHash('sha256').update(`signalpost recovery ${plain}`).digest()
}

function totpOf(secret: Buffer, email: string): TOTP {
  return new TOTP({
    issuer: 'Signalpost',
    label: email,
    secret: new Secret({ buffer: Uint8Array.from(secret).buffer }),
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_SECONDS,
  })
}

function sealingKey(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'signalpost second step', 32))
}
