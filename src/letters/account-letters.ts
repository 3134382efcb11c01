import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type ActionContext, defineAction, textField } from '../actions.ts'
import type { App } from '../app.ts'
import { type AccountLink, findSignUp, putAccountLink } from '../db/accounts.ts'
import { removeLetter } from '../db/letters.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import {
  type Account,
  findReporterByEmail,
  findReporterSettings,
  type Reporter,
} from '../db/reporters.ts'
import { DAY_MS, HOUR_MS, WEEK_MS } from '../durations.ts'
import type { KeyedLink } from '../mail/keys.ts'
import { refusal } from '../phrase.ts'
import { type Language, textsIn } from '../texts/messages.ts'
import { systemRandom } from '../world.ts'
import { composeBody, type LetterBody } from './letter-body.ts'
import { queueLetter } from './send-letter.ts'

type Needs = Pick<App, 'pool' | 'boss' | 'clock' | 'config'> & { publicUrl: string }

/** Counts letters for all processes together. */
type Pacing = {
  limits: {
    admit: (attempt: 'letter-owner' | 'letter-stranger', actor: object) => Promise<{ is: string }>
  }
}

export type AccountNews =
  /** Sign-up: confirms the address. */
  | 'confirm'
  /** Sign-up with an address that already has an account. */
  | 'exists'
  | 'reset'
  /** An administrator created the account. */
  | 'invited'
  /** Password reset for an address without an account. */
  | 'no-account'
  /** The operator has disabled the account; sent whatever was requested. */
  | 'disabled'
  /** To a new address, which must be confirmed. */
  | 'move'
  /** To the previous address. */
  | 'moved'
  | 'password-changed'
  | 'second-step-on'
  | 'second-step-off'
  /** The account was linked to a person at the provider of the organization. */
  | 'linked'

/** Composes a letter about an account. It contains no user input, only our own link. */
export function composeAccountLetter(
  news: AccountNews,
  language: Language,
  link: string | KeyedLink,
): LetterBody & { subject: string } {
  const texts = textsIn(language)
  const parts = [
    texts('accountLetters.greeting'),
    ...texts(`accountLetters.${news}.before`),
    { action: texts(`accountLetters.${news}.action`), url: link },
    ...texts(`accountLetters.${news}.after`).map((small) => ({ small })),
  ]
  return { subject: texts(`accountLetters.${news}.subject`), ...composeBody(parts, language) }
}

/** A request from an unauthenticated person. */
type Asked = { address: string; language: Language }

const TOKEN_BYTES = 24
const CONFIRM_MS = 48 * HOUR_MS
const RESET_MS = HOUR_MS

/**
 * Maximum number of letters of one kind to one address within a time, regardless of who requests
 * them, so that nobody can flood a mailbox through this service. Lower for addresses without an
 * account.
 */
const usualQuota = { lettersMax: 5, withinMs: DAY_MS }
const quotas: Partial<Record<AccountNews, typeof usualQuota>> = {
  'no-account': { lettersMax: 1, withinMs: WEEK_MS },
  confirm: { lettersMax: 3, withinMs: 3 * DAY_MS },
}

/**
 * Answers a request for an account by mail only: an address without an account receives a link to
 * continue, an address with an account receives a letter that says so. Both cases run the same
 * statements, so that their duration does not reveal which applied.
 */
export async function askForAccount(
  { consent, ...asked }: Asked & { consent: string },
  app: Needs,
): Promise<void> {
  await askOrExplain({ consent, ...asked }, systemRandom(TOKEN_BYTES).toString('base64url'), app)
}

/** What the token of a link begins with that a trial instance showed. */
const TRIAL = 'trial-'

/**
 * Like `askForAccount`, on a trial instance, which sends no mail. Returns the address of the page
 * that confirms the sign-up, for the browser that asked; undefined if the address has an account or
 * has had too many letters.
 */
export async function askOnTrial(
  asked: Asked & { consent: string },
  app: Needs,
): Promise<string | undefined> {
  const token = `${TRIAL}${systemRandom(TOKEN_BYTES).toString('base64url')}`
  const isNew = await askOrExplain(asked, token, app)
  return isNew ? `/account/confirm/${token}` : undefined
}

/** Whether a link was made on a trial instance that now sends mail: such links have ended. */
export function isTrialOver(token: string, { smtpUrl }: Pick<App['config'], 'smtpUrl'>): boolean {
  return token.startsWith(TRIAL) && smtpUrl !== undefined
}

async function askOrExplain(
  { consent, ...asked }: Asked & { consent: string },
  token: string,
  app: Needs,
): Promise<boolean> {
  const account = await findReporterByEmail(app.pool, asked.address)
  if (account) {
    await mailOwner('exists', account, asked, app)
    return false
  }
  const link = {
    ...addressLink(asked, CONFIRM_MS, app.clock()),
    ...({ kind: 'confirm', consent, consentedAt: app.clock() } as const),
  }
  return mailLink('confirm', app, link, { token })
}

/** Sends a new sign-up link and invalidates the old one, as if the person had signed up again. */
export const resendConfirmation = defineAction({
  name: 'account confirm',
  summary: 'send the link of a sign-up again',
  audit: 'confirm again',
  role: 'administrator',
  input: z.object({ address: textField(320, refusal('refused.sign-up')) }),
  async run(tx, { address: text }, context: ActionContext<'pool' | 'boss' | 'clock' | 'config'>) {
    const link = await findSignUp(tx, text, context.at)
    if (!link || link.consent === null) return { unchanged: 'nothing' }
    const { address, language, consent } = link
    const { publicUrl } = context.config
    await askForAccount({ address, language, consent }, { ...context, publicUrl })
    return { done: 'written', audit: 'A sign-up.' }
  },
})

/** Handles a request to reset a password, in the same way as `askForAccount`. */
export async function askForReset(asked: Asked, app: Needs & Pacing): Promise<void> {
  const account = await findReporterByEmail(app.pool, asked.address)
  const isFull = await isHourFull(account, app)
  if (account) return mailOwner('reset', account, asked, app, isFull)
  // The link leads nowhere; it is stored as long as the letter counts toward the limit.
  await mailLink('no-account', app, addressLink(asked, WEEK_MS, app.clock()), { isFull })
}

/**
 * Mails a link to the address that a reporter wants to change to. When that address has an account,
 * its owner is informed instead: the reporter must not learn that it has one.
 */
export async function askToMove(
  reporter: Reporter,
  asked: Asked,
  app: Needs & Pacing,
): Promise<void> {
  const account = await findReporterByEmail(app.pool, asked.address)
  const isFull = await isHourFull(account, app)
  if (account) return mailOwner('exists', account, asked, app, isFull)
  const owner = { subject: reporter.id, reporterId: reporter.id }
  const link = { ...addressLink(asked, CONFIRM_MS, app.clock()), kind: 'move', ...owner } as const
  await mailLink('move', app, link, { isFull })
}

/**
 * Whether the hourly limit of account letters is reached, for all requests together. Letters to
 * addresses without an account have a separate limit, so that a flood of them does not affect
 * account owners.
 */
async function isHourFull(account: Account | undefined, { limits }: Pacing): Promise<boolean> {
  const attempt = account ? 'letter-owner' : 'letter-stranger'
  return (await limits.admit(attempt, {})).is === 'refused'
}

/** Queues a letter about a change of an account, in the transaction that makes the change. */
export async function queueAccountLetter(
  tx: Db,
  news: AccountNews,
  { id, email }: Pick<Reporter, 'id' | 'email'>,
  app: Omit<Needs, 'pool'>,
): Promise<void> {
  const language = (await findReporterSettings(tx, id))?.language ?? 'en'
  const page = news === 'moved' ? '/privacy' : '/sign-in'
  const letter = composeAccountLetter(news, language, `${app.publicUrl}${page}`)
  await queueLetter(
    tx,
    { kind: 'account', reporterId: id, to: email, language, autoSubmitted: 'generated', ...letter },
    app,
    app.clock(),
  )
}

/** Returns the hash under which a link is stored; the token itself is only in the letter. */
export function linkHash(token: string): Buffer {
  return createHash('sha256').update(`signalpost link ${token}`).digest()
}

function addressLink(
  { address, language }: Asked,
  livesMs: number,
  now: Date,
): Omit<AccountLink, 'letterId'> {
  const to = address.toLowerCase()
  return {
    kind: 'notice',
    subject: to,
    address: to,
    reporterId: null,
    language,
    consent: null,
    consentedAt: null,
    expiresAt: new Date(now.getTime() + livesMs),
  }
}

/** Mails a link to set a new password, or a notice that the account is disabled. */
async function mailOwner(
  news: 'exists' | 'reset',
  { id, state, language: own }: Account,
  asked: Asked,
  app: Needs,
  isFull = false,
): Promise<void> {
  const link = addressLink({ ...asked, language: own ?? asked.language }, RESET_MS, app.clock())
  const isActive = state === 'active'
  const owned = {
    ...link,
    kind: isActive ? ('reset' as const) : ('notice' as const),
    subject: id,
    reporterId: id,
  }
  await mailLink(isActive ? news : 'disabled', app, owned, { isFull })
}

/** Sends the owner of a new account a link to choose a password, and ends earlier ones. */
export async function inviteToAccount(
  account: { id: string; email: string; language: Language },
  app: Omit<Needs, 'publicUrl'>,
): Promise<void> {
  const { id, email: address, language } = account
  const owner = { subject: id, reporterId: id }
  const link = { ...addressLink({ address, language }, WEEK_MS, app.clock()), ...owner }
  const needs = { ...app, publicUrl: app.config.publicUrl }
  await mailLink('invited', needs, { ...link, kind: 'reset' }, {})
}

const pages: Partial<Record<AccountNews, string>> = {
  confirm: '/account/confirm/',
  exists: '/account/reset/',
  reset: '/account/reset/',
  invited: '/account/reset/',
  move: '/account/move/',
}

/**
 * Stores the link and queues its letter in one transaction. Above the limit the letter is not sent,
 * but the same statements run, so that the duration does not reveal it. Returns whether it is sent.
 */
async function mailLink(
  news: AccountNews,
  app: Needs,
  link: Omit<AccountLink, 'letterId'>,
  {
    isFull = false,
    token = systemRandom(TOKEN_BYTES).toString('base64url'),
  }: { isFull?: boolean; token?: string },
): Promise<boolean> {
  const now = app.clock()
  const { address, language, reporterId } = link
  const page = pages[news]
  const shown =
    page === undefined
      ? `${app.publicUrl}${news === 'disabled' ? '/privacy' : '/sign-in'}`
      : { url: app.publicUrl + page + token, key: token }
  const letter = composeAccountLetter(news, language, shown)
  const owner = reporterId === null ? {} : { reporterId }
  const quota = quotas[news] ?? usualQuota
  const lettersMax = isFull ? 0 : quota.lettersMax
  const since = new Date(now.getTime() - quota.withinMs)
  return inTransaction(app.pool, async (tx) => {
    const letterId = await queueLetter(
      tx,
      {
        ...{ kind: 'account', ...owner, to: address, language, autoSubmitted: 'generated' },
        ...letter,
        keysExpireAt: link.expiresAt,
      },
      app,
      now,
    )
    const kept = { ...link, letterId, tokenHash: linkHash(token) }
    const asked = await putAccountLink(tx, kept, { now, since, lettersMax })
    await removeLetter(tx, letterId, asked > lettersMax)
    return asked <= lettersMax
  })
}
