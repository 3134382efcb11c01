import type { WorkApp } from '../app.ts'
import { listConsumers } from '../db/consumers.ts'
import { listContactOverrides } from '../db/contact-overrides.ts'
import {
  countPageNotices,
  insertPageNotices,
  listDisowning,
  listPageNotices,
  type PageNotice,
  type PageNoticeState,
  removeUnasked,
} from '../db/page-notices.ts'
import { loadPage, type Page } from '../db/pages.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { accusable } from '../phishing/accusable.ts'
import type { FoundPage } from '../phishing/find-pages.ts'
import { lookUpPage } from '../phishing/look-up-page.ts'
import { type HostNetwork, overrideOf, type Stopper, withOverrides } from '../phishing/stoppers.ts'
import type { JobOutcome } from '../queue/work.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { placeInScope } from '../verdict/site-scope.ts'
import type { DnsAnswer, Resolve } from '../world.ts'
import { askRegistries } from './find-contact.ts'
import { listMailedPartners, queueNotices, stopperOf, takeBackNotices } from './page-notices.ts'
import { queueSubmissions } from './submit-page.ts'

type Needs = Pick<WorkApp, 'pool' | 'boss' | 'clock' | 'config' | 'rdap'> & {
  /** Undefined if this installation asks no DNS server. */
  dns?: { resolve: Resolve } | undefined
}
type Payload = { pageId: string; firstAskedAt?: string | undefined }

/** Time in milliseconds for which a registry or DNS server that is away delays the notices. */
const PATIENCE_MS = HOUR_MS
/** Time in milliseconds after which a DNS server that failed is asked again. */
const AGAIN_MS = 5 * 60_000
/** For how long in milliseconds the answer "not ours" is valid, as for networks. */
const DISOWNED_MS = 180 * DAY_MS
/** The places of contacts that operators set after the look-up, and of partners: the last ones. */
const LATER_PLACE = 500
const PARTNERS_PLACE = 1_000

/**
 * Notifies those who can stop confirmed pages: looks them up once per page, and queues one notice
 * for each of them, up to a number a day. Takes back the notices about pages that are not confirmed
 * any more. Safe to run again, also while notices are on their way.
 */
export async function runNotifyPage(
  payloads: readonly Payload[],
  app: Needs,
): Promise<JobOutcome[]> {
  const outcomes: JobOutcome[] = []
  for (const payload of payloads) outcomes.push(await notifyPage(payload, app))
  return outcomes
}

async function notifyPage(payload: Payload, app: Needs): Promise<JobOutcome> {
  const { pool, clock, config } = app
  const { pageId, firstAskedAt = clock().toISOString() } = payload
  const page = await loadPage(pool, pageId)
  if (page && page.state !== 'confirmed') {
    await inTransaction(pool, (tx) => takeBackNotices(tx, pageId, app, clock()))
  }
  if (page?.state !== 'confirmed' || config.pageNoticesDailyMax === 0) return 'done'
  const midnight = Math.floor(clock().getTime() / DAY_MS) * DAY_MS
  if ((await countPageNotices(pool, new Date(midnight))) >= config.pageNoticesDailyMax) {
    return { postponedTo: new Date(midnight + DAY_MS), payload: { pageId } }
  }
  const url = URL.parse(page.url)
  const accused = url && accusable(url, ownNamesOf(config))
  if (!accused || 'spared' in accused) return 'done'
  if ((await listPageNotices(pool, pageId)).every(({ role }) => role === 'partner')) {
    const { stoppers, retryAt } = await lookUp(page, accused, app)
    const isLate = clock().getTime() - Date.parse(firstAskedAt) >= PATIENCE_MS
    if (retryAt && !isLate) return { postponedTo: retryAt, payload: { pageId, firstAskedAt } }
    await inTransaction(pool, (tx) => keepStoppers(tx, page, stoppers, 0, app))
  } else {
    await inTransaction(pool, async (tx) => {
      await keepStoppers(tx, page, await takeOverridden(tx, pageId), LATER_PLACE, app)
    })
  }
  const partners = await listMailedPartners(pool, page)
  await inTransaction(pool, (tx) => keepStoppers(tx, page, partners, PARTNERS_PLACE, app))
  await inTransaction(pool, async (tx) => {
    await queueNotices(tx, pageId, app, clock())
    await queueSubmissions(tx, page, app, clock())
  })
  return 'done'
}

/** Looks up who can stop a page. `retryAt`: when those who could not answer are asked again. */
async function lookUp(
  page: Page,
  accused: FoundPage['accused'],
  app: Needs,
): Promise<{ stoppers: Stopper[]; retryAt: Date | undefined }> {
  const { through } = page
  const found: FoundPage = {
    ...{ url: page.url, links: [page.url], key: page.key, accused, through, shown: [] },
  }
  const retries: number[] = []
  const { rdap, dns, config } = app
  const stoppers = await lookUpPage(found, {
    async resolve(name, type): Promise<DnsAnswer> {
      if (!dns) return { is: 'unknown', why: 'DNS is switched off' }
      const answer = await dns.resolve(name, type)
      if (answer.is === 'unknown') retries.push(app.clock().getTime() + AGAIN_MS)
      return answer
    },
    async networkOf(ip): Promise<HostNetwork | undefined> {
      const { networks, answers } = await askRegistries([ip], app)
      const answer = answers.get(ip)
      if (answer?.is === 'later') retries.push(answer.retryAt.getTime())
      const network = networks.get(ip)?.network
      if (!network) return undefined
      const { asn, name, isMuted } = network
      const isInside =
        !config.forwardScope || placeInScope(ip, network, config.forwardScope) === 'inside'
      return { asn, name, contacts: isInside && !isMuted ? network.contacts : [], ip }
    },
    async registrarOf(domain) {
      const answer = await rdap?.askDomain(domain)
      if (answer?.is === 'later') retries.push(answer.retryAt.getTime())
      if (answer?.is !== 'found') return undefined
      return { registrar: answer.domain.registrar, contacts: answer.contacts }
    },
    isShared: () => page.shared,
  })
  return { stoppers, retryAt: retries.length > 0 ? new Date(Math.min(...retries)) : undefined }
}

/**
 * Removes the contacts without a notice of those for whom operators set others, perhaps after the
 * page was looked up, and returns them.
 */
async function takeOverridden(tx: Db, pageId: string): Promise<Stopper[]> {
  const overrides = await listContactOverrides(tx)
  const notices = (await listPageNotices(tx, pageId)).filter(({ state }) => state !== 'queued')
  const theirs = notices.filter((one) => overrideOf(one, overrides))
  const contactsOf = (some: readonly PageNotice[]) => some.map(({ contact }) => contact)
  await removeUnasked(tx, pageId, contactsOf(theirs))
  return [...Map.groupBy(theirs, stopperOf).values()].flatMap(([first, ...others]) => {
    if (!first) return []
    const { role, name, ips } = first
    const contacts = contactsOf([first, ...others])
    const addresses = contacts.filter((one) => one.includes('@'))
    const form = contacts.find((one) => !one.includes('@'))
    return [{ role, name, ips, addresses, ...(form !== undefined && { form }) }]
  })
}

/**
 * Stores who can stop a page. Forms and addresses with weak sources are only shown to operators,
 * who confirm an address by enrolling it; so is everybody but networks and partners in an
 * installation that forwards to certain networks only. What operators set for registrars,
 * platforms and CDNs takes precedence over what was found.
 */
async function keepStoppers(
  tx: Db,
  page: Page,
  found: readonly Stopper[],
  firstPlace: number,
  { config, clock }: Needs,
): Promise<void> {
  const now = clock()
  const stoppers = withOverrides(found, await listContactOverrides(tx))
  const addresses = stoppers.flatMap((one) => one.addresses.map((address) => address.toLowerCase()))
  const consumers = await listConsumers(tx, addresses)
  const isConfirmed = (contact: string) => (consumers.get(contact)?.enrolledAt ?? null) !== null
  const disowning = await listDisowning(tx, page.host, new Date(now.getTime() - DISOWNED_MS))
  const rows = stoppers.flatMap(({ role, name, addresses, form, override, ...one }) => {
    const isOutside = config.forwardScope !== undefined && role !== 'host' && role !== 'partner'
    const stateOf = (contact: string): PageNoticeState => {
      if (override === 'muted') return 'muted'
      if (contact === form) return 'shown'
      if (disowning.has(contact)) return 'barred'
      const isShown = isOutside || (one.isUnconfirmed === true && !isConfirmed(contact))
      return isShown ? 'shown' : 'spare'
    }
    const mails = addresses.map((address) => address.toLowerCase())
    return [...mails, ...(form === undefined ? [] : [form])].map((contact) => {
      const isOverride = override === 'contacts' && contact !== form
      return { contact, state: stateOf(contact), role, name, ips: one.ips ?? [], isOverride }
    })
  })
  const notices = rows.map((row, at) => ({ ...row, pageId: page.id, place: firstPlace + at }))
  // The first with a contact counts, and those who are muted come last.
  const isMuted = ({ state }: (typeof notices)[number]) => Number(state === 'muted')
  const last = notices.toReversed().toSorted((one, other) => isMuted(other) - isMuted(one))
  const distinct = new Map(last.map((one) => [one.contact, one]))
  await insertPageNotices(tx, [...distinct.values()], now)
}
