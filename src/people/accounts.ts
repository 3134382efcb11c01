import type { App } from '../app.ts'
import { findAccountLink, insertConsent, takeAccountLink } from '../db/accounts.ts'
import { setLetterReporter } from '../db/letters.ts'
import { forgetBorders } from '../db/mail-probes.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import {
  countOtherAdmins,
  findReporter,
  holdAdmins,
  holdReporters,
  insertReporter,
  type Reporter,
  updateReporter,
  updateReporterEmail,
  updateReporterSettings,
} from '../db/reporters.ts'
import { insertKarma } from '../db/reputations.ts'
import { removeSessions } from '../db/sessions.ts'
import { linkHash, queueAccountLetter } from '../letters/account-letters.ts'
import { uuidv7 } from '../world.ts'
import { hashPassword } from './credentials.ts'

/** Why a password is refused. */
export type PasswordFault = 'short' | 'long' | 'common' | 'own-name'

/** Limits of a new password (NIST SP 800-63B: a minimum length, and no common passwords). */
const PASSWORD_CHARS_MIN = 10
const PASSWORD_BYTES_MAX = 1_024
/** Shorter parts of an address are ignored, because they do not make a password easy to guess. */
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

type Needs = Pick<App, 'pool' | 'clock'>
type LetterNeeds = Needs & Pick<App, 'boss' | 'config'> & { publicUrl: string }

/**
 * Creates the account for a mailed link and deletes the link. The account is not vouched for.
 * Undefined when the link is invalid, or when an account with the address was created in the
 * meantime.
 */
export async function makeAccount(
  { pool, clock }: Needs,
  token: string,
  password: string,
): Promise<Pick<Reporter, 'id' | 'email'> | undefined> {
  const passwordHash = await hashPassword(password)
  const now = clock()
  return inTransaction(pool, async (tx) => {
    const link = await takeAccountLink(tx, 'confirm', linkHash(token), now)
    if (!link) return undefined
    const { address: email, language, consent, consentedAt } = link
    const fresh = { id: uuidv7(now), email, role: null, passwordHash, createdAt: now }
    const id = await insertReporter(tx, fresh)
    if (id === undefined) return undefined
    await insertKarma(tx, { reporterId: id, isVouched: false, now })
    await updateReporterSettings(tx, id, { language })
    if (consent !== null && consentedAt !== null) {
      await insertConsent(tx, id, { version: consent, language, consentedAt })
    }
    if (link.letterId !== null) await setLetterReporter(tx, link.letterId, id)
    return { id, email }
  })
}

/**
 * Sets the password of the account that a mailed link belongs to, deletes the link, and ends every
 * session. Informs the owner by letter. False when the link is invalid.
 */
export async function resetPassword(
  app: LetterNeeds,
  token: string,
  password: string,
): Promise<boolean> {
  const passwordHash = await hashPassword(password)
  return inTransaction(app.pool, async (tx) => {
    const link = await takeAccountLink(tx, 'reset', linkHash(token), app.clock())
    if (!link?.reporterId) return false
    await holdReporters(tx, [link.reporterId], 'change')
    const reporter = await findReporter(tx, link.reporterId)
    // The account may have changed its address since the link was sent.
    if (reporter?.email !== link.address) return false
    await updateReporter(tx, reporter.id, { passwordHash })
    await removeSessions(tx, reporter.id, undefined)
    await queueAccountLetter(tx, 'password-changed', reporter, app)
    return true
  })
}

/**
 * Changes the password and ends all sessions except the current one, identified by `sessionHandle`.
 * Informs the owner by letter.
 */
export async function changePassword(
  app: LetterNeeds,
  reporter: Reporter,
  { password, sessionHandle }: { password: string; sessionHandle: string | undefined },
): Promise<void> {
  const passwordHash = await hashPassword(password)
  await inTransaction(app.pool, async (tx) => {
    await updateReporter(tx, reporter.id, { passwordHash })
    await removeSessions(tx, reporter.id, sessionHandle)
    await queueAccountLetter(tx, 'password-changed', reporter, app)
  })
}

/**
 * Changes the address of an account to that of a mailed link, which only this account may use, and
 * informs the old address. False when the link is invalid, or another account has the address.
 */
export async function changeEmail(
  app: LetterNeeds,
  reporter: Reporter,
  token: string,
): Promise<boolean> {
  return inTransaction(app.pool, async (tx) => {
    const link = await findAccountLink(tx, 'move', linkHash(token), app.clock())
    if (link?.reporterId !== reporter.id) return false
    await takeAccountLink(tx, 'move', linkHash(token), app.clock())
    if (!(await updateReporterEmail(tx, reporter.id, link.address))) return false
    // The mail of another address comes another way.
    await forgetBorders(tx, reporter.id)
    await queueAccountLetter(tx, 'moved', reporter, app)
    return true
  })
}

/**
 * Whether an account may be closed or lose its role: it must not be the last active administrator.
 * Locks administrators.
 */
export async function mayClose(tx: Db, { id, role }: Reporter): Promise<boolean> {
  if (role !== 'administrator') return true
  await holdAdmins(tx)
  return (await countOtherAdmins(tx, id)) > 0
}
