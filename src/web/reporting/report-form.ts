import { type Request, type Response, Router } from 'express'
import type { Reporter } from '../../db/reporters.ts'
import type { ReportKind } from '../../db/reports.ts'
import { UPLOAD_MESSAGES_MAX, uploadBytesMax } from '../../reports/accept-report.ts'
import { mailInAddressOf } from '../../reports/take-mailed.ts'
import { goneSignal } from '../bodies/read-body.ts'
import { admitReports } from '../limits.ts'
import { type Form, type FormReader, hasPassword, readForm, StaleForm } from '../pages/form.ts'
import { isFromHere } from '../pages/kept-form.ts'
import { qrCode, sendPage } from '../pages/render.ts'
import { signIn } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import { parseRemarks, type Remarks } from '../submit.ts'
import { filesOf, pastedField, sharedField } from './given-files.ts'
import { suggestedGuide } from './guides.ts'
import { sendResults } from './sent.ts'

type Needs = Pick<
  Site,
  'pool' | 'clock' | 'config' | 'credentials' | 'limits' | 'takeUpload' | 'outage' | 'front'
> &
  FormReader

/** Maximum size in bytes of a file that a telephone shares; it is returned in the form. */
const SHARED_BYTES_MAX = 1_000_000
/** Maximum size in bytes of text that is returned to the form after a refusal. */
const KEPT_BYTES_MAX = 200_000

/** The report form. Its first field and its response use the names that older clients expect. */
export function reportRoutes(site: Needs): Router {
  const router = Router()
  router.get('/report', async (req, res) => {
    // No one is signed in at a front. Others see the form before they sign in, with it.
    const needsSignIn = site.front !== undefined || visitOf(req).reporter === undefined
    await sendForm(req, res, site, { status: 200, needsSignIn })
  })
  router.post('/report', async (req, res) => {
    const { messageBytesMax } = site.config
    const form = await readForm(req, res, site, {
      bytesMax: uploadBytesMax(messageBytesMax),
      partBytesMax: messageBytesMax,
    }).catch((error: unknown) => {
      if (error instanceof StaleForm && isFromHere(req)) return error
      throw error
    })
    if (form instanceof StaleForm) {
      return sendForm(req, res, site, { status: 403, problem: 'stale', form: form.form })
    }
    // A password identifies the reporter, regardless of who is signed in.
    const reporter = hasPassword(form) ? await signIn(req, form, site) : visitOf(req).reporter
    if (reporter) return takeForm(req, res, site, form, reporter)
    const wrong = form.text('user[email_or_login]') !== undefined
    const problem = wrong ? 'wrong' : 'needed'
    await sendForm(req, res, site, { status: 401, problem, needsSignIn: true, form })
  })
  router.post('/report/share', async (req, res) => {
    const limits = { bytesMax: SHARED_BYTES_MAX * 2, partBytesMax: SHARED_BYTES_MAX }
    const form = await readForm(req, res, site, limits)
    const needsSignIn = visitOf(req).reporter === undefined
    await sendForm(req, res, site, { ...sharedState(form), needsSignIn })
  })
  return router
}

/** Fills the form with what a telephone shared: a file, or the text of a message. */
function sharedState(form: Form): FormState {
  const [file] = form.files('messages')
  if (file?.isCut) return { status: 413, problem: 'shared-too-large' }
  if (file && file.content.length > 0) {
    const shared = { name: file.fileName ?? '', content: file.content.toString('base64') }
    return { status: 200, shared }
  }
  const text = form.bytes('text')?.subarray(0, KEPT_BYTES_MAX).toString('utf8').trim() ?? ''
  return text === '' ? { status: 422, problem: 'shared-nothing' } : { status: 200, text }
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
  await sendResults(req, res, { site, reporter, lines, remarks, gone })
}

type Problem =
  | 'wrong'
  | 'needed'
  | 'stale'
  | 'nothing'
  | 'bad-field'
  | 'shared-too-large'
  | 'shared-nothing'

type FormState = {
  status: number
  problem?: Problem
  needsSignIn?: boolean
  /** The refused input; all of it except files is returned to the form. */
  form?: Form
  /** A shared file, in base64. */
  shared?: { name: string; content: string }
  text?: string
}

const kinds: readonly ReportKind[] = ['spam', 'phishing', 'not-spam']

async function sendForm(req: Request, res: Response, site: Needs, state: FormState): Promise<void> {
  const { texts, reporter } = visitOf(req)
  const { form } = state
  const sentences = {
    wrong: texts('signIn.wrong'),
    needed: texts('signIn.needed'),
    stale: texts('report.stale'),
    nothing: texts('report.nothing'),
    'bad-field': texts('problems.bad-field'),
    'shared-too-large': texts('report.sharedTooLarge'),
    'shared-nothing': texts('report.sharedNothing'),
  }
  const shared = state.shared ?? (form && keptShared(form))
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
      losesFiles: givenFiles(form).length > (shared ? 1 : 0),
      needsSignIn: state.needsSignIn ?? false,
      // At a front, the password counts for this request only.
      isOnce: site.front !== undefined,
      text: state.text ?? (form ? keptText(form) : ''),
      shared,
      guide: suggestedGuide(
        { email: reporter?.email ?? '', userAgent: req.headers['user-agent'] ?? '' },
        texts,
      ),
      mailIn: reporter && (await shownMailIn(site, reporter)),
      isForwarding: req.query['forward'] !== undefined,
      isPhone: /\b(?:Mobi|Android)/.test(req.headers['user-agent'] ?? ''),
    },
  })
}

/** The reporter's address for forwarded mail, and a QR code to save it on a phone. */
async function shownMailIn(site: Needs, { id }: Reporter) {
  const read = () => mailInAddressOf(site, id)
  const mailIn = await site.outage.run(read, () => undefined)
  return mailIn && { ...mailIn, picture: qrCode(`mailto:${mailIn.address}`) }
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / 1_000_000)
}

function remarksOf(form: Form): Remarks | undefined {
  try {
    return parseRemarks({
      kind: form.text('kind'),
      comment: form.text('comment'),
      report: form.text('report'),
    })
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

/** The chosen files; browsers send an empty one if none is chosen. */
function givenFiles(form: Form | undefined) {
  return form?.files('messages').filter(({ content }) => content.length > 0) ?? []
}

/**
 * A shared file, or a single chosen file of its size, stays in the form after a refusal, such as of
 * a password.
 */
function keptShared(form: Form): FormState['shared'] {
  const content = form.bytes(sharedField.content)?.toString('latin1') ?? ''
  if (content !== '') return { name: form.text(sharedField.name) ?? '', content }
  const [file, ...others] = givenFiles(form)
  if (!file || others.length > 0 || file.isCut || file.content.length > SHARED_BYTES_MAX) {
    return undefined
  }
  return { name: file.fileName ?? '', content: file.content.toString('base64') }
}

function keptText(form: Form): string {
  const pasted = form.bytes(pastedField)
  return pasted && pasted.length <= KEPT_BYTES_MAX ? pasted.toString('utf8') : ''
}
