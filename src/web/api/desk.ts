import { createHash } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { type Consumer, findConsumer } from '../../db/consumers.ts'
import {
  answerDeskReports,
  type DeskReport,
  findDeskCopy,
  findDeskReport,
  listDeskReports,
  parseReportNumber,
  reportNumber,
} from '../../feedback/desk-reports.ts'
import { parseConsumerToken } from '../../feedback/enroll.ts'
import { readJson, readQuery } from '../bodies/body-tasks.ts'
import { admit } from '../limits.ts'
import { pageOf, sendMessage } from '../pages/render.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { deskAnswerSchema, deskPageSchema } from './contract/desk-schemas.ts'
import { otherMethods } from './cors.ts'
import { sendJson } from './submission.ts'

type Needs = Pick<Site, 'pool' | 'boss' | 'clock' | 'config' | 'limits' | 'publicUrl' | 'readBody'>

const BODY_BYTES_MAX = 20_000

/** The reports that an abuse desk received, and its answers: `/api/v1/desk`. */
export function deskApi(site: Needs): Router {
  const { pool, publicUrl } = site
  const router = Router()
  router.get('/reports', async (req, res) => {
    const { id } = await deskOf(req, res, site)
    const { open, before, limit } = readQuery(req, deskPageSchema)
    const filter = { before: keyIn(before), isOpen: open === 'true', limit: limit + 1 }
    const reports = await listDeskReports(pool, id, filter)
    const page = pageOf(reports, limit, ({ key }) => ({
      ...{ open, before: reportNumber(key), limit: String(limit) },
    }))
    const next = page.next === undefined ? null : `${publicUrl}/api/v1/desk/reports${page.next}`
    if (next !== null) res.setHeader('link', `<${next}>; rel="next"`)
    sendJson(res, 200, { reports: page.lines.map(reportJson), next })
  })
  router.all('/reports', otherMethods('GET'))
  router.get('/reports/:number', async (req, res) => {
    const { id } = await deskOf(req, res, site)
    const key = parseReportNumber(req.params.number)
    const found = key && (await findDeskReport(pool, id, key))
    const copy = found && (await findDeskCopy(pool, found.feedback))
    if (!copy) throw new ProblemError('not-found', 'No such report was sent to you.')
    await sendMessage(res, `report-${reportNumber(found.feedback)}.eml`, copy.raw, 'owner')
  })
  router.all('/reports/:number', otherMethods('GET'))
  router.post('/answers', async (req, res) => {
    const { id } = await deskOf(req, res, site)
    const body = await site.readBody(req, res, BODY_BYTES_MAX)
    const { reports, answer, said } = readJson(body, deskAnswerSchema)
    const given = { numbers: reports, answer, said, how: 'link' } as const
    sendJson(res, 200, { results: await answerDeskReports(site, id, given) })
  })
  router.all('/answers', otherMethods('POST'))
  return router
}

/**
 * Returns the desk whose token a request contains: the last part of the address of its page.
 *
 * @throws ProblemError 401
 */
async function deskOf(
  req: Request,
  res: Response,
  site: Pick<Needs, 'pool' | 'config' | 'limits'>,
): Promise<Consumer> {
  const [, token = ''] = /^bearer +(\S+)$/i.exec(req.headers.authorization ?? '') ?? []
  const id = parseConsumerToken(token, site.config.secret)
  await admit(req, res, site, 'read', { tokenHash: createHash('sha256').update(token).digest() })
  const consumer = id === undefined ? undefined : await findConsumer(site.pool, id)
  if (consumer) return consumer
  throw new ProblemError('sign-in-needed', 'Send the token of your page as a bearer token.', {
    'www-authenticate': 'Bearer realm="Signalpost"',
  })
}

/** @throws ProblemError 422 if the number is malformed */
function keyIn(before: string | undefined) {
  if (before === undefined) return undefined
  const key = parseReportNumber(before)
  if (!key) throw new ProblemError('bad-field', 'before is not the number of a report.')
  return key
}

function reportJson({ key, sentAt, isDigest, line, incidents, answers }: DeskReport) {
  return {
    number: reportNumber(key),
    sent_at: sentAt.toISOString(),
    type: isDigest ? 'digest' : (line?.kind ?? null),
    source_ip: line?.sourceIp === '' ? null : (line?.sourceIp ?? null),
    arrived_at: line?.arrivedAt?.toISOString() ?? null,
    subject: line?.subject ?? null,
    messages: incidents,
    answers,
  }
}
