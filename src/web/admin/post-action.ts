import type { Request, Response } from 'express'
import { z } from 'zod'
import { type Action, type Outcome, runAction } from '../../actions.ts'
import { CallerError } from '../../errors.ts'
import { concealKeys } from '../../mail/conceal-keys.ts'
import { shownLine } from '../../mail/text.ts'
import type { Reporter } from '../../db/reporters.ts'
import { includesRole } from '../../roles.ts'
import { asksForCode, isProven, proofFault } from '../account/password.ts'
import { type Form, readForm } from '../pages/form.ts'
import { isSure, stepOf } from '../pages/sure.ts'
import { isPasswordFresh, notePassword } from '../pages/session.ts'
import { requireReporter } from '../pages/signed-in.ts'
import { tokenField, type Visit, visitOf } from '../pages/visit.ts'
import { searchParamsOf } from '../search-params.ts'
import type { Code } from '../../texts/messages.ts'
import { doneIn, refusalIn } from '../../texts/phrases.ts'
import { ProblemError } from '../problem.ts'
import type { Site } from '../site.ts'
import {
  declareRoles,
  lowestRole,
  type Permission,
  type Permissions,
  requireRole,
} from './require-role.ts'
import { sendAdminPage } from './send-admin-page.ts'
import { sureActions } from './sure-actions.ts'

/** A form that was refused: its problems, and its fields and selected lines to show them again. */
export type RefusedForm = {
  problems: readonly string[]
  given: Readonly<Record<string, string>>
  /** The ids of the lines that were refused, of a form that decides about many. */
  chosen: readonly string[]
}

type Given = Readonly<Record<string, unknown>>

export type ActionPage = {
  /**
   * The action of the form, or several by the value of the field `do`; the key `''` is for a form
   * without that field.
   */
  actions: Action | Readonly<Record<string, Action>>
  /**
   * The path to which the browser is redirected afterwards; the parameters `done` and `count` are
   * added to it. Keys in it are masked, because proxies log addresses.
   */
  back: (req: Request, outcome: Outcome, form: Form) => string
  /** The path of the page with the form; by default, that to which the form is sent. */
  from?: (req: Request) => string
  /** Shows the page again with a form that was refused; without it, an error page is shown. */
  show?: (req: Request, res: Response, refused: RefusedForm) => unknown
  /** Fields that the form has under another name, or that come from the path. */
  fields?: (req: Request, form: Form) => Given | Promise<Given>
  /**
   * The field that has several values, called `ids`, when a form decides about many lines. The
   * fields `called.ID` are the names of the lines, for the problems.
   */
  many?: string
  /** Labels of fields, which are put in front of the problems with the fields. */
  labels?: Readonly<Record<string, Code>>
  bytesMax?: number
}

const SHORT_BYTES_MAX = 64_000

/** Handles a form whose submission is an action of the signed-in person, if the role permits it. */
export function postAction(site: Site, page: ActionPage) {
  const permissions = permissionsOf(page.actions)
  const allow = requireRole(site, lowestRole(permissions))
  const handle = async (req: Request, res: Response): Promise<void> => {
    const bytesMax = page.bytesMax ?? SHORT_BYTES_MAX
    const form = await readForm(req, res, site, { bytesMax, partBytesMax: bytesMax })
    const person = requireReporter(req)
    const action = chosenAction(page.actions, form.text('do') ?? '')
    const given = { ...givenIn(action, form), ...(await page.fields?.(req, form)) }
    const asked = sureActions[action.name]
    if (asked && includesRole(person.role, action.role) && !isSure(form)) {
      const name = await asked.nameOf(given, site)
      const back = page.from?.(req) ?? visitOf(req).path
      const step = stepOf(req, form, { code: asked.code, name, back })
      return sendAdminPage(req, res, { view: 'admin/step', ...step })
    }
    const asksPassword = action.asksPassword && includesRole(person.role, action.role)
    if (asksPassword && !(await isConfirmed(req, res, { site, form, person }))) return
    const many = page.many !== undefined && form.text('selected') !== undefined ? page.many : ''
    const run = (fields: Given) => runAction(action, { ...given, ...fields }, site, person)
    const { outcome, chosen } =
      many === ''
        ? { outcome: await run({}), chosen: [] }
        : await runEach(form, (id) => run({ [many]: id }), visitOf(req))
    if ('proposed' in outcome) return res.redirect(303, '/admin/deletions?done=proposed')
    if (!('problems' in outcome))
      return res.redirect(303, concealKeys(withDone(page.back(req, outcome, form), outcome)))
    const { language, texts } = visitOf(req)
    const problems = outcome.problems.map(({ field, message: problem }) => {
      const label = page.labels?.[field ?? '']
      const said = refusalIn(language, problem).text
      return label ? texts('refused.at', { where: texts(label), problem: said }) : said
    })
    if (!page.show) throw new ProblemError('bad-field', outcome.problems[0]?.message ?? '')
    const typed = Object.fromEntries(form.fields().toReversed())
    await page.show(req, res, { problems, given: { ...typed, ...textsOf(given) }, chosen })
  }
  // The role is checked before the form is read, and again for the chosen action.
  return [allow, declareRoles(handle, permissions)]
}

const MANY_MAX = 100
const NAMES_SHOWN_MAX = 10
const NAME_CHARS_MAX = 80

/**
 * Runs an action for each selected line. The counts of its outcomes are added up. Each reason of a
 * refusal is said once, with the names of its lines; `chosen` are the ids of all refused lines.
 */
async function runEach(
  form: Form,
  run: (id: string) => ReturnType<typeof runAction>,
  { language, texts }: Pick<Visit, 'language' | 'texts'>,
): Promise<{ outcome: Outcome; chosen: readonly string[] }> {
  let [decided, count] = [0, 0]
  let last: Outcome = { problems: [{ message: texts('list.selectFirst') }] }
  const refused: { id: string; reason: string }[] = []
  for (const id of [...new Set(form.texts('ids'))].slice(0, MANY_MAX)) {
    const outcome = await run(id).catch((error: unknown) => {
      if (!(error instanceof CallerError)) throw error
      return { problems: [{ message: error.message }] }
    })
    if ('problems' in outcome) {
      refused.push(...outcome.problems.map(({ message: reason }) => ({ id, reason })))
    } else if ('done' in outcome) {
      decided++
      count += outcome.count ?? 0
      last = outcome
    } else if ('unchanged' in outcome) last = outcome
  }
  const chosen = [...new Set(refused.map(({ id }) => id))]
  if (chosen.length === 0) {
    if (!('done' in last)) return { outcome: last, chosen }
    return { outcome: { ...last, count: last.count === undefined ? decided : count }, chosen }
  }
  const nameOf = (id: string) => shownLine(form.text(`called.${id}`) ?? id, NAME_CHARS_MAX)
  const reasons = [...Map.groupBy(refused, ({ reason }) => reason)].map(([reason, lines]) => {
    const names = lines.slice(0, NAMES_SHOWN_MAX).map(({ id }) => nameOf(id))
    if (names.length < lines.length) names.push('…')
    const problem = refusalIn(language, reason).text
    return texts('list.refused', { n: lines.length, names: names.join(', '), problem })
  })
  const before = decided === 0 ? [] : [texts('list.decided', { n: decided })]
  return { outcome: { problems: [...before, ...reasons].map((message) => ({ message })) }, chosen }
}

const proofFields = ['now', 'now_code', tokenField]

/**
 * Whether the person behind a session entered the password a few minutes ago, or with this form, or
 * signed in at the provider a few minutes ago. Otherwise shows a page that asks for it and contains
 * the form, so that nothing is entered twice.
 */
async function isConfirmed(
  req: Request,
  res: Response,
  { site, form, person }: { site: Site; form: Form; person: Reporter },
): Promise<boolean> {
  const now = site.clock()
  if (isPasswordFresh(req, now)) return true
  const isGiven = form.bytes('now') !== undefined
  if (isGiven && (await isProven(req, form, person, site))) {
    await notePassword(req, now)
    return true
  }
  const { texts, atProvider } = visitOf(req)
  sendAdminPage(req, res, {
    view: 'admin/accounts/confirm',
    title: texts(atProvider ? 'organization.confirm.title' : 'confirmation.title'),
    status: 403,
    data: {
      fields: form.fields().filter(([name]) => !proofFields.includes(name)),
      target: req.originalUrl,
      asksForCode: await asksForCode(site, person),
      faults: isGiven ? { now: proofFault(req) } : {},
    },
  })
  return false
}

function permissionsOf(actions: ActionPage['actions']): Permissions {
  if ('run' in actions) return { '': permissionOf(actions as Action) }
  return Object.fromEntries(
    Object.entries(actions).map(([name, action]) => [name, permissionOf(action)]),
  )
}

function permissionOf(action: Action): Permission {
  return { role: action.role, action }
}

function chosenAction(actions: ActionPage['actions'], name: string): Action {
  if ('run' in actions) return actions as Action
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action) return action
  throw new ProblemError('bad-field', 'Unknown action. Reload the page and try again.')
}

/** The fields of an action in a form; an empty field counts as absent. */
function givenIn({ input }: Action, form: Form): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input.shape).map(([name, schema]) => {
      if (schema instanceof z.ZodArray) return [name, form.texts(name)]
      return [name, form.text(name) || undefined]
    }),
  )
}

function textsOf(given: Readonly<Record<string, unknown>>): Record<string, string> {
  const texts = Object.entries(given).map(([name, value]) => {
    return [name, value === undefined ? '' : String(value)] as const
  })
  return Object.fromEntries(texts)
}

function withDone(path: string, outcome: Exclude<Outcome, { problems: unknown }>): string {
  const url = new URL(path, 'http://site')
  url.searchParams.set('done', 'done' in outcome ? outcome.done : outcome.unchanged)
  const count = 'done' in outcome ? outcome.count : undefined
  if (count !== undefined) url.searchParams.set('count', String(count))
  return url.pathname + url.search
}

/** The message of the action that led to this page; undefined if there was none. */
export function doneMessage(req: Request, ...actions: readonly Action[]): string | undefined {
  const given = searchParamsOf(req)
  const [code, count] = [given.get('done') ?? '', given.get('count') ?? '']
  const shown = /^\d{1,9}$/.test(count) ? Number(count) : 0
  const { language } = visitOf(req)
  return actions.map((action) => doneIn(language, action, code, shown)).find(Boolean)
}
