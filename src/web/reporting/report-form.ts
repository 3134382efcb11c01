import { type Request, type Response, Router } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import type { ReportKind } from '../../db/reports.ts'
import type { Phrase } from '../../phrase.ts'
import {
  type AcceptedReport,
  UPLOAD_MESSAGES_MAX,
  uploadBytesMax,
} from '../../reports/accept-report.ts'
import { awaitUnconfirmed } from '../../reports/own-reports.ts'
import { goneSignal } from '../bodies/read-body.ts'
import { admitReports } from '../limits.ts'
import { type Form, type FormReader, hasPassword, readForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter, signIn } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError, type ProblemName } from '../problem.ts'
import type { Site } from '../site.ts'
import { parseRemarks, type Remarks } from '../submit.ts'
import type { UploadedFile, UploadLine } from './take-upload.ts'

/** The help pages that explain how to avoid a refusal. */
const helpPaths: Readonly<Partial<Record<ProblemName, string>>> = {
  'no-header': '/help/source/outlook-classic',
  'not-a-message': '/help',
}

/**
 * Sends the result of each message of an upload, with totals at the top, and the question about
 * each message that looks wanted. The status is a success if
 * at least one message was accepted.
 */
function sendResults(
  req: Request,
  res: Response,
  lines: readonly UploadLine[],
  unconfirmed: ReadonlyMap<string, readonly Phrase[]>,
): void {
  const results = lines.map((line) => {
    const result = resultOf(line)
    const { id = '' } = result
    const why = unconfirmed.get(id)
    return { ...result, unconfirmed: why && { id, why } }
  })
  const taken = results.filter(({ id }) => id !== undefined)
  const refused = lines.find(({ outcome }) => !outcome.taken)?.outcome
  const status = refused && !refused.taken ? refused.refusal.status : 422
  const countOf = (which: AcceptedReport['is']) => taken.filter(({ is }) => is === which).length
  sendPage(req, res, {
    view: 'pages/sent',
    title: visitOf(req).texts('sent.title'),
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
  is?: AcceptedReport['is']
  problem?: ProblemName
  helpPath?: string | undefined
}

function resultOf({ name, outcome, rebuiltFrom }: UploadLine): Result {
  const isRebuilt = rebuiltFrom !== undefined
  if (outcome.taken) return { name, isRebuilt, id: outcome.id, is: outcome.is }
  const { problem } = outcome.refusal
  return { name, isRebuilt, problem, helpPath: helpPaths[problem] }
}

type Needs = Pick<
  Site,
  'pool' | 'clock' | 'config' | 'credentials' | 'limits' | 'takeUpload' | 'outage'
> &
  FormReader

const pastedField = 'reporting[raw_email]'
const BLANK_START_MAX = 64_000
/** Maximum number of messages of a form whose analyses the answer waits for. */
const AWAITED_MAX = 5
/** Maximum size in bytes of text that is returned to the form after a refusal. */
const KEPT_BYTES_MAX = 200_000

/** The report form. Its first field and its response use the names that older clients expect. */
export function reportRoutes(site: Needs): Router {
  const router = Router()
  router.get('/report', (req, res) => {
    if (requireReporter(req, res)) sendForm(req, res, site, { status: 200 })
  })
  router.post('/report', async (req, res) => {
    const { messageBytesMax } = site.config
    const form = await readForm(req, res, site, {
      bytesMax: uploadBytesMax(messageBytesMax),
      partBytesMax: messageBytesMax,
    })
    // A password identifies the reporter, regardless of who is signed in.
    const reporter = hasPassword(form) ? await signIn(req, form, site) : visitOf(req).reporter
    if (reporter) return takeForm(req, res, site, form, reporter)
    const wrong = form.text('user[email_or_login]') !== undefined
    const problem = wrong ? 'wrong' : 'needed'
    sendForm(req, res, site, { status: 401, problem, needsSignIn: true, form })
  })
  return router
}

/** Accepts the messages of a form and sends the result of each. */
export async function takeForm(
  req: Request,
  res: Response,
  site: Needs,
  form: Form,
  reporter: Reporter,
): Promise<void> {
  const remarks = remarksOf(form)
  if (!remarks) return sendForm(req, res, site, { status: 422, problem: 'bad-field', form })
  const files = filesOf(form, visitOf(req).texts('sent.pasted'))
  if (files.length === 0) return sendForm(req, res, site, { status: 422, problem: 'nothing', form })
  const sender = { id: reporter.id, tokenHash: undefined }
  const admitMore = (messages: number) => admitReports(req, res, site, sender, messages)
  // Checked before files are opened, because a refused upload need not be opened.
  const entry = await admitMore(1)
  const gone = goneSignal(res)
  const upload = { reporter, channel: 'form', remarks, entry, admitMore, gone } as const
  const lines = await site.takeUpload(files, upload)
  const ids = lines.flatMap(({ outcome }) => (outcome.taken ? [outcome.id] : []))
  const { formWaitMs: waitMs } = site.config
  const few = ids.length <= AWAITED_MAX ? ids : []
  const unconfirmed = await site.outage.run(
    () => awaitUnconfirmed(site.pool, few, { waitMs, gone }),
    () => new Map<string, readonly Phrase[]>(),
  )
  sendResults(req, res, lines, unconfirmed)
}

type FormState = {
  status: number
  problem?: 'wrong' | 'needed' | 'nothing' | 'bad-field'
  needsSignIn?: boolean
  /** The refused input; all of it except files is returned to the form. */
  form?: Form
}

const kinds: readonly ReportKind[] = ['spam', 'phishing', 'not-spam']

function sendForm(req: Request, res: Response, site: Needs, state: FormState): void {
  const { texts } = visitOf(req)
  const { form } = state
  const sentences = {
    wrong: texts('signIn.wrong'),
    needed: texts('signIn.needed'),
    nothing: texts('report.nothing'),
    'bad-field': texts('problems.bad-field'),
  }
  const kind = kinds.find((one) => one === form?.text('kind')) ?? 'spam'
  const { messageBytesMax } = site.config
  sendPage(req, res, {
    view: 'pages/report-form',
    title: texts('report.title'),
    status: state.status,
    data: {
      kinds,
      kind,
      comment: form?.text('comment') ?? '',
      fileBytesMax: messageBytesMax,
      uploadBytesMax: uploadBytesMax(messageBytesMax),
      limits: {
        file: megabytes(messageBytesMax),
        upload: megabytes(uploadBytesMax(messageBytesMax)),
        messages: UPLOAD_MESSAGES_MAX,
      },
      problem: state.problem && sentences[state.problem],
      isTextAtFault: state.problem === 'nothing',
      losesFiles: (form?.files('messages').length ?? 0) > 0,
      needsSignIn: state.needsSignIn ?? false,
      text: form ? keptText(form) : '',
    },
  })
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1_000_000)
}

function filesOf(form: Form, pastedName: string): UploadedFile[] {
  const pasted = form.bytes(pastedField)
  // A message does not start with this much whitespace, so the rest need not be searched.
  const isPasted = pasted?.subarray(0, BLANK_START_MAX).some((byte) => byte > 0x20) ?? false
  const files = form.files('messages')
  return [
    ...(pasted && isPasted
      ? [{ name: pastedName, bytes: withoutBlankStart(pasted), isCut: form.isCut(pastedField) }]
      : []),
    ...files.map(({ fileName, content, isCut }) => {
      return { name: fileName ?? '', bytes: content, isCut }
    }),
  ]
}

/**
 * Removes leading blank lines, which users may paste accidentally; a header does not start with
 * one.
 */
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

function keptText(form: Form): string {
  const pasted = form.bytes(pastedField)
  return pasted && pasted.length <= KEPT_BYTES_MAX ? pasted.toString('utf8') : ''
}
