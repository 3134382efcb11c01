import type { Response } from 'express'
import type { ReportState } from '../../db/reports.ts'
import { listOwnedStates } from '../../db/shadowed-reports.ts'
import type { Db } from '../../db/pool.ts'
import type { ProblemError } from '../problem.ts'
import { problemOf, problems, problemType, type Problem } from '../problem.ts'
import type { Outcome } from '../submit.ts'

/** The answer to one message that was taken in. */
export type ReceiptJson = { id: string; status: ReportState; url: string }

/** The answer to one of several messages. */
export type ResultJson = { file: string | null } & (ReceiptJson | { problem: Problem })

type Site = { pool: Db; publicUrl: string }

/** Where a program finds a report. */
export function reportUrl(publicUrl: string, id: string): string {
  return `${publicUrl}/api/v1/reports/${id}`
}

/** 202 for a new report, 200 for a repeat, a problem for what is none. */
export async function sendReceipt(res: Response, outcome: Outcome, site: Site): Promise<void> {
  if (!outcome.taken) throw outcome.refusal
  const [receipt] = await receiptsOf([outcome], site)
  if (!receipt) throw new Error('a receipt is missing')
  res.setHeader('location', receipt.url)
  sendJson(res, outcome.isRepeat ? 200 : 202, receipt)
}

/**
 * One result a message, in their order: 202 when at least one is new, 200 when all that were
 * taken are repeats. When none was, the problem they share, or `nothing-accepted`.
 */
export async function sendResults(
  res: Response,
  results: readonly { file: string | null; outcome: Outcome }[],
  site: Site,
): Promise<void> {
  const outcomes = results.map(({ outcome }) => outcome)
  const receipts = await receiptsOf(outcomes, site)
  const lines = results.map(({ file, outcome }, index): ResultJson => {
    const receipt = receipts[index]
    if (receipt) return { file, ...receipt }
    if (outcome.taken) throw new Error('a receipt is missing')
    return { file, problem: problemFrom(outcome.refusal, site) }
  })
  const taken = outcomes.filter((outcome) => outcome.taken)
  if (taken.length === 0) return sendNothing(res, outcomes, lines, site)
  sendJson(res, taken.some(({ isRepeat }) => !isRepeat) ? 202 : 200, { results: lines })
}

/** Writes JSON without Express's detour over ETags. */
export function sendJson(res: Response, status: number, body: unknown): void {
  res.statusCode = status
  res.setHeader('content-type', 'application/json; charset=utf-8')
  res.setHeader('cache-control', 'no-store')
  res.end(JSON.stringify(body))
}

function sendNothing(
  res: Response,
  outcomes: readonly Outcome[],
  results: readonly ResultJson[],
  site: Site,
): void {
  const names = new Set(outcomes.map((outcome) => (outcome.taken ? '' : outcome.refusal.problem)))
  const [only] = names
  const name = names.size === 1 && only ? only : 'nothing-accepted'
  const problem = problemOf(site.publicUrl, name, 'Each entry of results says what was wrong.')
  res.setHeader('content-type', problemType)
  res.setHeader('cache-control', 'no-store')
  res.statusCode = problems[name].status
  res.end(JSON.stringify({ ...problem, results }))
}

/** A repeat may have come far already; what is new cannot have. */
async function receiptsOf(
  outcomes: readonly Outcome[],
  site: Site,
): Promise<(ReceiptJson | undefined)[]> {
  const repeats = outcomes.flatMap((outcome) =>
    outcome.taken && outcome.isRepeat ? [outcome.id] : [],
  )
  const known = repeats.length > 0 ? await listOwnedStates(site.pool, repeats) : []
  const stateOf = new Map(known.map(({ id, state }) => [id, state]))
  return outcomes.map((outcome) => {
    if (!outcome.taken) return undefined
    const { id } = outcome
    return { id, status: stateOf.get(id) ?? 'received', url: reportUrl(site.publicUrl, id) }
  })
}

function problemFrom(refusal: ProblemError, site: Site): Problem {
  return problemOf(site.publicUrl, refusal.problem, refusal.message)
}
