import { insertConsent, takeAccountLink } from '../db/accounts.ts'
import { setLetterReporter } from '../db/letters.ts'
import type { Db } from '../db/pool.ts'
import {
  countOtherAdmins,
  holdAdmins,
  insertReporter,
  type Reporter,
  updateReporterSettings,
} from '../db/reporters.ts'
import { insertKarma } from '../db/reputations.ts'
import { uuidv7 } from '../world.ts'

/** Why a password is refused. */
export type PasswordFault = 'short' | 'long' | 'common' | 'own-name'

/** Limits of a new password (NIST SP 800-63B: a minimum length, and no common passwords). */
const PASSWORD_CHARS_MIN = 10
const PASSWORD_BYTES_MAX = 1_024
/** Shorter parts of an address do not make a password guessable. */
const NAME_CHARS_MIN = 4

let common: Promise<ReadonlySet<string>> | undefined

/**
 * Returns what is wrong with a new password, or undefined. It must be long enough and must not be
 * easy to guess: not one of the 49,000 most used passwords, with or without a few digits and signs
 * after it, not a sequence, and not mainly the address or the name of this program.
 */
export async function passwordFault(
  password: string,
  email: string,
): Promise<PasswordFault | undefined> {
  if (Array.from(password).length < PASSWORD_CHARS_MIN) return 'short'
  if (Buffer.byteLength(password) > PASSWORD_BYTES_MAX) return 'long'
  const plain = password.toLowerCase()
  if (isOwnName(plain, email.toLowerCase())) return 'own-name'
  const known = await (common ??= readCommon())
  const word = plain.replace(/[^\p{L}]+$/u, '')
  if (known.has(plain) || isSequence(plain)) return 'common'
  return known.has(word) && plain.length - word.length < 5 ? 'common' : undefined
}

/** Reads the most used passwords; called when the first password is chosen. */
async function readCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].map(String))
}

/**
 * Whether the password is the address or the program's name, with at most four other characters.
 */
function isOwnName(plain: string, email: string): boolean {
  const [local = ''] = email.split('@')
  return [email, local, 'signalpost'].some(
    (name) =>
      name.length >= NAME_CHARS_MIN &&
      plain.includes(name) &&
      plain.length - name.length < NAME_CHARS_MIN + 1,
  )
}

/** Whether the text uses at most two different characters or is a run such as `abcdefghij`. */
function isSequence(plain: string): boolean {
  if (new Set(plain).size <= 2) return true
  const codes = Array.from(plain, (character) => character.codePointAt(0) ?? 0)
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)))
  return steps.size === 1
}

/**
 * Creates the account for a mailed link and deletes the link. The account is not vouched for.
 * Undefined when the link is invalid, or the address has an account by now.
 */
export async function makeAccount(
  tx: Db,
  tokenHash: Buffer,
  passwordHash: string,
  now: Date,
): Promise<string | undefined> {
  const link = await takeAccountLink(tx, 'confirm', tokenHash, now)
  if (!link) return undefined
  const { address: email, language, consent, consentedAt } = link
  const fresh = { id: uuidv7(now), email, isAdmin: false, passwordHash, createdAt: now }
  const id = await insertReporter(tx, fresh)
  if (id === undefined) return undefined
  await insertKarma(tx, { reporterId: id, isVouched: false, now })
  await updateReporterSettings(tx, id, { language })
  if (consent !== null && consentedAt !== null) {
    await insertConsent(tx, id, { version: consent, language, consentedAt })
  }
  if (link.letterId !== null) await setLetterReporter(tx, link.letterId, id)
  return id
}

/**
 * Whether an account may be closed: it must not be the last active administrator. Locks
 * administrators.
 */
export async function mayLeave(tx: Db, { id, isAdmin }: Reporter): Promise<boolean> {
  if (!isAdmin) return true
  await holdAdmins(tx)
  return (await countOtherAdmins(tx, id)) > 0
}
