import { insertAudit } from '../../db/audit-log.ts'
import type { Db } from '../../db/pool.ts'
import { type Account, markReporter } from '../../db/reporters.ts'
import { removeSessions } from '../../db/sessions.ts'
import { mayLeave } from './begin-erasure.ts'

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
