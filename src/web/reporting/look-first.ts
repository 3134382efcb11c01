import { type Request, type Response, Router } from 'express'
import { pack } from '../../db/rows.ts'
import { HOUR_MS } from '../../durations.ts'
import { fieldsOf, type ReadMessage } from '../../mail/message.ts'
import type { Choice, Refusal } from '../../reports/message-refusal.ts'
import { guessKind } from '../../reports/guess-kind.ts'
import { goneSignal } from '../bodies/read-body.ts'
import { type FormReader, readForm } from '../pages/form.ts'
import { sendPage } from '../pages/render.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { visitOf } from '../pages/visit.ts'
import type { ProblemName } from '../problem.ts'
import type { Site } from '../site.ts'
import { filesOf } from './given-files.ts'

/** A message as understood before it is reported. */
type Understood = {
  name: string
  subject: string | null
  author: string | null
  datedAt: Date | undefined
  /** Whether the lines that show its route are there: otherwise nobody can trace it. */
  isComplete: boolean
  /** The message, if it was understood. */
  raw?: Buffer
  problem?: ProblemName
  /** The line that is wrong, from one. */
  line?: number | undefined
  /** The messages between which the reporter will have to choose. */
  choices?: readonly Choice[] | undefined
}

type Needs = Pick<Site, 'bodies' | 'lookInto' | 'readText' | 'clock'> & FormReader

/** Maximum size in bytes of what is looked into; the script of the form sends no more. */
const LOOK_BYTES_MAX = 6_000_000
/** Maximum number of messages that are read and listed; the others are only counted. */
const LISTED_MAX = 10

/**
 * Shows what was understood of the files of a form, before they are sent: the script of the form
 * sends the beginning of each file. Stores nothing.
 */
export function lookFirstRoutes(site: Needs): Router {
  const router = Router()
  router.post('/report/look', async (req, res) => {
    const limits = { bytesMax: LOOK_BYTES_MAX, partBytesMax: LOOK_BYTES_MAX }
    const form = await readForm(req, res, site, limits)
    const reporter = requireReporter(req)
    const files = filesOf(form, visitOf(req).texts('sent.pasted'))
    const gone = goneSignal(res)
    const found = await site.lookInto(files, { reporterId: reporter.id, gone })
    const shown = await Promise.all(
      found.slice(0, LISTED_MAX).map(async (one) => {
        if ('refusal' in one) return refused(one.name, one.refusal)
        const by = { reporter: reporter.email }
        const fit = await site.bodies.read('message', one.raw, { ownerId: reporter.id, gone, by })
        if ('refusal' in fit) return refused(one.name, fit.refusal.reason, fit.refusal)
        return { ...read(one.name, fit.message), raw: fit.message.raw }
      }),
    )
    const kind = await kindOf(
      shown.find(({ raw }) => raw !== undefined),
      site,
    )
    sendLook(req, res, { shown, count: found.length, kind, oldest: oldestOf(site) })
  })
  return router
}

function sendLook(
  req: Request,
  res: Response,
  look: {
    shown: readonly Understood[]
    count: number
    kind: string | undefined
    /** Messages before it are not passed on: the instant, and its age in days. */
    oldest: { at: Date; days: number } | undefined
  },
): void {
  sendPage(req, res, {
    view: 'pages/look-first',
    title: visitOf(req).texts('look.title'),
    data: { ...look, more: Math.max(0, look.count - look.shown.length) },
  })
}

function oldestOf({ config, clock }: Pick<Needs, 'config' | 'clock'>) {
  const { messageAgeMax: hours } = config
  if (hours === 0) return undefined
  return { at: new Date(clock().getTime() - hours * HOUR_MS), days: Math.ceil(hours / 24) }
}

function refused(
  name: string,
  problem: ProblemName,
  { line, choices }: Pick<Refusal, 'line' | 'choices'> = {},
): Understood {
  const none = { subject: null, author: null, datedAt: undefined, isComplete: false }
  return { name, ...none, problem, line, choices }
}

function read(name: string, { header: { fields } }: ReadMessage): Understood {
  const { subject, from, date } = fieldsOf(fields)
  return {
    name,
    subject,
    author: from,
    datedAt: date === null ? undefined : new Date(date),
    isComplete: fields.some(({ key }) => key === 'received'),
  }
}

/** Guesses the kind of the first message that was understood. */
async function kindOf(shown: Understood | undefined, { readText }: Pick<Needs, 'readText'>) {
  if (!shown?.raw) return undefined
  const text = await readText(await pack(shown.raw)).catch(() => '')
  return guessKind(`${shown.subject ?? ''}\n${text}`)
}
