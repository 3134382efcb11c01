import { createHash } from 'node:crypto'
import { removeAccountLinks } from '../../db/account-links.ts'
import { insertAudit } from '../../db/audit-log.ts'
import { type ErasureWay, insertErasure } from '../../db/erasures.ts'
import { removeMailInAddress } from '../../db/mail-in-addresses.ts'
import { type Db, inTransaction, type Pool } from '../../db/pool.ts'
import { countOtherAdmins, holdAdmins, markReporter, type Reporter } from '../../db/reporters.ts'
import { removeSessions } from '../../db/sessions.ts'
import { removeTokens } from '../../db/tokens.ts'
import { removeWebhooksOf } from '../../db/webhooks.ts'
import type { Boss } from '../../queue/boss.ts'
import { eraseAccount } from '../../queue/queues.ts'
import { send } from '../../queue/send.ts'
import { type Clock, systemRandom, uuidv7 } from '../../world.ts'

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
export async function mayLeave(tx: Db, { id, isAdmin }: Reporter): Promise<boolean> {
  if (!isAdmin) return true
  await holdAdmins(tx)
  return (await countOtherAdmins(tx, id)) > 0
}

/** The hash under which the page of an erasure is found. */
export function erasureHash(token: string): Buffer {
  return createHash('sha256').update(`signalpost erasure ${token}`).digest()
}
