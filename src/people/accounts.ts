import { createHash } from 'node:crypto'
import { insertConsent, removeAccountLinks, takeAccountLink } from '../db/accounts.ts'
import { insertAudit } from '../db/audit-log.ts'
import { type ErasureWay, insertErasure } from '../db/erasures.ts'
import { setLetterReporter } from '../db/letters.ts'
import { type Db, inTransaction, type Pool } from '../db/pool.ts'
import {
  type Account,
  countOtherAdmins,
  holdAdmins,
  insertReporter,
  markReporter,
  removeMailInAddress,
  type Reporter,
  updateReporterSettings,
} from '../db/reporters.ts'
import { insertKarma } from '../db/reputations.ts'
import { removeSessions, removeTokens } from '../db/sessions.ts'
import { removeWebhooksOf } from '../db/webhooks.ts'
import { type Boss, send } from '../queue/boss.ts'
import { eraseAccount } from '../queue/queues.ts'
import { type Clock, systemRandom, uuidv7 } from '../world.ts'

/** Why a password is not taken. */
export type PasswordFault = 'short' | 'long' | 'common' | 'own-name'

/** What a new password needs (NIST SP 800-63B: length, and nothing that is guessed first). */
const PASSWORD_CHARS_MIN = 10
const PASSWORD_BYTES_MAX = 1_024
/** Part of an address that is too short to make a password guessable. */
const NAME_CHARS_MIN = 4

let common: Promise<ReadonlySet<string>> | undefined

/**
 * What is wrong with a new password, or undefined. Only its length counts, and that nobody would
 * try it among the first: it is none of the 49,000 that are most used, with or without digits and
 * signs behind it, nor the address or our name with nothing to speak of beside it.
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

/** The most used passwords, loaded by the first who chooses one. */
async function readCommon(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common')
  return new Set(dictionary['passwords-common'].map(String))
}

/** The address or our name, and little else. */
function isOwnName(plain: string, email: string): boolean {
  const [local = ''] = email.split('@')
  return [email, local, 'signalpost'].some(
    (name) =>
      name.length >= NAME_CHARS_MIN &&
      plain.includes(name) &&
      plain.length - name.length < NAME_CHARS_MIN + 1,
  )
}

/** One character over and over, two that take turns, or a run such as `abcdefghij`. */
function isSequence(plain: string): boolean {
  if (new Set(plain).size <= 2) return true
  const codes = Array.from(plain, (character) => character.codePointAt(0) ?? 0)
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)))
  return steps.size === 1
}

/**
 * Makes the account that a link was mailed for, and uses the link up. Nobody vouches for it.
 * Undefined when the link does not work, or the address has got an account meanwhile.
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

const TOKEN_BYTES = 24

/**
 * Ends an account at once, and puts its erasure in line. Returns the secret of the page on which
 * its progress stands; `last-admin` when nobody could administer any more, `begun` when another
 * request was first.
 */
export async function beginErasure(
  app: { pool: Pool; boss: Boss; clock: Clock },
  reporter: Reporter,
  how: ErasureWay,
): Promise<{ token: string } | 'last-admin' | 'begun'> {
  const now = app.clock()
  const token = systemRandom(TOKEN_BYTES).toString('base64url')
  const erasure = { id: uuidv7(now), anonymousId: uuidv7(now), how, askedAt: now }
  return inTransaction(app.pool, async (tx) => {
    if (!(await mayLeave(tx, reporter))) return 'last-admin'
    if (!(await markReporter(tx, reporter.id, ['active', 'disabled'], 'erasing'))) return 'begun'
    await removeSessions(tx, reporter.id, undefined)
    await removeTokens(tx, reporter.id)
    await removeWebhooksOf(tx, reporter.id)
    await removeMailInAddress(tx, reporter.id)
    await removeAccountLinks(tx, reporter.id)
    const tokenHash = erasureHash(token)
    await insertErasure(tx, { ...erasure, reporterId: reporter.id, tokenHash })
    const reports = how === 'keep' ? 'its reports stay' : 'its reports go too'
    const detail = `An account is erased; ${reports}.`
    await insertAudit(tx, { at: now, reporterId: null, action: 'erase account', detail })
    await send(app.boss, eraseAccount, [{ erasureId: erasure.id }], tx)
    return { token }
  })
}

/** Whether an account may end: not the last one that administers. Holds those that do. */
async function mayLeave(tx: Db, { id, isAdmin }: Reporter): Promise<boolean> {
  if (!isAdmin) return true
  await holdAdmins(tx)
  return (await countOtherAdmins(tx, id)) > 0
}

/** The hash under which the page of an erasure is found. */
export function erasureHash(token: string): Buffer {
  return createHash('sha256').update(`signalpost erasure ${token}`).digest()
}

/** Who changes it, and when; the command line has no id. */
export type AccountDeed = { at: Date; reporterId: string | null }

/**
 * Lets an account do nothing any more: its browsers are signed out, its tokens and its address for
 * mail rest. The log names it by its id, since an address there would outlive the account.
 */
export async function disableAccount(
  tx: Db,
  account: Account,
  deed: AccountDeed,
): Promise<'done' | 'nothing' | 'last-admin'> {
  if (!(await mayLeave(tx, account))) return 'last-admin'
  if (!(await markReporter(tx, account.id, ['active'], 'disabled'))) return 'nothing'
  await removeSessions(tx, account.id, undefined)
  await insertAudit(tx, { ...deed, action: 'disable account', detail: account.id })
  return 'done'
}

/** Lets it do again what it could. */
export async function enableAccount(
  tx: Db,
  account: Account,
  deed: AccountDeed,
): Promise<'done' | 'nothing'> {
  if (!(await markReporter(tx, account.id, ['disabled'], 'active'))) return 'nothing'
  await insertAudit(tx, { ...deed, action: 'enable account', detail: account.id })
  return 'done'
}
