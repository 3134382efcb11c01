import type { Request, Response } from 'express'
import type { Became } from '../../intake/keep-reports.ts'
import { sendPage } from '../pages/render.ts'
import { visitOf } from '../pages/visit.ts'
import type { ProblemName } from '../problem.ts'
import type { UploadLine } from './take-upload.ts'

/** The pages of help that say how to avoid a refusal. */
const helpPaths: Readonly<Partial<Record<ProblemName, string>>> = {
  'no-header': '/help/source/outlook-classic',
  'not-a-message': '/help',
}

/**
 * Shows what became of each message of an upload, how many of them on top. It is a success when
 * one of them was taken.
 */
export function sendResults(req: Request, res: Response, lines: readonly UploadLine[]): void {
  const results = lines.map(resultOf)
  const taken = results.filter(({ id }) => id !== undefined)
  const refused = lines.find(({ outcome }) => !outcome.taken)?.outcome
  const status = refused && !refused.taken ? refused.refusal.status : 422
  const countOf = (which: Became['is']) => taken.filter(({ is }) => is === which).length
  sendPage(req, res, {
    view: 'pages/sent',
    title: visitOf(req).words.sent.title,
    status: taken.length > 0 ? 200 : status,
    data: {
      isTaken: taken.length > 0,
      counts: {
        recorded: countOf('new'),
        changed: countOf('changed'),
        repeated: countOf('repeated'),
        refused: results.length - taken.length,
      },
      results,
    },
  })
}

type Result = {
  name: string
  isRebuilt: boolean
  id?: string
  is?: Became['is']
  problem?: ProblemName
  helpPath?: string | undefined
}

function resultOf({ name, outcome, rebuiltFrom }: UploadLine): Result {
  const isRebuilt = rebuiltFrom !== undefined
  if (outcome.taken) return { name, isRebuilt, id: outcome.id, is: outcome.is }
  const { problem } = outcome.refusal
  return { name, isRebuilt, problem, helpPath: helpPaths[problem] }
}
