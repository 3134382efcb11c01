import { z } from 'zod'
import { type DoneCode, refusal, refusalOfIssue } from './phrase.ts'
import type { App } from './app.ts'
import { type AuditAction, insertAudit, type OperatorAction } from './db/audit-log.ts'
import { type Db, inTransaction, type Pool } from './db/pool.ts'
import { insertProposedDeletion } from './db/proposed-deletions.ts'
import { DAY_MS } from './durations.ts'
import { CallerError } from './errors.ts'
import { storableText } from './mail/text.ts'
import { includesRole, type Role } from './roles.ts'
import { type Clock, uuidv7 } from './world.ts'

declare module 'zod' {
  interface GlobalMeta {
    /** The field is a positional argument of the command; this is its name in the usage. */
    argument?: string
    /** The name of the command's option, if it differs from that of the field. */
    option?: string
    /** The placeholder for the value in the usage of the command: `N`, `A,B`. */
    value?: string
    /**
     * The argument is the path of a file of at most this size, or `-` for standard input. The field
     * gets the file's content.
     */
    fileBytesMax?: number
  }
}

/**
 * The context of an action: the time, the operator, the parts of the process, and the number of
 * things that its previous transactions changed (see `isPartial`).
 */
export type ActionContext<Part extends keyof App = never> = OperatorAction &
  Pick<App, Part> & { count: number }

/**
 * An error in the input: a sentence that says what to do, and the field if the error is in a single
 * one.
 */
export type InputProblem = { message: string; field?: string | undefined }

/** An audit entry under a different name than its action. */
export type AuditDetail = { action: AuditAction; detail: string }

/** The result of an action. `done` and `unchanged` are codes of its sentences in `done.json`. */
export type Outcome<Code extends string = string> =
  | {
      done: Code
      /** The detail of each audit entry. Without it, no entry is written. */
      audit?: string | readonly (string | AuditDetail)[]
      count?: number
      /** The output of the command; it replaces the message. */
      text?: string
      /** The id of the created row, for the page that shows it. */
      id?: string
      /** Work that cannot be part of the transaction; runs after the commit. */
      afterwards?: () => Promise<unknown>
      /**
       * Whether more remains to be done: then the action runs again in another transaction. The
       * counts are added up.
       */
      isPartial?: boolean
    }
  | { unchanged: Code }
  | { problems: readonly InputProblem[] }

/** An action that a second person must confirm; the id of the proposal. */
type Proposed = { proposed: string }

/** An operation of an operator: its command, form and audit entry follow from this declaration. */
export type Action<
  Input extends z.ZodObject = z.ZodObject,
  Part extends keyof App = keyof App,
  Name extends string = string,
> = {
  /** The words of the command: `limits set`. */
  name: Name
  /** A summary for the help: `change a rate limit`. */
  summary: string
  audit: AuditAction
  /** The lowest role that may run the action. The command line counts as administrator. */
  role: Role
  /** Whether pages ask for the password again, because the action is dangerous. */
  asksPassword?: true
  /**
   * Whether an input deletes messages or reports. If the site requires four eyes, such an action is
   * proposed, and runs when a second person confirms it (`people/confirm-deletion.ts`).
   */
  deletesEvidence?(input: z.output<Input>): boolean
  /** Whether it is proposed like a deletion, although it deletes nothing. */
  needsSecond?: true
  input: Input
  /** Runs in a transaction, which is rolled back if the outcome contains problems. */
  run(
    tx: Db,
    input: z.output<Input>,
    context: ActionContext<Part>,
  ): Promise<Outcome<DoneCode<Name>>>
}

/** Declares an action; the types follow from its parts. */
export function defineAction<
  Input extends z.ZodObject,
  Part extends keyof App = never,
  Name extends string = string,
>(action: Action<Input, Part, Name>): Action<Input, Part, Name> {
  return action
}

export type Operator = { id: string; role: Role | null }

type ActionApp = { pool: Pool; clock: Clock; config: Pick<App['config'], 'needsFourEyes'> }

/**
 * Checks the input, and runs an action with its audit entries in one transaction. `given` contains
 * texts, as from a command line or a form. `by` is null at the command line.
 *
 * @throws CallerError if the person's role does not permit the action
 */
export async function runAction<Input extends z.ZodObject, Part extends keyof App>(
  action: Action<Input, Part>,
  given: Readonly<Record<string, unknown>>,
  app: ActionApp & Pick<App, Part>,
  by: Operator | null,
): Promise<Outcome | Proposed> {
  requireRole(action, by)
  const input = readInput(action.input, given)
  if ('problems' in input) return input
  const isShared = action.needsSecond === true || action.deletesEvidence?.(input.data) === true
  if (app.config.needsFourEyes && isShared) {
    return propose(action, { given, input: input.data }, app, by)
  }
  for (let count = 0; ;) {
    const outcome = await inTransaction(app.pool, async (tx) => {
      const act = { at: app.clock(), reporterId: by?.id ?? null }
      const step = await action.run(tx, input.data, { ...app, ...act, count })
      if ('problems' in step) throw new Refusal(step.problems)
      for (const entry of auditDetails(action, step)) await insertAudit(tx, { ...act, ...entry })
      return step
    }).catch((error: unknown) => {
      if (error instanceof Refusal) return { problems: error.problems }
      throw error
    })
    if (!('done' in outcome)) return outcome
    await outcome.afterwards?.()
    count += outcome.count ?? 0
    if (outcome.count === undefined) return outcome
    if (outcome.isPartial !== true) return { ...outcome, count }
  }
}

export function auditDetails({ audit }: Pick<Action, 'audit'>, outcome: Outcome): AuditDetail[] {
  const details = 'done' in outcome ? [outcome.audit ?? []].flat() : []
  return details.map((detail) => (typeof detail === 'string' ? { action: audit, detail } : detail))
}

const PROPOSED_MS = 3 * DAY_MS

/**
 * Stores an action that a second person must confirm. The action is tried and undone first, so that
 * invalid input is refused now, and the proposal says what would happen.
 */
async function propose<Input extends z.ZodObject, Part extends keyof App>(
  action: Action<Input, Part>,
  { given, input }: { given: Readonly<Record<string, unknown>>; input: z.output<Input> },
  app: ActionApp & Pick<App, Part>,
  by: Operator | null,
): Promise<Outcome | Proposed> {
  const act = { at: app.clock(), reporterId: by?.id ?? null }
  const expiresAt = new Date(act.at.getTime() + PROPOSED_MS)
  return inTransaction(app.pool, async (tx) => {
    await tx.query('savepoint trial')
    const step = await action.run(tx, input, { ...app, ...act, count: 0 })
    await tx.query('rollback to savepoint trial')
    if (!('done' in step)) return step
    const id = uuidv7(act.at)
    const fields = Object.keys(action.input.shape).map((name) => [name, given[name]])
    const detail = auditDetails(action, step).map((entry) => entry.detail)
    const proposal = {
      action: action.name,
      given: Object.fromEntries(fields),
      detail: detail.join('; '),
    }
    await insertProposedDeletion(tx, { id, ...act, ...proposal, expiresAt })
    const name = action.needsSecond ? 'propose action' : 'propose deletion'
    const entry = { action: name, detail: `${id}, ${action.name}: ${proposal.detail}` } as const
    await insertAudit(tx, { ...act, ...entry })
    return { proposed: id }
  })
}

function requireRole({ role }: Pick<Action, 'role'>, by: Operator | null): void {
  if (by === null || includesRole(by.role, role)) return
  throw new CallerError(403, refusal('refused.role', { role }))
}

/** Rolls back the transaction of an action that was refused. */
class Refusal extends Error {
  readonly problems: readonly InputProblem[]

  constructor(problems: readonly InputProblem[]) {
    super('The action was refused.')
    this.problems = problems
  }
}

/** Validates an input. Returns one problem per invalid field. */
export function readInput<Input extends z.ZodObject>(
  schema: Input,
  given: Readonly<Record<string, unknown>>,
): { data: z.output<Input> } | { problems: readonly InputProblem[] } {
  const read = schema.safeParse(given, { error: refusalOfIssue })
  if (read.success) return { data: read.data }
  const problems = read.error.issues.map(({ path: [field], message }): InputProblem => {
    return { message, field: field === undefined ? undefined : String(field) }
  })
  return { problems }
}

/** Whether a text has the format of an id (a UUID). */
export function isId(text: string): boolean {
  return z.uuid().safeParse(text).success
}

/**
 * The schema of a required line of text, trimmed and cut at `charsMax`; `missing` is the error for
 * an empty line.
 */
export function textField(charsMax: number, missing: string) {
  return z
    .string({ error: missing })
    .transform((text) => storableText(text.trim(), charsMax))
    .pipe(z.string().min(1, missing))
}

/** The schema of a whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number) {
  const error = refusal('refused.number', { min, max })
  return z.coerce
    .string({ error })
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number().min(min, error).max(max, error))
}

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, { error: refusal('refused.oneOf', { words: words.join(', ') }) })
}

const DAYS_MAX = 3_650

/** A number of days; without it, the effect of the action has no end. */
export const daysField = wholeNumber(1, DAYS_MAX).optional().meta({ value: 'N' })

/** The instant that is this many days after the action; null without a number of days. */
export function endOf(days: number | undefined, { at }: Pick<OperatorAction, 'at'>): Date | null {
  return days === undefined ? null : new Date(at.getTime() + days * DAY_MS)
}
