import type { App } from '../app.ts'
import {
  type BulkReport,
  keepProposal,
  listBulkReports,
  listDeclaredSigners,
  removeOldProposals,
} from '../db/marketers.ts'
import { inTransaction } from '../db/pool.ts'
import { unpack } from '../db/rows.ts'
import { DAY_MS } from '../durations.ts'
import { parseMailboxes } from '../mail/address.ts'
import { storableText } from '../mail/text.ts'
import type { PlainAnalysis } from '../pieces/analyze.ts'
import { namesOver } from '../pieces/marketer.ts'
import { alignedSigner } from '../verdict/advice.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { proposalsOf, type SeenBulk } from '../verdict/marketers/propose.ts'

type Needs = Pick<App, 'pool' | 'clock' | 'config' | 'log'>

const LOOKED_AT_MS = 14 * DAY_MS
const REPORTS_MAX = 20_000
const FORGOTTEN_MS = 90 * DAY_MS
const NAME_CHARS_MAX = 120

/**
 * Searches two weeks of legitimate bulk mail for signers that no marketer declares, and proposes
 * them to administrators. A marketer is recognized only after an administrator confirms it.
 */
export async function runProposeMarketers(app: Needs): Promise<void> {
  const now = app.clock()
  const since = new Date(now.getTime() - LOOKED_AT_MS)
  const reports = await listBulkReports(app.pool, since, REPORTS_MAX)
  const declared = new Set(await listDeclaredSigners(app.pool))
  const seen: SeenBulk[] = []
  for (const report of reports) {
    const one = await seenBulk(report)
    const isKnown = one && namesOver(one.signer).some((name) => declared.has(name))
    if (one && !isKnown) seen.push(one)
  }
  const proposals = proposalsOf(seen, ownNamesOf(app.config))
  await inTransaction(app.pool, async (tx) => {
    for (const proposal of proposals) await keepProposal(tx, proposal)
    await removeOldProposals(tx, new Date(now.getTime() - FORGOTTEN_MS))
  })
  if (proposals.length > 0)
    app.log.info({ marketers: proposals.length }, 'Found new marketers to propose.')
}

async function seenBulk(report: BulkReport): Promise<SeenBulk | undefined> {
  const { authentication, claims, headers, unsubscribe } = JSON.parse(
    (await unpack(report)).toString(),
  ) as PlainAnalysis
  const signer = alignedSigner(authentication)
  const author = claims?.authorDomain
  if (signer === undefined || !author) return undefined
  const [mailbox] = parseMailboxes(headers.from ?? '')
  return {
    reporterId: report.reporterId,
    at: report.receivedAt,
    signer,
    listId: claims.listId,
    author,
    name: storableText(mailbox?.name?.trim() ?? '', NAME_CHARS_MAX),
    subject: headers.subject,
    unsubscribeHost: URL.parse(unsubscribe?.https ?? '')?.hostname ?? null,
  }
}
