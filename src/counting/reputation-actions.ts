import { z } from 'zod'
import { defineAction, textField } from '../actions.ts'
import { removeMark, setMark } from '../db/reputations.ts'
import { refusal } from '../phrase.ts'
import { type SubjectKind, subjectKinds } from '../verdict/reputation/subject.ts'
import { reputationKey } from './reputation-reader.ts'

const NAME_CHARS_MAX = 250
const REASON_CHARS_MAX = 500
const futureError = refusal('refused.end-date')

const subject = {
  kind: z
    .enum(Object.keys(subjectKinds) as [SubjectKind, ...SubjectKind[]], {
      error: refusal('refused.reputation-kind'),
    })
    .meta({ argument: 'KIND' }),
  name: textField(NAME_CHARS_MAX, refusal('refused.name')).meta({ argument: 'NAME' }),
}

/** Overrides the evidence about a subject, permanently or for some days. */
export const markReputation = defineAction({
  name: 'reputations mark',
  summary: 'override the reputation of a subject',
  audit: 'mark reputation',
  role: 'analyst',
  input: z.object({
    ...subject,
    mark: z.enum(['exempt', 'listed', 'welcome'], { error: refusal('refused.override') }),
    reason: textField(REASON_CHARS_MAX, refusal('refused.reason')).meta({ option: 'why' }),
    until: z
      .string()
      .transform((day) => new Date(`${day}T00:00:00Z`))
      .refine((at) => !Number.isNaN(at.getTime()), futureError)
      .optional()
      .meta({ value: 'YYYY-MM-DD' }),
  }),
  async run(tx, { kind, name, mark, reason, until }, { at, reporterId }) {
    if (until && until <= at) return { problems: [{ field: 'until', message: futureError }] }
    const untilAt = until ?? null
    const key = reputationKey({ kind, name })
    await setMark(tx, { key, kind, name, mark, reason, reporterId, setAt: at, untilAt })
    const end = untilAt ? ` until ${untilAt.toISOString()}` : ''
    return { done: 'set', audit: `${kind} ${name}: ${mark}${end}. ${reason}` }
  },
})

/** Removes the override, so that the evidence about the subject decides again. */
export const unmarkReputation = defineAction({
  name: 'reputations unmark',
  summary: 'remove the override of a reputation',
  audit: 'unmark reputation',
  role: 'analyst',
  input: z.object(subject),
  async run(tx, { kind, name }) {
    const removed = await removeMark(tx, reputationKey({ kind, name }))
    if (!removed) return { unchanged: 'nothing' }
    return { done: 'lifted', audit: `${kind} ${name}: no longer ${removed.mark}` }
  },
})
