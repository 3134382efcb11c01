import { z } from 'zod'
import { defineAction, isId, oneOf, textField } from '../actions.ts'
import type { Db } from '../db/pool.ts'
import {
  type Account,
  findAccount,
  findReporterByEmail,
  markReporter,
  setRole,
} from '../db/reporters.ts'
import { removeSessions, removeTotp } from '../db/sessions.ts'
import { roles } from '../roles.ts'
import { mayClose } from './accounts.ts'

const ADDRESS_CHARS_MAX = 320

/** An input field that identifies an account by its address or its id. */
const accountInput = z.object({
  account: textField(ADDRESS_CHARS_MAX, 'Enter the email address of an account.').meta({
    argument: 'EMAIL',
  }),
})
const nothing = 'Nothing changed. The account or sign-up may already have been changed or removed.'

async function accountOf(tx: Db, text: string): Promise<Account | undefined> {
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
  messages: {
    disabled: 'Account disabled. Its sessions and tokens no longer work.',
    'last-admin': 'This is the last administrator. Make another account an administrator first.',
    nothing,
  },
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
  messages: { enabled: 'Account enabled.', nothing },
  async run(tx, { account: text }) {
    const account = await accountOf(tx, text)
    if (!account || !(await markReporter(tx, account.id, ['disabled'], 'active'))) {
      return { unchanged: 'nothing' }
    }
    return { done: 'enabled', audit: account.id }
  },
})

/** Gives an account a role instead of the one it has, or takes its role away. */
export const grantRole = defineAction({
  name: 'account role',
  summary: 'give an account a role, or take its role away',
  audit: 'grant role',
  role: 'administrator',
  asksPassword: true,
  input: accountInput.extend({ role: oneOf([...roles, 'none']).meta({ argument: 'ROLE' }) }),
  messages: {
    granted: 'Role saved. Tokens follow within ten seconds.',
    'last-admin': 'This is the last administrator. Make another account an administrator first.',
    nothing: 'Nothing changed. The account has this role already.',
  },
  async run(tx, { account: text, role: given }) {
    const account = await accountOf(tx, text)
    if (account?.state !== 'active') {
      return { problems: [{ field: 'account', message: 'No active account has this address.' }] }
    }
    const role = given === 'none' ? null : given
    if (role === account.role) return { unchanged: 'nothing' }
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
  messages: { removed: 'Two-step sign-in is off. The password is enough to sign in.', nothing },
  async run(tx, { account: text }) {
    const account = await accountOf(tx, text)
    if (!account?.hasTotp) return { unchanged: 'nothing' }
    await removeTotp(tx, account.id)
    return { done: 'removed', audit: account.id }
  },
})
