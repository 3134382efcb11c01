import { createHash } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { App } from '../app.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import type { Reporter } from '../db/reporters.ts'
import { openBytes, sealBytes } from '../db/sealed-bytes.ts'
import {
  findTotp,
  putRecoveryCodes,
  putTotp,
  removeSessions,
  removeTotp,
  takeRecoveryCode,
  takeTotpStep,
} from '../db/sessions.ts'
import type { KeyRing } from '../key-ring.ts'
import { queueAccountLetter } from '../letters/account-letters.ts'
import { systemRandom } from '../world.ts'

const SECRET_BYTES = 20
const STEP_SECONDS = 30
/** Number of time steps accepted before and after the current one, because clocks differ. */
const STEPS_BESIDE = 1
const RECOVERY_CODES = 10
const RECOVERY_BYTES = 10

/** Returns a new secret for the second step (RFC 6238: HMAC-SHA-1, six digits, thirty seconds). */
export function createTotpSecret(): Buffer {
  return systemRandom(SECRET_BYTES)
}

/** Returns the secret as text to type, and as the URI for a QR code. */
export function describeTotp(secret: Buffer, email: string): { text: string; uri: string } {
  const totp = totpOf(secret, email)
  return { text: totp.secret.base32.replace(/(.{4})(?=.)/g, '$1 '), uri: totp.toString() }
}

/** Returns the time step of a code; undefined when the code is not valid now. */
function stepOfCode(secret: Buffer, code: string, now: Date): number | undefined {
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

/** Returns the code that the device shows at an instant. */
export function codeAt(secret: Buffer, now: Date): string {
  return totpOf(secret, '').generate({ timestamp: now.getTime() })
}

/**
 * Returns ten recovery codes, for use when the device is lost, and the hashes under which they are
 * stored.
 */
function createRecoveryCodes(): { codes: string[]; hashes: Buffer[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () =>
    systemRandom(RECOVERY_BYTES)
      .toString('hex')
      .replace(/(.{5})(?=.)/g, '$1-'),
  )
  return { codes, hashes: codes.map(recoveryHash) }
}

type LetterNeeds = Pick<App, 'pool' | 'boss' | 'clock' | 'config'> & { publicUrl: string }

/**
 * Turns the second step on if the code proves that the owner's device contains the secret. Ends the
 * sessions other than `sessionHandle`, which were opened with the password alone, and informs the
 * owner by letter. Returns the recovery codes; undefined when the code is wrong.
 */
export async function turnOnSecondStep(
  app: LetterNeeds,
  reporter: Reporter,
  {
    totpSecret,
    code,
    sessionHandle,
  }: { totpSecret: Buffer; code: string; sessionHandle: string | undefined },
): Promise<string[] | undefined> {
  const step = stepOfCode(totpSecret, code, app.clock())
  if (step === undefined) return undefined
  const secret = sealBytes(
    totpSecret,
    { purpose: 'second step', owner: reporter.id },
    app.config.secret,
  )
  const { codes, hashes } = createRecoveryCodes()
  await inTransaction(app.pool, async (tx) => {
    await putTotp(tx, reporter.id, { secret, step, codeHashes: hashes })
    await removeSessions(tx, reporter.id, sessionHandle)
    await queueAccountLetter(tx, 'second-step-on', reporter, app)
  })
  return codes
}

/** Turns the second step off, and informs the owner by letter. */
export async function turnOffSecondStep(app: LetterNeeds, reporter: Reporter): Promise<void> {
  await inTransaction(app.pool, async (tx) => {
    await removeTotp(tx, reporter.id)
    await queueAccountLetter(tx, 'second-step-off', reporter, app)
  })
}

/** Replaces the recovery codes of an account and returns the new ones. */
export async function renewRecoveryCodes(
  { pool }: Pick<App, 'pool'>,
  reporterId: string,
): Promise<string[]> {
  const { codes, hashes } = createRecoveryCodes()
  await inTransaction(pool, (tx) => putRecoveryCodes(tx, reporterId, hashes))
  return codes
}

/**
 * Whether the code is a valid code of the device or a recovery code; invalidates it, so that it
 * works only once. False for an account without a second step.
 */
export async function takeCode(
  { db, secret }: { db: Db; secret: KeyRing },
  reporterId: string,
  code: string,
  now: Date,
): Promise<boolean> {
  const totp = await findTotp(db, reporterId)
  if (!totp) return false
  const opened = openBytes(totp.secret, { purpose: 'second step', owner: reporterId }, secret)
  const step = opened && stepOfCode(opened, code, now)
  if (step !== undefined) return takeTotpStep(db, reporterId, step)
  return takeRecoveryCode(db, reporterId, recoveryHash(code))
}

/**
 * Returns the hash under which a recovery code is stored. A code of 80 random bits needs no slow
 * hash.
 */
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
