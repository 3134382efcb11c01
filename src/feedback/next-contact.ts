import type { App } from '../app.ts'
import { listPackedAnalyses, reopenLookUp } from '../db/analyses.ts'
import { ensureConsumers } from '../db/consumers.ts'
import { listDisowned } from '../db/feedback-answers.ts'
import { type FeedbackKey, feedbackName, listFeedback } from '../db/feedback-reports.ts'
import { type FoundLayer, listLayers } from '../db/networks.ts'
import { listNoticesOfFeedback } from '../db/page-notices.ts'
import type { Db } from '../db/pool.ts'
import { insertEvents } from '../db/report-events.ts'
import { listReporterEmails } from '../db/reporters.ts'
import { findReport, markReports } from '../db/reports.ts'
import { parseIp } from '../mail/ip.ts'
import { type MergedNetwork, mergeLayers } from '../origin/networks.ts'
import { phrase, type PhraseCode } from '../phrase.ts'
import { send } from '../queue/boss.ts'
import {
  chooseContact,
  type FeedbackTopic,
  type OwnAddresses,
  topicOf,
} from '../verdict/choose-contact.ts'
import { placeInScope } from '../verdict/site-scope.ts'
import { knownContacts } from './known-contacts.ts'
import { notifyNextStopper } from './page-notices.ts'
import { queueFeedback } from './queue-feedback.ts'
import { findContact } from './queues.ts'

/**
 * The network of an address, and the mail addresses, in lower case, of desks that are not
 * responsible for it.
 */
export type Desk = {
  merged: MergedNetwork<FoundLayer> | undefined
  disowned: ReadonlySet<string>
}

const noAddresses: ReadonlySet<string> = new Set()

/**
 * Returns the networks of addresses, by address: the merged view of all tables, registries and
 * administrators (`mergeLayers`), without the contacts of desks that are not responsible for the
 * address. Unreadable addresses are absent.
 */
export async function findDesks(
  db: Db,
  ips: readonly string[],
  now: Date,
): Promise<Map<string, Desk>> {
  const asked = new Map<string, string>()
  for (const ip of ips) {
    const address = parseIp(ip)
    if (address) asked.set(ip, address.text)
  }
  const texts = [...new Set(asked.values())]
  if (texts.length === 0) return new Map()
  const [layers, disowned] = await Promise.all([
    listLayers(db, texts, now),
    listDisowned(db, texts, now),
  ])
  const layersOf = Map.groupBy(layers, ({ ip }) => ip)
  return new Map(
    [...asked].map(([ip, text]) => {
      const without = disowned.get(text) ?? noAddresses
      const left = (layersOf.get(text) ?? []).map((layer) => withoutDisowned(layer, without))
      return [ip, { merged: mergeLayers(left), disowned: without }]
    }),
  )
}

function withoutDisowned(layer: FoundLayer, disowned: ReadonlySet<string>): FoundLayer {
  if (disowned.size === 0) return layer
  const contacts = layer.contacts.filter((address) => !disowned.has(address.toLowerCase()))
  return contacts.length === layer.contacts.length ? layer : { ...layer, contacts }
}

/**
 * The result of the search for the next contact; `asking` means that the registries are queried.
 */
export type NextContact = { notified: string } | { asking: true } | { noContact: NoContactReason }

/** Why no other contact is notified. */
type NoContactReason =
  | PhraseCode
  | 'not-the-desk'
  | 'another-notified'
  | 'enough-notified'
  | 'no-other-contact'
  | 'notified-before'
  | 'no-feedback'

/** Maximum number of contacts of one network that are notified of a report. */
const CONTACTS_MAX = 3

type Needs = Pick<App, 'boss' | 'config'>
type Open = {
  reporterId: string
  ip: string
  topic: FeedbackTopic
  /** Addresses in lower case. */
  notified: ReadonlySet<string>
}

/**
 * Notifies the next contact of a report's network after a hard bounce or the answer "not ours": the
 * best contact that was not notified yet and whose mail does not bounce. If one desk of the network
 * asked us to stop, no other is notified. Records the action in the report's story. Does nothing
 * for retracted reports and after three contacts. If every known desk answered that it is not
 * responsible for the address, queries the registries. After a notice about a page, notifies
 * somebody else who can stop the page.
 */
export async function notifyNextContact(
  tx: Db,
  { reportId, number }: FeedbackKey,
  app: Needs,
  now: Date,
): Promise<NextContact> {
  const page = (await listNoticesOfFeedback(tx, [reportId])).get(feedbackName({ reportId, number }))
  if (page) {
    const notified = await notifyNextStopper(tx, page, app, now)
    return notified === undefined ? { noContact: 'no-other-contact' } : { notified }
  }
  const open = await findOpen(tx, { reportId, number })
  if ('noContact' in open) return open
  const desk = (await findDesks(tx, [open.ip], now)).get(open.ip)
  if (desk && isUnknown(desk)) {
    await reopenLookUp(tx, reportId, { action: 'look-up', why: [phrase('network-disowned')] })
    await send(app.boss, findContact, [{ reportId }], tx)
    return { asking: true }
  }
  const next = await choose(tx, open, desk, app, now)
  if ('noContact' in next) return next
  const consumers = await ensureConsumers(tx, [{ address: next.to, source: 'network' }], now)
  const consumer = consumers.get(next.to)
  const owed = consumer ? [{ reportId, consumer }] : []
  const [feedback] = await queueFeedback(tx, owed, app, now)
  if (!feedback) return { noContact: 'notified-before' }
  const phrases = [phrase('next-contact-notified')]
  await insertEvents(tx, [{ reportId, at: now, event: 'looked-up', phrases }])
  return { notified: next.to }
}

/** Returns a report for which another contact may be notified. Locks it against concurrent runs. */
async function findOpen(
  tx: Db,
  { reportId, number }: FeedbackKey,
): Promise<Open | { noContact: NoContactReason }> {
  const locked = [
    ...(await markReports(tx, [reportId], ['forwarded'], 'forwarded')),
    ...(await markReports(tx, [reportId], ['analyzed'], 'analyzed')),
  ]
  const report = locked.length > 0 ? await findReport(tx, reportId) : undefined
  if (!report) return { noContact: 'report-was-retracted' }
  const feedback = await listFeedback(tx, [reportId])
  const asDesk = feedback.filter(
    ({ kind, recipientRole }) => kind === 'complaint' && recipientRole === 'network',
  )
  if (!asDesk.some((one) => one.number === number)) {
    return { noContact: 'not-the-desk' }
  }
  if (asDesk.some((one) => one.number > number)) return { noContact: 'another-notified' }
  if (asDesk.length >= CONTACTS_MAX) return { noContact: 'enough-notified' }
  const [analysis] = await listPackedAnalyses(tx, [reportId])
  const ip = analysis?.originIp ?? undefined
  if (!analysis || ip === undefined) return { noContact: 'origin-not-found' }
  const notified = new Set(feedback.map(({ address }) => address.toLowerCase()))
  const { verdict, complaint } = analysis.judgment
  const topic = topicOf(verdict.class, complaint.kind)
  return { reporterId: report.reporterId, ip, topic, notified }
}

/** Whether no known contact remains and no registry has been queried yet. */
function isUnknown({ merged, disowned }: Desk): boolean {
  const isMuted = merged?.network.isMuted === true
  const isNamed = (merged?.network.contacts.length ?? 0) > 0
  return disowned.size > 0 && !isMuted && !isNamed && merged?.answer === undefined
}

async function choose(
  tx: Db,
  { reporterId, ip, notified, topic }: Open,
  desk: Desk | undefined,
  { config }: Needs,
  now: Date,
): Promise<{ to: string } | { noContact: NoContactReason }> {
  const network = desk?.merged?.network
  if (!network || network.isMuted) return { noContact: 'network-muted' }
  const { forwardScope } = config
  const isInside = !forwardScope || placeInScope(ip, network, forwardScope) === 'inside'
  if (!isInside) return { noContact: 'outside-scope' }
  const contacts = network.contacts.filter((address) => !notified.has(address.toLowerCase()))
  if (contacts.length === 0) return { noContact: 'no-other-contact' }
  const { byAddress: known } = await knownContacts(tx, network.contacts, now)
  const isSilent = [...known.values()].some(({ state }) => state === 'stopped')
  if (isSilent) return { noContact: 'desk-stopped' }
  const email = (await listReporterEmails(tx, [reporterId])).get(reporterId)
  const addresses = email === undefined ? [config.mailFrom] : [config.mailFrom, email]
  const own: OwnAddresses = { addresses, domain: config.returnPathDomain }
  const choice = chooseContact({ contacts }, known, config.forwardTo, own, topic)
  return 'to' in choice ? choice : { noContact: choice.noContact.code }
}
