import { Router, type Request, type Response } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import type { ReportKind } from '../../db/reports.ts'
import { ProblemError } from '../problem.ts'
import { parseRemarks } from '../remarks.ts'
import type { Site } from '../site.ts'
import type { Outcome, Remarks } from '../submit.ts'
import { readForm, type Form, type FormReader } from './form.ts'
import { sendPage } from './render.ts'
import { requireReporter, signIn } from './signed-in.ts'
import { visitOf } from './visit.ts'

type Needs = Pick<Site, 'config' | 'credentials' | 'submit' | 'clock' | 'limits'> & FormReader

const FILES_MAX = 100
/** What is given back into the form when it could not be taken. */
const KEPT_BYTES_MAX = 200_000

/** The report form. Its first field has the name the old clients know, and so has its answer. */
export function reportRoutes(site: Needs): Router {
  const router = Router()
  router.get('/report', (req, res) => {
    if (requireReporter(req, res)) sendForm(req, res, site, { status: 200 })
  })
  router.post('/report', async (req, res) => {
    const { messageBytesMax } = site.config
    const form = await readForm(req, res, site, {
      bytesMax: messageBytesMax * 2,
      partBytesMax: messageBytesMax,
    })
    const reporter = (await signIn(req, form, site)) ?? visitOf(req).reporter
    if (reporter) return takeForm(req, res, site, form, reporter)
    const wrong = form.text('user[email_or_login]') !== undefined
    const problem = wrong ? 'wrong' : 'needed'
    sendForm(req, res, site, { status: 401, problem, needsSignIn: true, text: keptText(form) })
  })
  return router
}

type Given = { name: string | undefined; raw: Buffer; isCut: boolean }

/** Takes the messages of a form and shows what became of each. */
export async function takeForm(
  req: Request,
  res: Response,
  site: Needs,
  form: Form,
  reporter: Reporter,
): Promise<void> {
  const given = messagesOf(form)
  const remarks = remarksOf(form)
  if (!remarks)
    return sendForm(req, res, site, { status: 422, problem: 'bad-field', text: keptText(form) })
  if (given.length === 0) return sendForm(req, res, site, { status: 422, problem: 'nothing' })
  const outcomes = await Promise.all(
    given.map((message): Promise<Outcome> => {
      if (message.isCut) return Promise.resolve({ taken: false, refusal: tooBig() })
      return site.submit(reporter, 'form', message.raw, remarks)
    }),
  )
  const refused = outcomes.find((outcome) => !outcome.taken)
  const isTaken = outcomes.some(({ taken }) => taken)
  sendPage(req, res, {
    view: 'pages/sent',
    title: visitOf(req).words.sent.title,
    status: isTaken ? 200 : (refused?.refusal.status ?? 422),
    data: {
      isTaken,
      results: outcomes.map((outcome, index) => ({
        name: given[index]?.name,
        ...(outcome.taken
          ? { id: outcome.id, isRepeat: outcome.isRepeat }
          : { problem: outcome.refusal.problem }),
      })),
    },
  })
}

type FormState = {
  status: number
  problem?: 'wrong' | 'needed' | 'nothing' | 'bad-field'
  needsSignIn?: boolean
  text?: string | undefined
}

function sendForm(req: Request, res: Response, site: Needs, state: FormState): void {
  const { words } = visitOf(req)
  const kinds: readonly ReportKind[] = ['spam', 'phishing', 'not-spam']
  const sentences = {
    wrong: words.signIn.wrong,
    needed: words.signIn.needed,
    nothing: words.report.nothing,
    'bad-field': words.problems['bad-field'],
  }
  sendPage(req, res, {
    view: 'pages/report-form',
    title: words.report.title,
    status: state.status,
    data: {
      kinds,
      megabytes: Math.floor(site.config.messageBytesMax / 1_000_000),
      problem: state.problem && sentences[state.problem],
      needsSignIn: state.needsSignIn ?? false,
      text: state.text ?? '',
    },
  })
}

function messagesOf(form: Form): Given[] {
  const pasted = form.bytes('reporting[raw_email]')
  const isPasted = pasted?.some((byte) => byte > 0x20) ?? false
  const files = form.files('messages').slice(0, FILES_MAX)
  return [
    ...(pasted && isPasted
      ? [{ name: undefined, raw: withoutBlankStart(pasted), isCut: false }]
      : []),
    ...files.map(({ fileName, content, isCut }) => ({ name: fileName, raw: content, isCut })),
  ]
}

/** People paste blank lines along; a header does not begin with one. */
function withoutBlankStart(pasted: Buffer): Buffer {
  let start = 0
  while (pasted[start] === 0x0a || pasted[start] === 0x0d) start++
  return pasted.subarray(start)
}

function remarksOf(form: Form): Remarks | undefined {
  try {
    return parseRemarks({ kind: form.text('kind'), comment: form.text('comment') })
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

function keptText(form: Form): string | undefined {
  const pasted = form.bytes('reporting[raw_email]')
  return pasted && pasted.length <= KEPT_BYTES_MAX ? pasted.toString('utf8') : undefined
}

function tooBig(): ProblemError {
  return new ProblemError('too-big', 'The file is too big.')
}
