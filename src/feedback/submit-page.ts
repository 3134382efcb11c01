import type { z } from 'zod'
import type { App } from '../app.ts'
import {
  countSubmissions,
  findSubmission,
  insertSubmission,
  keepSubmission,
  type PageSubmission,
} from '../db/page-submissions.ts'
import { loadPage, type Page } from '../db/pages.ts'
import { type EnabledPartner, listEnabledPartners, sealOf } from '../db/partners.ts'
import type { Db } from '../db/pool.ts'
import { openBytes } from '../db/sealed-bytes.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, retryAfter } from '../durations.ts'
import { type Partner, partners } from '../phishing/partners.ts'
import { composeSubmission, meaningOf, type SubmissionTemplate } from '../phishing/submission.ts'
import { send } from '../queue/boss.ts'
import type { JobOutcome } from '../queue/work.ts'
import { submitPage } from './queues.ts'

/** Sends one request, and follows no redirect. Its answer is bounded in size and time. */
type Submit = (
  url: string,
  request: { method: string; headers: Record<string, string>; body: string },
) => Promise<Response>

type Needs = Pick<App, 'pool' | 'clock' | 'config'> & { submit: Submit }

/** Time in milliseconds after which a page that a partner does not take is given up. */
const GIVE_UP_MS = 2 * DAY_MS
const PAUSE_MS = 5 * MINUTE_MS
const PAUSE_MS_MAX = 4 * HOUR_MS

/**
 * Queues a confirmed page for each enabled partner that takes pages over HTTP, once each. Only an
 * address that independent reporters share leaves: a partner publishes it.
 */
export async function queueSubmissions(
  tx: Db,
  page: Page,
  app: Pick<App, 'boss'>,
  now: Date,
): Promise<void> {
  if (!page.shared) return
  for (const enabled of await listEnabledPartners(tx)) {
    const partner = templateFor(page, enabled, partners)
    const key = { pageId: page.id, partner: enabled.key }
    if (!partner || !(await insertSubmission(tx, key, now))) continue
    await send(app.boss, submitPage, [key], tx)
  }
}

/** The template of an enabled partner, if it takes this page over HTTP. */
function templateFor(
  { type, confirmedAt }: Page,
  { key, enabledAt }: EnabledPartner,
  templates: readonly Partner[],
) {
  const partner = templates.find((one) => one.key === key)
  if (!partner?.takes.includes(type) || confirmedAt === null) return undefined
  return confirmedAt >= enabledAt ? partner.http : undefined
}

/**
 * Sends a page to a partner over HTTP, unless it is not confirmed or shared any more. Repeats a
 * request without a clear answer, with growing pauses, for two days.
 */
export async function runSubmitPage(
  payload: z.infer<typeof submitPage.payload>,
  app: Needs,
  templates: readonly Partner[] = partners,
): Promise<JobOutcome> {
  const { pool, clock, config } = app
  const row = await findSubmission(pool, payload)
  if (row?.state !== 'waiting') return 'done'
  const now = clock()
  const page = await loadPage(pool, row.pageId)
  const enabled = (await listEnabledPartners(pool)).find(({ key }) => key === row.partner)
  const isOwed = page?.state === 'confirmed' && page.shared
  const template = isOwed && enabled && templateFor(page, enabled, templates)
  if (!template) return end(pool, row, 'dropped')
  if (now.getTime() - row.createdAt.getTime() >= GIVE_UP_MS) return end(pool, row, 'given-up')
  const postponed = (ms: number) => ({ postponedTo: new Date(now.getTime() + ms), payload: {} })
  const waitMs = await limitMs(pool, row.partner, template, now)
  if (waitMs > 0) return postponed(waitMs)
  const key = keyOf(enabled, config)
  if (template.keyHeader !== null && key === undefined) return postponed(HOUR_MS)
  const tried = { ...row, tries: row.tries + 1, triedAt: now, status: null }
  // If the process ends before the answer, this attempt counts.
  await keepSubmission(pool, tried)
  const contact = enabled.contact ?? config.mailFrom
  const answer = await ask(app.submit, template, { page, contact, key })
  const pauseMs = Math.min(PAUSE_MS * 2 ** Math.min(row.tries, 10), PAUSE_MS_MAX)
  if (!answer) return postponed(pauseMs)
  const { status } = answer
  const meaning = meaningOf(template, answer)
  if (meaning !== 'later' && meaning !== 'bad-key') {
    return end(pool, { ...tried, status }, meaning)
  }
  await keepSubmission(pool, { ...tried, status })
  const asked = retryAfter(answer.retryAfter, now)
  return postponed(asked === undefined ? pauseMs : Math.max(asked, MINUTE_MS))
}

/** How long a page waits for the limits of its partner, in milliseconds. */
async function limitMs(
  db: Db,
  partner: string,
  { dailyMax, hourlyMax }: SubmissionTemplate,
  now: Date,
): Promise<number> {
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const since = { daySince: ago(DAY_MS), hourSince: ago(HOUR_MS) }
  const { day, hour } = await countSubmissions(db, partner, since)
  return day >= dailyMax ? HOUR_MS : hour >= hourlyMax ? HOUR_MS / 6 : 0
}

function keyOf(partner: EnabledPartner, { secret }: App['config']) {
  const { sealedKey } = partner
  return sealedKey ? openBytes(sealedKey, sealOf(partner), secret)?.toString() : undefined
}

/** Returns the answer of a partner; undefined if there is none in time. */
async function ask(
  submit: Submit,
  template: SubmissionTemplate,
  { page, contact, key = '' }: { page: Page; contact: string; key: string | undefined },
) {
  const { address, method, keyHeader } = template
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Signalpost',
    ...(keyHeader !== null && { [keyHeader]: key }),
  }
  const body = composeSubmission(template, { url: page.url, contact, reason: reasonOf(page) })
  try {
    const response = await submit(address, { method, headers, body })
    return {
      status: response.status,
      text: await response.text(),
      retryAfter: response.headers.get('retry-after'),
    }
  } catch {
    return undefined
  }
}

async function end(db: Db, row: PageSubmission, state: PageSubmission['state']): Promise<'done'> {
  await keepSubmission(db, { ...row, state })
  return 'done'
}

/** What the partner reads about a page. Nothing of it identifies a reporter. */
function reasonOf({ type, imitates }: Page): string {
  const kind = type === 'phishing' ? 'Phishing' : 'Malware'
  const brand = imitates === null ? '' : `, imitates ${imitates}`
  return `${kind} page${brand}. Independent people reported email messages that lead to it.`
}
