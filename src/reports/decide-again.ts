import type { App } from '../app.ts'
import { listExchangers } from '../db/mail-exchangers.ts'
import { inTransaction } from '../db/pool.ts'
import { holdReporters } from '../db/reporters.ts'
import { domainOf } from '../mail/address.ts'
import { blockOfAddress } from '../mail/ip-blocks.ts'
import type { JobOutcome } from '../queue/work.ts'
import { oldestNamed } from './known-exchangers.ts'
import { findRelays } from './relays.ts'
import { correctOrigins, reopenAskedReports } from './reopen-reports.ts'

/**
 * Decides reports of a reporter again after somebody else stated who receives the mail: an operator
 * for a domain, MX records, or the provider of a mailbox user. Reports that waited for an answer
 * are analyzed again, and those whose origin receives for the reporter are corrected.
 */
export async function runDecideAgain(
  { reporterId }: { reporterId: string },
  app: Pick<App, 'pool' | 'boss' | 'clock' | 'config'>,
): Promise<JobOutcome> {
  const now = app.clock()
  await inTransaction(app.pool, async (tx) => {
    await holdReporters(tx, [reporterId], 'change')
    const relaysOf = await findRelays(tx, [{ id: reporterId, reporterId, receivedVia: [] }])
    const { options, mailbox } = relaysOf(reporterId)
    const domain = domainOf(mailbox ?? '')
    const hosts = domain === undefined ? [] : await listExchangers(tx, domain, oldestNamed(app))
    const blocks = [
      ...options.trustedRelays,
      ...hosts.flatMap((host) => blockOfAddress(host) ?? []),
    ]
    await reopenAskedReports(tx, app.boss, { reporterId, blocks: 'all', now })
    await correctOrigins(tx, app.boss, { reporterId, blocks, now })
  })
  return 'done'
}
