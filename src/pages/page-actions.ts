import { z } from 'zod'
import { type ActionContext, defineAction, oneOf, textField } from '../actions.ts'
import { listAudit, type OperatorAction } from '../db/audit-log.ts'
import { listContactOverrides } from '../db/contact-overrides.ts'
import { findExempted } from '../db/listings.ts'
import { listConfirmedAt, lockPage, type Page, updatePage } from '../db/pages.ts'
import type { Db } from '../db/pool.ts'
import { accusable } from '../phishing/accusable.ts'
import { type Stopper, stoppersOf, withOverrides } from '../phishing/stoppers.ts'
import { refusal } from '../phrase.ts'
import { ownNamesOf } from '../verdict/lists/spare.ts'
import { spareCodes } from '../verdict/marketers/marketer.ts'
import { namesOf, renewPage } from './renew-page.ts'

const id = z.uuid({ error: refusal('refused.no-page') }).meta({ argument: 'ID' })
const reason = textField(500, refusal('refused.reason')).meta({ option: 'why' })
const gone = { problems: [{ message: refusal('refused.no-page'), field: 'id' }] }

/** What an action needs that changes the state of pages. */
export type PageContext = ActionContext<'boss' | 'clock' | 'config' | 'log'>

/** Confirms a page, whatever is reported about it. Brands and platforms are refused. */
export const confirmPage = defineAction({
  name: 'pages confirm',
  summary: 'confirm that a page is used for phishing or malware',
  audit: 'confirm page',
  role: 'analyst',
  input: z.object({ id, type: oneOf(['phishing', 'malware']).default('phishing'), reason }),
  async run(tx, { id: pageId, type, reason: why }, context: PageContext) {
    const page = await lockPage(tx, pageId)
    if (!page) return gone
    if (page.decision === type) return { unchanged: 'same' }
    const found = accusable(new URL(page.url), ownNamesOf(context.config))
    if ('spared' in found)
      return { problems: [{ message: refusal(spareCodes[found.spared], { name: page.host }) }] }
    const [exempt] = await findExempted(tx, namesOf(page.host), context.at)
    if (exempt !== undefined)
      return { problems: [{ message: refusal('refused.page-exempt', { name: exempt }) }] }
    await decide(tx, page, type, context)
    return { done: 'confirmed', audit: `${page.key}, ${type}: ${why}` }
  },
})

/** Says that a page is no page of a phisher; later reports do not confirm it. */
export const clearPage = defineAction({
  name: 'pages clear',
  summary: 'say that a page is not used for phishing; later reports do not change that',
  audit: 'clear page',
  role: 'analyst',
  input: z.object({ id, reason }),
  async run(tx, { id: pageId, reason: why }, context: PageContext) {
    const page = await lockPage(tx, pageId)
    if (!page) return gone
    if (page.decision === 'cleared') return { unchanged: 'same' }
    await decide(tx, page, 'cleared', context)
    return { done: 'cleared', audit: `${page.key}: ${why}` }
  },
})

/** Takes back what an operator said about a page. */
export const undecidePage = defineAction({
  name: 'pages undecide',
  summary: 'leave it to the reports again whether a page is confirmed',
  audit: 'undecide page',
  role: 'analyst',
  input: z.object({ id }),
  async run(tx, { id: pageId }, context: PageContext) {
    const page = await lockPage(tx, pageId)
    if (!page) return gone
    if (page.decision === null) return { unchanged: 'none' }
    await decide(tx, page, null, context)
    return { done: 'undecided', audit: page.key }
  },
})

async function decide(
  tx: Db,
  page: Page,
  decision: Page['decision'],
  context: PageContext,
): Promise<void> {
  await updatePage(tx, { ...page, decision })
  await renewPage(tx, page.id, context)
}

/** Number of the latest audit entries that name a page, among which its decision is searched. */
const ENTRIES_MAX = 50

/**
 * Returns who decided about a page, when, and why, from the audit log. Undefined if the reports
 * decide, the page was cleared with its name, or the entry has expired.
 */
export async function findPageDecision(
  db: Db,
  { key, decision, firstSeen }: Page,
): Promise<(OperatorAction & { reason: string }) | undefined> {
  if (decision === null) return undefined
  const page = { before: undefined, limit: ENTRIES_MAX }
  const entries = await listAudit(db, page, { text: key, since: firstSeen })
  const start = decision === 'cleared' ? `${key}: ` : `${key}, ${decision}: `
  const { audit } = decision === 'cleared' ? clearPage : confirmPage
  const entry = entries.find((one) => one.action === audit && one.detail.startsWith(start))
  if (!entry) return undefined
  return { ...entry, reason: entry.detail.slice(start.length) }
}

/** Maximum number of pages of one name; a host with more needs a second decision. */
export const PAGES_OF_NAME_MAX = 500

/**
 * Clears the confirmed pages of a host, or of a domain and its hosts, which was delisted. Returns
 * what the audit log says of them.
 */
export async function clearPagesAt(tx: Db, name: string, context: PageContext): Promise<string> {
  const ids = await listConfirmedAt(tx, name, PAGES_OF_NAME_MAX)
  for (const pageId of ids) {
    const page = await lockPage(tx, pageId)
    if (page) await decide(tx, page, 'cleared', context)
  }
  return ids.length === 0 ? '' : `, pages cleared: ${ids.length}`
}

/**
 * Returns the platforms that can stop a page, as its address alone shows, with the contacts that
 * operators set. Networks and registrars are looked up only for notices.
 */
export async function platformsOf(
  db: Db,
  page: Page,
  config: PageContext['config'],
): Promise<Stopper[]> {
  const accused = accusable(new URL(page.url), ownNamesOf(config))
  if ('spared' in accused) return []
  const { through } = page
  const stoppers = stoppersOf({ accused, through }, { networks: [], registrar: undefined })
  return withOverrides(stoppers, await listContactOverrides(db))
}
