import type { App } from '../app.ts'
import { listPackedAnalyses } from '../db/analyses.ts'
import { ensureConsumers } from '../db/consumers.ts'
import { type FeedbackKey, listFeedback } from '../db/feedback-reports.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { markReports, findReport } from '../db/reports.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { chooseContact } from '../verdict/choose-contact.ts'
import { findDesks } from './find-desks.ts'
import { knownContacts } from './known-contacts.ts'
import { oweFeedback } from './owe-feedback.ts'

/** What came of looking for the next contact. */
export type NextContact = { told: string } | { nobody: string }

/** A report is tried at so many addresses of a network at most. */
export const CONTACTS_MAX = 3

/**
 * Tells the next contact of a report's network, after a hard bounce or a "not ours": the best one
 * that was not told, whose mail does not come back and that did not ask us to stop. It writes into
 * the report's story what it did. Nobody is told of a report that was taken back, and at most three
 * contacts are tried.
 */
export async function tellNextContact(
  tx: Db,
  { reportId, number }: FeedbackKey,
  app: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<NextContact> {
  const next = await findNext(tx, { reportId, number }, app, now)
  if ('nobody' in next) return next
  const consumers = await ensureConsumers(tx, [{ address: next.to, source: 'network' }], now)
  const consumer = consumers.get(next.to)
  const owed = consumer ? [{ reportId, consumer }] : []
  const [feedback] = await oweFeedback(tx, owed, app, now)
  if (!feedback) return { nobody: 'It was told before.' }
  const detail = 'The next abuse address of the network is told instead.'
  await insertEvents(tx, [{ reportId, at: now, event: 'looked-up', detail }])
  return { told: next.to }
}

async function findNext(
  tx: Db,
  { reportId, number }: FeedbackKey,
  { config }: Pick<App, 'config'>,
  now: Date,
): Promise<{ to: string } | { nobody: string }> {
  // The report is locked: of two bounces at once the second sees whom the first had told.
  const locked = [
    ...(await markReports(tx, [reportId], ['forwarded'], 'forwarded')),
    ...(await markReports(tx, [reportId], ['analyzed'], 'analyzed')),
  ]
  const report = locked.length > 0 ? await findReport(tx, reportId) : undefined
  if (!report) return { nobody: 'The report was taken back.' }
  const feedback = await listFeedback(tx, [reportId])
  const asDesk = feedback.filter(({ kind, toldAs }) => kind === 'complaint' && toldAs === 'network')
  if (!asDesk.some((one) => one.number === number)) {
    return { nobody: 'It was not told as the desk of the network.' }
  }
  if (asDesk.some((one) => one.number > number)) return { nobody: 'Another was told already.' }
  if (asDesk.length >= CONTACTS_MAX) return { nobody: 'Enough contacts were tried.' }
  const [analysis] = await listPackedAnalyses(tx, [reportId])
  const ip = analysis?.originIp
  if (ip === null || ip === undefined) return { nobody: 'It has no origin.' }
  const network = (await findDesks(tx, [ip], now)).get(ip)?.merged?.network
  if (!network || network.isMuted) return { nobody: 'Nobody answers for the network.' }
  const told = new Set(feedback.map(({ address }) => address.toLowerCase()))
  const contacts = network.contacts.filter((address) => !told.has(address.toLowerCase()))
  if (contacts.length === 0) return { nobody: 'The network has no other contact.' }
  const known = await knownContacts(tx, contacts, now)
  const email = (await listReporterEmails(tx, [report.reporterId])).get(report.reporterId)
  const addresses = email === undefined ? [config.mailFrom] : [config.mailFrom, email]
  const own = { addresses, domain: config.returnPathDomain }
  return chooseContact({ contacts }, known.byAddress, config.forwardTo, own)
}
