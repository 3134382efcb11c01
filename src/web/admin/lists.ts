import { type Request, type Response, Router } from 'express'
import { insertAudit } from '../../db/audit-log.ts'
import {
  decideDelisting,
  type DelistingState,
  keepExemption,
  listDelistings,
  listExemptions,
  removeExemption,
} from '../../db/listings.ts'
import { inTransaction } from '../../db/pool.ts'
import { storableText } from '../../mail/text.ts'
import { readListQuestion } from '../../verdict/lists/questions.ts'
import { uuidTime } from '../../world.ts'
import { delist } from '../../lists/delist.ts'
import { type Form, type FormReader, readShortForm } from '../pages/form.ts'
import { isUuid, pageOf, queryOf } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { sendAdminPage } from './send-admin-page.ts'

const DAY_MS = 86_400_000

/** The terms of an exemption from our lists, in days: the form value and its label. */
export const exemptionTerms = [
  { value: '30', says: '30 days' },
  { value: '90', says: '90 days' },
  { value: '365', says: '1 year' },
  { value: 'good', says: 'permanent' },
] as const

/** Returns the end of a term; null if it is unlimited; undefined if the value is unknown. */
function termOf(value: string | undefined, now: Date): Date | null | undefined {
  const term = exemptionTerms.find((one) => one.value === value)
  if (!term) return undefined
  return term.value === 'good' ? null : new Date(now.getTime() + Number(term.value) * DAY_MS)
}

/** The days of a term in a form, as an action takes them; undefined without end. */
export function daysOfTerm(form: Form): string | undefined {
  const term = form.text('term') ?? ''
  return term === 'good' ? undefined : term
}

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const ANSWER_CHARS_MAX = 2_000
const states: readonly DelistingState[] = ['open', 'automatic', 'accepted', 'refused']
/** The page with delisting requests and the decisions about them. */
export function delistingAdminRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendRequests(req, res, site, undefined))
  router.post('/:id', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const answer = storableText(form.text('answer') ?? '', ANSWER_CHARS_MAX)
    const isAccepted = form.text('do') === 'accept'
    const decision: Decision['decision'] = isAccepted ? 'accepted' : 'refused'
    if (decision === 'refused' && answer === '') {
      return sendRequests(
        req,
        res,
        site,
        'Write an answer. The requester needs to know why the request was refused.',
      )
    }
    const reporterId = administrator.id
    const deed = { id: req.params.id, decision, answer, reporterId, term: form.text('exempt') }
    if (!(await decide(deed, site)))
      throw new ProblemError(
        'not-found',
        'No open request found. It may already have been decided.',
      )
    res.redirect(303, `/admin/delistings${queryOf({ done: decision })}`)
  })
  return router
}

type Decision = {
  id: string
  decision: 'accepted' | 'refused'
  answer: string
  reporterId: string
  term: string | undefined
}

/** Returns false if the request does not exist or is already decided. */
async function decide(deed: Decision, { pool, clock }: Needs): Promise<boolean> {
  const { id, decision, answer, reporterId } = deed
  if (!isUuid(id)) return false
  const at = clock()
  return inTransaction(pool, async (tx) => {
    const request = await decideDelisting(tx, id, { state: decision, answer, at, reporterId })
    if (!request) return false
    const { name, list } = request
    const action = decision === 'accepted' ? 'accept delisting' : 'refuse delisting'
    await insertAudit(tx, { at, reporterId, action, detail: `${list}: ${name}` })
    if (decision === 'refused') return true
    await delist(tx, request, at)
    const term = termOf(deed.term, at)
    if (term === undefined) return true
    const reason = `Delisting request ${id}.`
    await keepExemption(tx, { name, reason, expiresAt: term, reporterId, createdAt: at })
    return true
  })
}

async function sendRequests(
  req: Request,
  res: Response,
  site: Needs,
  fault: string | undefined,
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const state = states.find((one) => one === given.get('state')) ?? 'open'
  const wanted = given.get('before')
  const before = isUuid(wanted) ? wanted : undefined
  const rows = await listDelistings(site.pool, { state, before, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ id }) => ({ state, before: id }))
  const done = given.get('done')
  sendAdminPage(req, res, {
    view: 'admin/lists/delistings',
    title: 'Delistings',
    status: fault === undefined ? 200 : 422,
    data: {
      state,
      states,
      fault,
      done: done === 'accepted' || done === 'refused' ? `The request was ${done}.` : undefined,
      lines: lines.map((line) => ({ ...line, askedAt: uuidTime(line.id) })),
      terms: exemptionTerms,
      next,
      isFirst: before === undefined,
    },
  })
}

const NAME_CHARS_MAX = 253
const REASON_CHARS_MAX = 500

const deeds = {
  set: 'Exemption saved. The name is removed when the lists are next published.',
  lifted: 'Exemption removed.',
  nothing: 'Exemption not found. It may already have been removed.',
}

/** The page to list and add exemptions from our lists. */
export function listExemptionRoutes(site: Needs): Router {
  const router = Router()
  router.get('/', (req, res) => sendExemptions(req, res, site, []))
  router.post('/', async (req, res) => {
    const form = await readShortForm(req, res, site)
    const administrator = requireReporter(req, res)
    if (!administrator) return
    const text = storableText(form.text('name') ?? '', NAME_CHARS_MAX)
    const deed = { at: site.clock(), reporterId: administrator.id }
    if (form.text('do') === 'lift') {
      const isGone = await inTransaction(site.pool, (tx) => removeExemption(tx, text, deed))
      return sendDone(res, isGone ? 'lifted' : 'nothing')
    }
    const reason = storableText(form.text('reason') ?? '', REASON_CHARS_MAX)
    const [name, term] = [readListQuestion(text)?.name, termOf(form.text('term'), deed.at)]
    const faults = [
      ...(name === undefined ? ['Enter an IP address, a domain or a host name.'] : []),
      ...(reason === '' ? ['Please give a reason.'] : []),
      ...(term === undefined ? ['Choose a duration.'] : []),
    ]
    if (name === undefined || term === undefined || faults.length > 0) {
      return sendExemptions(req, res, site, faults, { name: text, reason })
    }
    const { at: createdAt, reporterId } = deed
    const exemption = { name, reason, expiresAt: term, reporterId, createdAt }
    await inTransaction(site.pool, (tx) => keepExemption(tx, exemption))
    sendDone(res, 'set')
  })
  return router
}

function sendDone(res: Response, done: keyof typeof deeds): void {
  res.redirect(303, `/admin/delistings/exemptions${queryOf({ done })}`)
}

async function sendExemptions(
  req: Request,
  res: Response,
  site: Needs,
  faults: readonly string[],
  form = { name: '', reason: '' },
): Promise<void> {
  const given = new URL(req.originalUrl, 'http://site').searchParams
  const after = storableText(given.get('after') ?? '', NAME_CHARS_MAX)
  const rows = await listExemptions(site.pool, { after, limit: LINES + 1 })
  const { lines, next } = pageOf(rows, LINES, ({ name }) => ({ after: name }))
  const [now, done] = [site.clock(), given.get('done') ?? '']
  sendAdminPage(req, res, {
    view: 'admin/lists/exemptions',
    title: 'Exemptions from the lists',
    status: faults.length > 0 ? 422 : 200,
    data: {
      lines: lines.map((line) => ({
        ...line,
        isOver: line.expiresAt !== null && line.expiresAt <= now,
      })),
      terms: exemptionTerms,
      done: Object.hasOwn(deeds, done) ? deeds[done as keyof typeof deeds] : undefined,
      faults,
      form,
      next,
      isFirst: after === '',
    },
  })
}
