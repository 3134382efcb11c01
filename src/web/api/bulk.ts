import type { Request, Response } from 'express'
import { z } from 'zod'
import type { Reporter } from '../../db/reporters.ts'
import type { AcceptedReport } from '../../reports/accept-report.ts'
import { type ReportingCaller, reportingCaller } from './reporting-caller.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import type { SubmitOutcome } from '../submit.ts'
import { answerOnce, claimKey } from './cors.ts'
import {
  bodyBytesMax,
  givenMessage,
  nothingTaken,
  oneMessage,
  receiptAnswer,
  resultLines,
  sendAnswer,
} from './submission.ts'
import type { Line } from '../bodies/read-lines.ts'

/** Maximum number of messages per request. */
export const BULK_MAX = 1_000
/** Maximum size of a request in bytes: several times a thousand messages of the usual size. */
const ALL_BYTES_MAX = 500_000_000
const BATCH = { lines: 64, bytes: 8_000_000 }

/** The media types of JSON lines. */
const lineTypes = 'application/x-ndjson, application/ndjson, application/jsonl'

const receiptId = z.object({ id: z.string() })

type SubmittedBy = { reporter: Reporter; admission: 'admitted' | 'shadowed' }
type Given = { ref: string | null; outcome: SubmitOutcome }

/**
 * Accepts messages as JSON lines, each with its own remarks: `/api/v1/reports/bulk`. Each line is
 * independent. A client that sends everything again after a failure reports nothing twice.
 */
export async function takeBulk(req: Request, res: Response, site: Site): Promise<void> {
  const { reporter, admit } = await reportingCaller(req, res, site)
  const type = (req.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!lineTypes.split(', ').includes(type)) {
    throw new ProblemError('wrong-type', `Send one of these types: ${lineTypes}.`, {
      'accept-post': lineTypes,
    })
  }
  if (req.headers['idempotency-key'] !== undefined) {
    throw new ProblemError('bad-request', 'Give each message its own idempotency_key instead.')
  }
  // The rate limit is checked first, because the body of a refused request need not be read.
  const entry = await admit(1)
  const given: Given[] = []
  const lineBytesMax = bodyBytesMax('application/json', site.config.messageBytesMax)
  const limits = { lineBytesMax, allBytesMax: ALL_BYTES_MAX, batch: BATCH }
  await site.readLines(req, res, limits, async (lines) => {
    const some = lines.slice(0, BULK_MAX - given.length)
    const more = some.length - (given.length === 0 ? 1 : 0)
    const admission = more > 0 ? await admitMore(admit, more, res) : entry
    if (admission instanceof ProblemError) {
      given.push(...some.map(() => ({ ref: null, outcome: refused(admission) })))
      return 'enough'
    }
    const isShadowed = [entry, admission].includes('shadowed')
    const sender = { reporter, admission: isShadowed ? 'shadowed' : 'admitted' } as const
    const read = await Promise.all(some.map((one) => prepare(one, sender, site)))
    // Submitted in the order of the lines: of equal messages, the last line counts.
    given.push(...(await Promise.all(read.map((submit) => submit()))))
    if (some.length === lines.length) return 'more'
    given.push({ ref: null, outcome: refused(tooMany()) })
    return 'enough'
  })
  if (given.length === 0) throw new ProblemError('no-message', 'Send one JSON object per line.')
  await sendBulk(res, given, site)
}

/**
 * Admits further lines of a request. Above the rate limit, returns the problem instead of throwing
 * it, because earlier lines stay accepted.
 */
async function admitMore(
  admit: ReportingCaller['admit'],
  more: number,
  res: Response,
): Promise<'admitted' | 'shadowed' | ProblemError> {
  try {
    return await admit(more)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value)
    return error
  }
}

/** Reads a line and looks up its key; returns a function that submits it. */
async function prepare(
  line: Line,
  { reporter, admission }: SubmittedBy,
  site: Site,
): Promise<() => Promise<Given>> {
  let ref: string | null = null
  try {
    if (line === 'too-long') throw new ProblemError('too-big', 'This line is too long.')
    const item = await site.bodies.read('bulkItem', line, { ownerId: reporter.id })
    ref = item.given.ref ?? null
    const { raw, remarks } = givenMessage(item)
    const submit = () => site.submit(reporter, 'api', raw, remarks, admission)
    const key = item.given.idempotency_key
    if (key === undefined) return async () => ({ ref, outcome: await submit() })
    const claim = () => claimKey(site, key, reporter.id, oneMessage({ raw, remarks }))
    // While the database is away, the content of the message replaces the key.
    const claimed = await site.outage.run(claim, () => undefined)
    if (!claimed) return async () => ({ ref, outcome: await submit() })
    const known = claimed.answer && receiptId.parse(claimed.answer.body).id
    if (known !== undefined)
      return given({ ref, outcome: { taken: true, id: known, is: 'repeated' } })
    return async () => {
      const outcome = await submit()
      const keep = async () => {
        if (outcome.taken) await answerOnce(site, claimed, await receiptAnswer(outcome, site))
      }
      await site.outage.run(keep, () => undefined)
      return { ref, outcome }
    }
  } catch (error) {
    if (error instanceof ProblemError) return given({ ref, outcome: refused(error) })
    throw error
  }
}

function given(one: Given): () => Promise<Given> {
  return () => Promise.resolve(one)
}

async function sendBulk(res: Response, given: readonly Given[], site: Site): Promise<void> {
  const marked = given.map(({ ref, outcome }, index) => {
    const repeated = outcome.taken ? { repeated: outcome.is === 'repeated' } : {}
    return { mark: { index, ref, ...repeated }, outcome }
  })
  const results = await resultLines(marked, site)
  const outcomes = given.map(({ outcome }) => outcome)
  const taken = outcomes.filter((outcome) => outcome.taken)
  if (taken.length === 0) return sendAnswer(res, nothingTaken(outcomes, results, site))
  const countOf = (which: AcceptedReport['is']) => taken.filter(({ is }) => is === which).length
  const counts = {
    ...{ accepted: countOf('new'), changed: countOf('changed') },
    repeated: countOf('repeated'),
  }
  const refusedCount = outcomes.length - taken.length
  const body = { ...counts, refused: refusedCount, results }
  sendAnswer(res, { status: counts.repeated < taken.length ? 202 : 200, body })
}

function refused(refusal: ProblemError): SubmitOutcome {
  return { taken: false, refusal }
}

function tooMany(): ProblemError {
  const detail = `A request may contain at most ${BULK_MAX} messages. The rest was not read.`
  return new ProblemError('bad-field', detail)
}
