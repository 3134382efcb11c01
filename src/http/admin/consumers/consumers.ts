import { Router, type Request, type Response } from 'express'
import { insertAudit } from '../../../db/audit-log.ts'
import { findConsumerDetails, listConsumerPage } from '../../../db/consumer-list.ts'
import { type ConsumerState, ensureConsumers, listConsumers } from '../../../db/consumers.ts'
import { inTransaction } from '../../../db/pool.ts'
import { changeConsumer } from '../../../feedback/change-consumer.ts'
import { isContact } from '../../../mail/ip-tables/reading.ts'
import { storableText } from '../../../mail/storable-text.ts'
import { stateAt } from '../../../verdict/may-tell.ts'
import { healthAt } from '../../../verdict/contact-health.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { isUuid, pageOf, queryOf } from '../../paging.ts'
import { ProblemError } from '../../problem.ts'
import type { Site } from '../../site.ts'
import { sendAdminPage } from '../send-admin-page.ts'
import { readChange } from './read-change.ts'
import { sendConsumer } from './consumer.ts'

type Needs = Pick<Site, 'pool' | 'clock' | 'config' | 'publicUrl'> & FormReader

const LINES = 50
const ADDRESS_CHARS_MAX = 254
const states: readonly ConsumerState[] = ['found', 'enrolled', 'paused', 'stopped']

/** Whom we tell, how, and the way to change it. */
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

/** @throws ProblemError */
async function find(id: string, { pool }: Needs) {
  const consumer = isUuid(id) ? await findConsumerDetails(pool, { id }) : undefined
  if (!consumer) throw new ProblemError('not-found', 'There is no such consumer.')
  return consumer
}

/** Makes a consumer known by hand; who is known already is shown. */
async function addConsumer(req: Request, res: Response, site: Needs): Promise<void> {
  const form = await readShortForm(req, res, site)
  const administrator = requireReporter(req, res)
  if (!administrator) return
  const address = storableText(form.text('address') ?? '', ADDRESS_CHARS_MAX).toLowerCase()
  if (!isContact(address)) return sendConsumers(req, res, site, 'This is not a mail address.')
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
