import type { Response } from 'express'
import type { z } from 'zod'
import { listReportsByIds, type ReportState } from '../../db/reports.ts'
import type { Db } from '../../db/pool.ts'
import type { ProblemError } from '../problem.ts'
import { problemOf, problems, problemType, type Problem } from '../problem.ts'
import type { Outcome } from '../submit.ts'
import type { receiptSchema } from './contract/schemas/submission-schemas.ts'

/** The answer to one message that was taken in. */
export type ReceiptJson = z.infer<typeof receiptSchema>

/** The answer to one of several messages, with what tells which one. */
export type ResultJson<Mark> = Mark & (ReceiptJson | { problem: Problem })

/** An answer before it is sent. */
export type ApiAnswer = { status: number; body: object; location?: string | undefined }

type Site = { pool: Db; publicUrl: string }

/** Where a program finds a report. */
export function reportUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/api/v1/reports/${id}`
}

/** 202 for a new report and for a changed one, 200 for a repeat, a problem for what is none. */
export async function receiptAnswer(outcome: Outcome, site: Site): Promise<ApiAnswer> {
  if (!outcome.taken) throw outcome.refusal
  const [receipt] = await receiptsOf([outcome], site)
  if (!receipt) throw new Error('a receipt is missing')
  return { status: outcome.is === 'repeated' ? 200 : 202, body: receipt, location: receipt.url }
}

/**
 * One result a message, in their order: 202 when at least one is new or changed, 200 when all that
 * were taken are repeats. When none was, the problem they share, or `nothing-accepted`.
 */
export async function resultsAnswer(
  given: readonly { file: string | null; outcome: Outcome }[],
  site: Site,
): Promise<ApiAnswer> {
  const outcomes = given.map(({ outcome }) => outcome)
  const marked = given.map(({ file, outcome }) => ({ mark: { file }, outcome }))
  const results = await resultLines(marked, site)
  const taken = outcomes.filter((outcome) => outcome.taken)
  if (taken.length === 0) return nothingTaken(outcomes, results, site)
  return { status: taken.some(({ is }) => is !== 'repeated') ? 202 : 200, body: { results } }
}

/** What became of each message. */
export async function resultLines<Mark extends object>(
  given: readonly { mark: Mark; outcome: Outcome }[],
  site: Site,
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

/** The answer where no message was taken: the problem that all share, else that none was. */
export function nothingTaken(
  outcomes: readonly Outcome[],
  results: readonly object[],
  site: Site,
): ApiAnswer {
  const names = new Set(outcomes.map((outcome) => (outcome.taken ? '' : outcome.refusal.problem)))
  const [only] = names
  const name = names.size === 1 && only ? only : 'nothing-accepted'
  const problem = problemOf(site.publicUrl, name, 'Each entry of results says what was wrong.')
  return { status: problems[name].status, body: { ...problem, results } }
}

/** Sends it; what is no success is a problem. */
export function sendAnswer(res: Response, { status, body, location }: ApiAnswer): void {
  if (location !== undefined) res.setHeader('location', location)
  if (status < 400) return sendJson(res, status, body)
  res.statusCode = status
  res.setHeader('content-type', problemType)
  res.setHeader('cache-control', 'no-store')
  res.end(JSON.stringify(body))
}

/** Writes JSON without Express's detour over ETags. */
export function sendJson(res: Response, status: number, body: unknown): void {
  res.statusCode = status
  res.setHeader('content-type', 'application/json; charset=utf-8')
  res.setHeader('cache-control', 'no-store')
  res.end(JSON.stringify(body))
}

/** A repeat may have come far already; what is new or changed waits for its analysis. */
async function receiptsOf(
  outcomes: readonly Outcome[],
  site: Site,
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

function problemFrom(refusal: ProblemError, site: Site): Problem {
  return problemOf(site.publicUrl, refusal.problem, refusal.message)
}
