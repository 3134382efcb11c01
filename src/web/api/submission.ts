import type { Request, Response } from 'express'
import type { z } from 'zod'
import { type Action, type Operator, runAction } from '../../actions.ts'
import type { Db } from '../../db/pool.ts'
import { listReportsByIds, type ReportState } from '../../db/reports.ts'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { refusalsIn } from '../../texts/phrases.ts'
import type { JsonMessage } from '../bodies/body-tasks.ts'
import { createMultipartParser, type FormPart } from '../bodies/multipart.ts'
import { goneSignal } from '../bodies/read-body.ts'
import type { Reader } from '../pages/render.ts'
import { type Problem, ProblemError, problemOf, problems, problemType } from '../problem.ts'
import type { Site } from '../site.ts'
import { type SubmitOutcome, parseRemarks, type Remarks } from '../submit.ts'
import type { receiptSchema, submissionSchema } from './contract/report-schemas.ts'

type ReceiptJson = z.infer<typeof receiptSchema>

/** The result of one of several messages, with a mark that identifies it. */
export type ResultJson<Mark> = Mark & (ReceiptJson | { problem: Problem })

/** A response that is not sent yet. */
export type ApiAnswer = { status: number; body: object; location?: string | undefined }

type ResultSite = { pool: Db; publicUrl: string }

export function reportUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/api/v1/reports/${id}`
}

/**
 * Returns a response with status 202 for a new or changed report, or 200 for a repeat.
 *
 * @throws ProblemError if the message was refused
 */
export async function receiptAnswer(outcome: SubmitOutcome, site: ResultSite): Promise<ApiAnswer> {
  if (!outcome.taken) throw outcome.refusal
  const [receipt] = await receiptsOf([outcome], site)
  if (!receipt) throw new Error('a receipt is missing')
  return { status: outcome.is === 'repeated' ? 200 : 202, body: receipt, location: receipt.url }
}

/**
 * Returns a response with one result per message, in order. The status is 202 if at least one
 * report is new or changed, and 200 if all accepted ones are repeats. If none was accepted, returns
 * their common problem, or `nothing-accepted`.
 */
export async function resultsAnswer(
  given: readonly { file: string | null; outcome: SubmitOutcome }[],
  site: ResultSite,
): Promise<ApiAnswer> {
  const outcomes = given.map(({ outcome }) => outcome)
  const marked = given.map(({ file, outcome }) => ({ mark: { file }, outcome }))
  const results = await resultLines(marked, site)
  const taken = outcomes.filter((outcome) => outcome.taken)
  if (taken.length === 0) return nothingTaken(outcomes, results, site)
  return {
    status: taken.some(({ is }) => is !== 'repeated') ? 202 : 200,
    body: { found: results.length, results },
  }
}

/** Returns one result per message, in order, each with its mark. */
export async function resultLines<Mark extends object>(
  given: readonly { mark: Mark; outcome: SubmitOutcome }[],
  site: ResultSite,
): Promise<ResultJson<Mark>[]> {
  const receipts = await receiptsOf(
    given.map(({ outcome }) => outcome),
    site,
  )
  return given.map(({ mark, outcome }, index): ResultJson<Mark> => {
    const receipt = receipts[index]
    if (receipt) return { ...mark, ...receipt }
    if (outcome.taken) throw new Error('a receipt is missing')
    return { ...mark, problem: problemFrom(outcome.refusal, site) }
  })
}

/**
 * The response if no message was accepted: the common problem of all, otherwise `nothing-accepted`.
 */
export function nothingTaken(
  outcomes: readonly SubmitOutcome[],
  results: readonly object[],
  site: ResultSite,
): ApiAnswer {
  const names = new Set(outcomes.map((outcome) => (outcome.taken ? '' : outcome.refusal.problem)))
  const [only] = names
  const name = names.size === 1 && only ? only : 'nothing-accepted'
  const problem = problemOf(site.publicUrl, name, 'Each entry of results says what is wrong.')
  return { status: problems[name].status, body: { ...problem, results } }
}

/** Sends a response; errors are sent as problems. */
export function sendAnswer(res: Response, { status, body, location }: ApiAnswer): void {
  if (location !== undefined) res.setHeader('location', location)
  if (status < 400) return sendJson(res, status, body, 'owner')
  res.statusCode = status
  res.setHeader('content-type', problemType)
  res.setHeader('cache-control', 'no-store')
  res.end(JSON.stringify(body))
}

/**
 * Writes JSON directly, because Express would also compute an ETag. Masks keys, unless the reader
 * owns all that is sent.
 */
export function sendJson(
  res: Response,
  status: number,
  body: unknown,
  reader: Reader = 'other',
): void {
  res.statusCode = status
  res.setHeader('content-type', 'application/json; charset=utf-8')
  res.setHeader('cache-control', 'no-store')
  const text = JSON.stringify(body)
  res.end(reader === 'owner' ? text : concealKeys(text))
}

/** Names the next page of a list in the header `Link`; returns null on the last page. */
export function linkToNext(res: Response, next: string | undefined): string | null {
  if (next === undefined) return null
  res.setHeader('link', `<${next}>; rel="next"`)
  return next
}

/**
 * Runs an action of an operator.
 *
 * @throws ProblemError if it is refused
 */
export async function runForCaller(
  action: Action,
  given: Readonly<Record<string, unknown>>,
  site: Site,
  caller: Operator,
) {
  const outcome = await runAction(action, given, site, caller)
  if (!('problems' in outcome)) return outcome
  throw refusedProblem(outcome.problems.map(({ message }) => message))
}

/** The problem of refused input, of which each sentence may be a `refusal`. */
export function refusedProblem(refusals: readonly string[]): ProblemError {
  return new ProblemError('bad-field', refusalsIn('en', refusals).join(' '))
}

/**
 * Returns the receipts of accepted messages. A repeated report may already be analyzed; a new or
 * changed one waits for its analysis.
 */
async function receiptsOf(
  outcomes: readonly SubmitOutcome[],
  site: ResultSite,
): Promise<(ReceiptJson | undefined)[]> {
  const repeats = outcomes.flatMap((outcome) =>
    outcome.taken && outcome.is === 'repeated' ? [outcome.id] : [],
  )
  const known = repeats.length > 0 ? await listReportsByIds(site.pool, repeats) : []
  const stateOf = new Map<string, ReportState>(known.map(({ id, state }) => [id, state]))
  return outcomes.map((outcome) => {
    if (!outcome.taken) return undefined
    const { id, is } = outcome
    const url = reportUrl(site.publicUrl, id)
    return { id, status: stateOf.get(id) ?? 'received', url, changed: is === 'changed' }
  })
}

export function problemFrom(refusal: ProblemError, site: Pick<ResultSite, 'publicUrl'>): Problem {
  return problemOf(site.publicUrl, refusal.problem, refusal.message, refusal.about)
}

/** A message or a file of a request; `isCut` if it was truncated at the size limit. */
type GivenFile = { file: string | null; raw: Buffer; isCut: boolean }

/** The content of a request to the report API. */
export type ApiSubmission = {
  files: readonly GivenFile[]
  remarks: Remarks
  /** `opened`: files may contain several messages; `messages`: each file is one message. */
  are: 'messages' | 'opened'
}

/** The media types of files that contain messages, with a name for files without one. */
const fileTypes: Readonly<Record<string, string>> = {
  'application/zip': 'messages.zip',
  'application/mbox': 'messages.mbox',
  'application/vnd.ms-outlook': 'message.msg',
}

/** The media types that the report API accepts. */
export const takenTypes = [
  ...['message/rfc822', 'message/global', 'application/json', 'multipart/form-data'],
  ...Object.keys(fileTypes),
].join(', ')

export const FILES_MAX = 100
const REMARK_BYTES_MAX = 16_000
/** The maximum size in bytes of a body with the given media type, including its encoding. */
export function bodyBytesMax(type: string, messageBytesMax: number): number {
  if (type === 'application/json') return Math.ceil(messageBytesMax * 1.4) + 64_000
  if (type === 'multipart/form-data') return messageBytesMax * 2
  return messageBytesMax
}

type BodyReader = Pick<Site, 'readBody' | 'takeBody' | 'bodies' | 'config'>

/**
 * Reads the body of a report by its type. For a raw message, the query contains the remarks,
 * because the body has no place for them.
 */
export async function readSubmission(
  req: Request,
  res: Response,
  site: BodyReader,
  { type, ownerId }: { type: string; ownerId: string },
): Promise<ApiSubmission> {
  const { messageBytesMax } = site.config
  const bytesMax = bodyBytesMax(type, messageBytesMax)
  if (type === 'multipart/form-data') {
    const limits = { partBytesMax: messageBytesMax, partsMax: FILES_MAX + 10 }
    const parser = createMultipartParser(req.headers['content-type'] ?? '', limits)
    await site.takeBody(req, res, { bytesMax, ownerId }, parser.write)
    return parseForm(await parser.end())
  }
  const body = await site.readBody(req, res, bytesMax, ownerId)
  if (type === 'application/json') {
    const owner = { ownerId, gone: goneSignal(res) }
    return oneMessage(givenMessage(await site.bodies.read('submission', body, owner)))
  }
  const at = req.url.indexOf('?')
  const remarks = queryRemarks(at < 0 ? '' : req.url.slice(at + 1))
  const file = fileTypes[type]
  if (file === undefined) return oneMessage({ raw: body, remarks })
  return { files: [{ file, raw: body, isCut: false }], remarks, are: 'opened' }
}

export function oneMessage({ raw, remarks }: { raw: Buffer; remarks: Remarks }): ApiSubmission {
  return { files: [{ file: null, raw, isCut: false }], remarks, are: 'messages' }
}

function queryRemarks(query: string): Remarks {
  if (query === '') return parseRemarks({})
  const given = new URLSearchParams(query)
  return parseRemarks({
    kind: given.get('kind') ?? undefined,
    comment: given.get('comment') ?? undefined,
    report: given.get('report') ?? undefined,
    receivedVia: given.getAll('received_via'),
  })
}

/**
 * Returns the message and remarks of a JSON body.
 *
 * @throws ProblemError 400 if the message is not base64, 422 if a remark is invalid
 */
export function givenMessage({ raw, given }: JsonMessage<typeof submissionSchema>): {
  raw: Buffer
  remarks: Remarks
} {
  if (!raw) {
    throw new ProblemError('bad-base64', 'message_base64 must be the message in standard base64.')
  }
  const { kind, comment, received_via, report } = given
  const receivedVia = typeof received_via === 'string' ? [received_via] : received_via
  return { raw, remarks: parseRemarks({ kind, comment, receivedVia, report }) }
}

function parseForm(parts: readonly FormPart[]): ApiSubmission {
  const texts = (name: string) =>
    parts.filter((part) => part.name === name && !isFile(part)).map(textOf)
  const files = parts.filter(isFile).map(({ fileName, name, content, isCut }) => {
    return { file: fileName || name || 'message', raw: content, isCut }
  })
  if (files.length === 0) {
    throw new ProblemError('no-message', 'Attach each message as a file of the form.')
  }
  if (files.length > FILES_MAX) {
    throw new ProblemError('bad-field', `A form may hold at most ${FILES_MAX} files.`)
  }
  return {
    files,
    are: 'opened',
    remarks: parseRemarks({
      kind: texts('kind')[0],
      comment: texts('comment')[0],
      report: texts('report')[0],
      receivedVia: [...texts('received_via'), ...texts('received_via[]')],
    }),
  }
}

const remarkNames = new Set(['kind', 'comment', 'report', 'received_via', 'received_via[]'])

/** Whether a part is a file. Some clients name the file `report`, which is a field, too. */
function isFile({ name, fileName, content }: FormPart): boolean {
  if (remarkNames.has(name)) return name === 'report' && fileName !== ''
  return fileName !== '' || content.length > 0
}

function textOf({ name, content }: FormPart): string {
  if (content.length > REMARK_BYTES_MAX) throw new ProblemError('bad-field', `${name} is too long.`)
  return content.toString('utf8')
}
