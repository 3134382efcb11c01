import { Router, type Request, type Response } from 'express'
import { authenticate } from '../authenticate.ts'
import { parseBase64 } from '../base64.ts'
import { admitReports } from '../limits/admit-reports.ts'
import { looksMultipart, parseMultipart } from '../multipart.ts'
import { ProblemError } from '../problem.ts'
import { parseRemarks } from '../remarks.ts'
import type { Site } from '../site.ts'
import { percentDecoded } from '../urlencoded.ts'
import { otherMethods } from './methods.ts'
import { reportUrl, sendJson } from './results.ts'

type Needs = Pick<Site, 'config' | 'publicUrl' | 'credentials' | 'limits' | 'submit' | 'readBody'>

/**
 * The protocol of the Signal Spam plug-ins: Basic credentials and a field `message` that holds
 * the message in base64. 202 for a repeat too: those clients know no other success.
 */
export function signalerApi(site: Needs): Router {
  const router = Router()
  router.post('/', (req, res) => takeReport(req, res, site))
  router.options('/', async (req, res) => {
    await authenticate(req, site.credentials, ['basic'], 'report')
    res.status(200).set('allow', 'POST, OPTIONS').end()
  })
  router.all('/', otherMethods('POST'))
  return router
}

async function takeReport(req: Request, res: Response, site: Needs): Promise<void> {
  const reporter = await authenticate(req, site.credentials, ['basic'], 'report')
  const admission = await admitReports(req, res, site, reporter)
  const { messageBytesMax } = site.config
  // Base64 makes a third more, its line ends and percent-encoding a little beyond that.
  const bytesMax = Math.ceil(messageBytesMax * 1.5) + 64_000
  const body = await site.readBody(req, res, bytesMax, reporter.id)
  const text = await messageField(body, req.headers['content-type'] ?? '')
  if (text === undefined || text === '') {
    throw new ProblemError('no-message', 'Send the message in base64 in the field "message".')
  }
  const raw = parseBase64(text)
  if (!raw) {
    throw new ProblemError('bad-base64', 'The field "message" must hold the message in base64.')
  }
  const outcome = await site.submit(reporter, 'signaler', raw, parseRemarks({}), admission)
  if (!outcome.taken) throw outcome.refusal
  const url = reportUrl(site.publicUrl, outcome.id)
  const changed = outcome.is === 'changed'
  sendJson(res, 202, { id: outcome.id, status: 'received', url, changed })
}

/** The text of the field `message`; old clients send the wrong Content-Type, or none. */
async function messageField(body: Buffer, contentType: string): Promise<string | undefined> {
  const isForm = /^\s*multipart\/form-data/i.test(contentType)
  if (!isForm && !looksMultipart(body)) return urlencodedField(body, 'message')
  const type = isForm ? contentType : 'multipart/form-data'
  const parts = await parseMultipart(body, type, { partBytesMax: body.length, partsMax: 100 })
  return parts
    .find(({ name }) => name === 'message')
    ?.content.toString('latin1')
    .trim()
}

/**
 * A base64 field of an urlencoded body, from clients that percent-encode and from those that do
 * not: a plus sign stands for itself, what some layer made a space was one, and `=` may stand
 * bare. Base64 itself has neither spaces nor `&`.
 */
export function urlencodedField(body: Buffer, name: string): string | undefined {
  const prefix = `${name}=`
  const inside = body.indexOf(`&${prefix}`)
  if (inside < 0 && body.indexOf(prefix) !== 0) return undefined
  const start = body.indexOf(prefix) === 0 ? prefix.length : inside + 1 + prefix.length
  const end = body.indexOf('&', start)
  const value = percentDecoded(body.subarray(start, end < 0 ? body.length : end)).toString('latin1')
  return value
    .trim()
    .replaceAll(/[\r\n\t]+ */g, '')
    .replaceAll(' ', '+')
}
