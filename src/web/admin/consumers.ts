import { type Request, type Response, Router } from 'express'
import { insertAudit } from '../../db/audit-log.ts'
import { listScopes } from '../../db/consumer-scopes.ts'
import {
  type ConsumerDetails,
  type ConsumerState,
  ensureConsumers,
  findConsumerDetails,
  listConsumerPage,
  listConsumers,
} from '../../db/consumers.ts'
import { listFeedbackTo } from '../../db/feedback-reports.ts'
import { inTransaction } from '../../db/pool.ts'
import { listSuppressed } from '../../db/suppressions.ts'
import { changeConsumer, type ConsumerChange } from '../../feedback/change-consumer.ts'
import { consumerLink } from '../../feedback/enroll.ts'
import { storableText } from '../../mail/text.ts'
import { isContact } from '../../origin/network-tables/text-tables.ts'
import { readLimits, readScopes, scopeText } from '../../verdict/consumers.ts'
import { healthAt, mayNotify, stateAt } from '../../verdict/contact-health.ts'
import { shownSettings, feedbackSettingsOf } from '../consumers/enroll.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

const DAY_MS = 86_400_000
const DAYS_MAX = 3_650

/** Parses the requested change from the form of a consumer, or returns an error message. */
function readChange(form: Form, now: Date): ConsumerChange | { fault: string } {
  const asked = form.text('do')
  if (asked === 'resume' || asked === 'stop' || asked === 'enroll') return { do: asked }
  if (asked === 'pause') return readPause(form.text('days') ?? '', now)
  if (asked !== 'set') return { fault: 'Choose an action.' }
  const telling = feedbackSettingsOf(form)
  const scopes = readScopes(form.text('scopes') ?? '')
  const limits = readLimits({
    hourlyMax: form.text('hourlyMax') ?? '',
    connectionsMax: form.text('connectionsMax') ?? '',
    note: form.text('note') ?? '',
  })
  if (!telling)
    return { fault: 'Choose the format, form and pace, and at least one kind of report.' }
  if ('faults' in scopes) {
    return { fault: `Not a block, AS number or domain: ${scopes.faults.join(' ')}` }
  }
  if (!limits)
    return {
      fault: 'Enter whole numbers: 1 to 1000000 feedback reports per hour and 1 to 50 connections.',
    }
  return { do: 'set', ...telling, ...limits, scopes }
}

function readPause(days: string, now: Date): ConsumerChange | { fault: string } {
  if (days === '') return { do: 'pause', until: null }
  const count = /^\d{1,4}$/.test(days) ? Number(days) : 0
  if (count < 1 || count > DAYS_MAX) return { fault: 'Enter a pause of 1 to 3650 days.' }
  return { do: 'pause', until: new Date(now.getTime() + count * DAY_MS) }
}

type ConsumerNeeds = Pick<Site, 'pool' | 'clock' | 'config' | 'publicUrl'>

const FEEDBACK_LINES = 20

const deeds: Record<string, string> = {
  set: 'Settings saved. They apply from now on.',
  pause: 'Paused. Nothing is sent to this consumer during the pause.',
  resume: 'Resumed. The consumer gets reports again.',
  stop: 'Stopped. No more reports are sent, and waiting reports are withdrawn.',
  enroll: 'Consumer enrolled.',
  nothing: 'Nothing changed.',
}

/** Sends the page of one consumer. */
async function sendConsumer(
  req: Request,
  res: Response,
  site: ConsumerNeeds,
  { consumer, fault }: { consumer: ConsumerDetails; fault: string | undefined },
): Promise<void> {
  const now = site.clock()
  const [scopes, feedback, suppressed] = await Promise.all([
    listScopes(site.pool, [consumer.id]),
    listFeedbackTo(site.pool, consumer.id, FEEDBACK_LINES),
    listSuppressed(site.pool, [consumer.address], now),
  ])
  const suppression = suppressed.get(consumer.address.toLowerCase())
  const done = new URL(req.originalUrl, 'http://site').searchParams.get('done')
  sendAdminPage(req, res, {
    view: 'admin/consumers/one',
    title: consumer.address,
    status: fault === undefined ? 200 : 422,
    data: {
      consumer,
      fault,
      done: done !== null && Object.hasOwn(deeds, done) ? deeds[done] : undefined,
      state: stateAt(consumer, now),
      health: healthAt(consumer, now),
      standing: mayNotify(consumer, suppression, now),
      suppression,
      scopes: (scopes.get(consumer.id) ?? []).map(scopeText),
      telling: shownSettings(consumer),
      feedback,
      link: consumerLink(consumer.id, { ...site.config, publicUrl: site.publicUrl }),
    },
  })
}

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'publicUrl'> & FormReader

const LINES = 50
const ADDRESS_CHARS_MAX = 254
const states: readonly ConsumerState[] = ['found', 'enrolled', 'paused', 'stopped']

/** The pages to list and change consumers. */
export function consumerRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendConsumers(req, res, site, undefined))
  router.post('/', (req, res) => addConsumer(req, res, site))
  router.get('/:id', async (req, res) => {
    const found = await find(req.params.id, site)
    await sendConsumer(req, res, site, { consumer: found, fault: undefined })
  })
  router.post('/:id', async (req, res) => {
    const found = await find(req.params.id, site)
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const deed = { at: site.clock(), reporterId: administrator.id }
    const change = readChange(form, deed.at)
    if ('fault' in change) {
      return sendConsumer(req, res, site, { consumer: found, fault: change.fault })
    }
    const isDone = await inTransaction(site.pool, (tx) =>
      changeConsumer(tx, found.id, change, deed),
    )
    const done = isDone ? change.do : 'nothing'
    res.redirect(303, `/admin/consumers/${found.id}${queryOf({ done })}`)
  })
  return router
}

/**
 * Returns a consumer.
 *
 * @throws ProblemError if it does not exist
 */
async function find(id: string, { pool }: Needs) {
  const consumer = isUuid(id) ? await findConsumerDetails(pool, { id }) : undefined
  if (!consumer) throw new ProblemError('not-found', 'Consumer not found.')
  return consumer
}

/** Adds a consumer manually; for a known one, shows its page. */
async function addConsumer(req: Request, res: Response, site: Needs): Promise<void> {
  const form = await readShortForm(req, res, site)
  const administrator = requireReporter(req, res)
  if (!administrator) return
  const address = storableText(form.text('address') ?? '', ADDRESS_CHARS_MAX).toLowerCase()
  if (!isContact(address))
    return sendConsumers(req, res, site, 'This is not a valid email address.')
  const wanted = [{ address, source: 'operator' as const }]
  const at = site.clock()
  const consumer = await inTransaction(site.pool, async (tx) => {
    const isKnown = (await listConsumers(tx, [address])).has(address)
    const deed = { at, reporterId: administrator.id, detail: address }
    if (!isKnown) await insertAudit(tx, { ...deed, action: 'add consumer' })
    return (await ensureConsumers(tx, wanted, at)).get(address)
  })
  res.redirect(303, `/admin/consumers/${consumer?.id}`)
}

async function sendConsumers(
  req: Request,
  res: Response,
  site: Needs,
  fault: string | undefined,
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const field = (name: string) => storableText(given.get(name) ?? '', ADDRESS_CHARS_MAX).trim()
  const state = states.find((one) => one === given.get('state'))
  const search = field('q').toLowerCase() || undefined
  const after = field('after') || undefined
  const rows = await listConsumerPage(site.pool, { state, search, after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ address }) => {
    return { state, q: search, after: address }
  })
  const now = site.clock()
  sendAdminPage(req, res, {
    view: 'admin/consumers/list',
    title: 'Consumers',
    status: fault === undefined ? 200 : 422,
    data: {
      fault,
      state,
      states,
      search: search ?? '',
      lines: lines.map((line) => ({
        ...line,
        state: stateAt(line, now),
        health: healthAt(line, now),
      })),
      next,
      isFirst: after === undefined,
    },
  })
}
