import { Router, type Request, type Response } from 'express'
import { insertAudit } from '../../../db/audit-log.ts'
import {
  decideDelisting,
  type DelistingState,
  listDelistings,
} from '../../../db/delisting-requests.ts'
import { keepExemption } from '../../../db/list-exemptions.ts'
import { inTransaction } from '../../../db/pool.ts'
import { storableText } from '../../../mail/storable-text.ts'
import { uuidTime } from '../../../world.ts'
import { pardon } from '../../lists/keep-wish.ts'
import { readShortForm, type FormReader } from '../../pages/form.ts'
import { requireReporter } from '../../pages/signed-in.ts'
import { isUuid, pageOf, queryOf } from '../../paging.ts'
import { ProblemError } from '../../problem.ts'
import type { Site } from '../../site.ts'
import { exemptionTerms, termOf } from './exemption-terms.ts'
import { sendAdminPage } from '../send-admin-page.ts'

type Needs = Pick<Site, 'pool' | 'clock'> & FormReader

const LINES = 50
const ANSWER_CHARS_MAX = 2_000
const states: readonly DelistingState[] = ['open', 'automatic', 'accepted', 'refused']
/** Who asks to be taken off a list, and the answer. */
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
      return sendRequests(req, res, site, 'Who is refused is told why: write an answer.')
    }
    const reporterId = administrator.id
    const deed = { id: req.params.id, decision, answer, reporterId, term: form.text('exempt') }
    if (!(await decide(deed, site))) throw new ProblemError('not-found', 'Nothing waits there.')
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

/** False when there is no such request, or somebody decided it already. */
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
    await pardon(tx, request, at)
    const term = termOf(deed.term, at)
    if (term === undefined) return true
    const reason = `It was asked for (request ${id}).`
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
