import { z } from 'zod'
import { type ActionContext, defineAction, isId, oneOf, textField } from '../actions.ts'
import { removeAccountLinks } from '../db/accounts.ts'
import { forgetBorders } from '../db/mail-probes.ts'
import type { Db } from '../db/pool.ts'
import {
  type Account,
  findAccount,
  findReporterByEmail,
  insertReporter,
  markReporter,
  setRole,
  updateReporterEmail,
  updateReporterSettings,
} from '../db/reporters.ts'
import { insertKarma } from '../db/reputations.ts'
import { removeSessions, removeTotp } from '../db/sessions.ts'
import { inviteToAccount, queueAccountLetter } from '../letters/account-letters.ts'
import { refusal } from '../phrase.ts'
import { roles } from '../roles.ts'
import { uuidv7 } from '../world.ts'
import { mayClose } from './accounts.ts'

const ADDRESS_CHARS_MAX = 320

/** An input field that identifies an account by its address or its id. */
export const accountInput = z.object({
  account: textField(ADDRESS_CHARS_MAX, refusal('refused.account')).meta({
    argument: 'EMAIL',
  }),
})

export async function accountOf(tx: Db, text: string): Promise<Account | undefined> {
  if (text.includes('@')) return findReporterByEmail(tx, text)
  return isId(text) ? findAccount(tx, text) : undefined
}

/**
 * Ends the sessions of an account; its tokens and its mail-in address stop working until it is
 * enabled again. The audit log contains the id of the account, because an address there would
 * outlive it.
 */
export const disableAccount = defineAction({
  name: 'account disable',
  summary: 'disable an account: its sessions and tokens stop working',
  audit: 'disable account',
  role: 'administrator',
  asksPassword: true,
  input: accountInput,
  async run(tx, { account: text }) {
    const account = await accountOf(tx, text)
    if (!account) return { unchanged: 'nothing' }
    if (!(await mayClose(tx, account))) return { unchanged: 'last-admin' }
    if (!(await markReporter(tx, account.id, ['active'], 'disabled'))) {
      return { unchanged: 'nothing' }
    }
    await removeSessions(tx, account.id, undefined)
    return { done: 'disabled', audit: account.id }
  },
})

export const enableAccount = defineAction({
  name: 'account enable',
  summary: 'enable a disabled account',
  audit: 'enable account',
  role: 'administrator',
  input: accountInput,
  async run(tx, { account: text }) {
    const account = await accountOf(tx, text)
    if (!account || !(await markReporter(tx, account.id, ['disabled'], 'active'))) {
      return { unchanged: 'nothing' }
    }
    return { done: 'enabled', audit: account.id }
  },
})

const rolesElsewhere =
  'Roles come from the groups at the provider of the organization. Put the person into a group ' +
  'there, or name the account in OIDC_LOCAL_ACCOUNTS.'

/** Gives an account a role instead of the one it has, or takes its role away. */
export const grantRole = defineAction({
  name: 'account role',
  summary: 'give an account a role, or take its role away',
  audit: 'grant role',
  role: 'administrator',
  asksPassword: true,
  input: accountInput.extend({ role: oneOf([...roles, 'none']).meta({ argument: 'ROLE' }) }),
  async run(tx, { account: text, role: given }, { config }: ActionContext<'config'>) {
    const account = await accountOf(tx, text)
    if (account?.state !== 'active') {
      return { problems: [{ field: 'account', message: refusal('refused.no-active-account') }] }
    }
    const role = given === 'none' ? null : given
    if (role !== null && config.oidc?.localAccounts.includes(account.email) === false) {
      return { problems: [{ field: 'account', message: rolesElsewhere }] }
    }
    if (role === account.role) return { unchanged: 'same-role' }
    if (!(await mayClose(tx, account))) return { unchanged: 'last-admin' }
    await setRole(tx, account.id, role)
    return { done: 'granted', audit: `${account.id}: ${given}, was ${account.role ?? 'none'}` }
  },
})

/** Turns off the second step of a person who has lost the second factor and all recovery codes. */
export const removeSecondStep = defineAction({
  name: 'account no-second-step',
  summary: 'turn off the two-step sign-in of an account',
  audit: 'remove second step',
  role: 'administrator',
  asksPassword: true,
  input: accountInput,
  async run(tx, { account: text }) {
    const account = await accountOf(tx, text)
    if (!account?.hasTotp) return { unchanged: 'nothing' }
    await removeTotp(tx, account.id)
    return { done: 'removed', audit: account.id }
  },
})

const newAddress = z
  .email({ error: refusal('refused.email') })
  .max(ADDRESS_CHARS_MAX, refusal('refused.email'))

type LetterParts = 'pool' | 'boss' | 'clock' | 'config'

/**
 * Creates an account without a password, and sends a letter with a link to choose one. For an
 * account that still has no password, sends a new link and changes nothing else.
 */
export const inviteAccount = defineAction({
  name: 'account invite',
  summary: 'create an account, and send its owner a link to choose a password',
  audit: 'add account',
  role: 'administrator',
  asksPassword: true,
  input: z.object({
    address: newAddress.meta({ argument: 'EMAIL' }),
    role: oneOf([...roles, 'none']).default('none'),
    language: oneOf(['en', 'fr', 'ru']).default('en'),
    trust: oneOf(['new', 'full']).default('new'),
    letter: oneOf(['yes', 'no']).default('yes'),
  }),
  async run(tx, given, context: ActionContext<LetterParts>) {
    const { address: email, language, letter } = given
    const role = given.role === 'none' ? null : given.role
    const at = context.at
    const fresh = { id: uuidv7(at), email, role, passwordHash: null, createdAt: at }
    const id = await insertReporter(tx, fresh)
    const known = id === undefined ? await findReporterByEmail(tx, email) : undefined
    const mayInvite = known?.state === 'active' && known.passwordHash === null
    if (id === undefined && !(mayInvite && letter === 'yes')) return { unchanged: 'has-account' }
    const invite = () => inviteToAccount({ id: id ?? known?.id ?? '', email, language }, context)
    if (id === undefined)
      return { done: 'again', audit: `${known?.id}: a new link`, afterwards: invite }
    await insertKarma(tx, { reporterId: id, isVouched: given.trust === 'full', now: at })
    await updateReporterSettings(tx, id, { language })
    const audit = `${id}: ${given.role}, trust ${given.trust}`
    if (letter === 'no') return { done: 'added', audit }
    return { done: 'invited', audit, afterwards: invite }
  },
})

/** Changes the address of an account for its owner, and informs the old address. */
export const renameAccount = defineAction({
  name: 'account rename',
  summary: 'change the address of an account; the old address gets a letter',
  audit: 'rename account',
  role: 'administrator',
  asksPassword: true,
  input: accountInput.extend({ address: newAddress.meta({ argument: 'NEW-EMAIL' }) }),
  async run(tx, { account: text, address }, context: ActionContext<LetterParts>) {
    const account = await accountOf(tx, text)
    if (account?.state !== 'active') {
      return { problems: [{ field: 'account', message: refusal('refused.no-active-account') }] }
    }
    if (account.email === address.toLowerCase()) return { unchanged: 'same-address' }
    if (!(await updateReporterEmail(tx, account.id, address))) {
      return { problems: [{ field: 'address', message: refusal('refused.address-taken') }] }
    }
    // Links went to the old address, and the mail of another address comes another way.
    await removeAccountLinks(tx, account.id)
    await forgetBorders(tx, account.id)
    const app = { ...context, publicUrl: context.config.publicUrl }
    await queueAccountLetter(tx, 'moved', account, app)
    return { done: 'renamed', audit: account.id }
  },
})
