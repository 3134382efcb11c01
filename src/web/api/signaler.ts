import type { Request, Response } from 'express'
import { authenticateRequest } from '../authenticate.ts'
import { createMultipartParser, looksMultipart } from '../bodies/multipart.ts'
import { goneSignal } from '../bodies/read-body.ts'
import { admitReports } from '../limits.ts'
import type { Site } from '../site.ts'
import { parseRemarks } from '../submit.ts'
import type { Handlers } from './serve-operations.ts'
import { reportUrl, sendJson } from './submission.ts'

type Needs = Pick<
  Site,
  'config' | 'publicUrl' | 'credentials' | 'limits' | 'submit' | 'takeBody' | 'bodies'
>

const PARTS_MAX = 100
const isMultipart = /^\s*multipart\/form-data/i

/**
 * The protocol of the Signal Spam plug-ins: Basic credentials and a field `message` with the
 * message in base64. Returns 202 also for a repeat, because those clients accept no other success.
 */
export function signalerHandlers(site: Needs) {
  return {
    'report-by-plug-in': { whole: (req, res) => takeReport(req, res, site) },
    'try-plug-in': {
      async whole(req, res) {
        await authenticateRequest(req, site.credentials, ['basic'], 'report')
        res.status(200).set('allow', 'POST, OPTIONS').end()
      },
    },
  } satisfies Partial<Handlers>
}

async function takeReport(req: Request, res: Response, site: Needs): Promise<void> {
  const reporter = await authenticateRequest(req, site.credentials, ['basic'], 'report')
  const admission = await admitReports(req, res, site, reporter)
  const { messageBytesMax } = site.config
  // Base64 adds a third; line ends and percent-encoding add some more.
  const bytesMax = Math.ceil(messageBytesMax * 1.5) + 64_000
  const raw = await readMessage(req, res, site, { bytesMax, ownerId: reporter.id })
  const outcome = await site.submit(reporter, 'signaler', raw, parseRemarks({}), admission)
  if (!outcome.taken) throw outcome.refusal
  const url = reportUrl(site.publicUrl, outcome.id)
  const changed = outcome.is === 'changed'
  sendJson(res, 202, { id: outcome.id, status: 'received', url, changed })
}

/** Reads the field `message`; old clients send a wrong Content-Type, or none. */
async function readMessage(
  req: Request,
  res: Response,
  site: Needs,
  limits: { bytesMax: number; ownerId: string },
): Promise<Buffer> {
  const contentType = req.headers['content-type'] ?? ''
  const openParser = (type: string) =>
    createMultipartParser(type, { partBytesMax: limits.bytesMax, partsMax: PARTS_MAX })
  let parser = isMultipart.test(contentType) ? openParser(contentType) : undefined
  const chunks: Buffer[] = []
  await site.takeBody(req, res, limits, (chunk) => {
    if (!parser && chunks.length === 0 && looksMultipart(chunk)) {
      parser = openParser('multipart/form-data')
    }
    if (parser) return parser.write(chunk)
    chunks.push(chunk)
  })
  const owner = { ownerId: limits.ownerId, gone: goneSignal(res) }
  if (!parser) return (await site.bodies.read('signaler', Buffer.concat(chunks), owner)).raw
  const content = (await parser.end()).find(({ name }) => name === 'message')?.content
  return (await site.bodies.read('base64', content ?? Buffer.alloc(0), owner)).raw
}
