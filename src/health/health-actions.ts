import { z } from 'zod'
import { defineAction, textField, wholeNumber } from '../actions.ts'
import {
  getHealthSettings,
  type HealthSettings,
  putHealthSettings,
  removeSilent,
} from '../db/health.ts'
import type { Db } from '../db/pool.ts'
import { HOUR_MS } from '../durations.ts'
import { refusal } from '../phrase.ts'
import { type ConditionCode, conditionCodes, definitionOf } from './conditions.ts'

const [firstCode = 'database', ...otherCodes] = conditionCodes

const codeField = z
  .enum([firstCode, ...otherCodes], {
    error: refusal('refused.condition'),
  })
  .meta({ argument: 'CONDITION' })

const boundError = refusal('refused.bound')

const boundField = z
  .string({ error: boundError })
  .regex(/^\d{1,9}(\.\d{1,3})?$/, boundError)
  .transform(Number)
  .optional()
  .meta({ value: 'N' })

/** Changes the bounds of a condition; a bound that is not given stays. */
export const setBounds = defineAction({
  name: 'health set',
  summary: 'change the bounds of a condition of health',
  audit: 'set health',
  role: 'operator',
  input: z.object({ condition: codeField, warning: boundField, critical: boundField }),
  async run(tx, { condition, ...given }) {
    const before = await getHealthSettings(tx, condition)
    const warning = given.warning ?? before.warning
    const critical = given.critical ?? before.critical
    const fault = faultOf(condition, { warning, critical })
    if (fault !== undefined) return { problems: [{ field: 'critical', message: fault }] }
    await putHealthSettings(tx, { ...before, warning, critical })
    const [from, to] = [boundsText(before), boundsText({ warning, critical })]
    return { done: 'set', audit: `${condition}: ${to}; before: ${from}` }
  },
})

function boundsText({ warning, critical }: Pick<HealthSettings, 'warning' | 'critical'>): string {
  return `warning ${warning ?? 'as shipped'}, critical ${critical ?? 'as shipped'}`
}

function faultOf(
  condition: ConditionCode,
  given: Pick<HealthSettings, 'warning' | 'critical'>,
): string | undefined {
  const { bounds, isLowBad = false } = definitionOf(condition)
  const warning = given.warning ?? bounds.warning
  const critical = given.critical ?? bounds.critical
  if (warning === null || critical === null) return undefined
  if (isLowBad ? critical <= warning : critical >= warning) return undefined
  return isLowBad ? refusal('refused.bound-above') : refusal('refused.bound-below')
}

export const resetBounds = defineAction({
  name: 'health reset',
  summary: 'use the shipped bounds of a condition again',
  audit: 'set health',
  role: 'operator',
  input: z.object({ condition: codeField }),
  run: (tx, { condition }) =>
    change(tx, condition, { warning: null, critical: null }, 'reset', 'bounds as shipped'),
})

const HOURS_MAX = 720

/** Has a condition raise no alarm until a time. It stays visible on pages. */
export const silenceCondition = defineAction({
  name: 'health silence',
  summary: 'raise no alarm about a condition for some hours',
  audit: 'silence alarm',
  role: 'operator',
  input: z.object({
    condition: codeField,
    hours: wholeNumber(1, HOURS_MAX).meta({ value: 'N' }),
    reason: textField(300, refusal('refused.reason')).meta({ value: 'TEXT' }),
  }),
  run: (tx, { condition, hours, reason }, { at }) => {
    const silencedUntil = new Date(at.getTime() + hours * HOUR_MS)
    const words = `until ${silencedUntil.toISOString()}: ${reason}`
    return change(tx, condition, { silencedUntil, silenceReason: reason }, 'silenced', words)
  },
})

export const endSilence = defineAction({
  name: 'health unsilence',
  summary: 'raise alarms about a condition again',
  audit: 'silence alarm',
  role: 'operator',
  input: z.object({ condition: codeField }),
  run: (tx, { condition }) =>
    change(tx, condition, { silencedUntil: null, silenceReason: null }, 'ended', 'no longer'),
})

/** States that a backup was made: by "signalpost backup", or by other tools. */
export const noteBackup = defineAction({
  name: 'health backup-done',
  summary: 'state that a backup of the database was made now',
  audit: 'note backup',
  role: 'operator',
  input: z.object({}),
  run: (tx, _, { at }) => change(tx, 'backup', { doneAt: at }, 'noted', at.toISOString()),
})

/** Time in seconds without a heartbeat after which a process may be forgotten. */
const FORGETTABLE_SECONDS = 20

/** Removes processes from the list that were stopped on purpose without being able to say so. */
export const forgetProcesses = defineAction({
  name: 'health forget',
  summary: 'forget the processes that are silent',
  audit: 'forget processes',
  role: 'operator',
  input: z.object({}),
  async run(tx) {
    const count = await removeSilent(tx, FORGETTABLE_SECONDS)
    if (count === 0) return { unchanged: 'none' }
    return { done: 'forgotten', count, audit: `${count} silent processes` }
  },
})

async function change<Code extends string>(
  tx: Db,
  condition: ConditionCode,
  changes: Partial<HealthSettings>,
  done: Code,
  words: string,
): Promise<{ done: Code; audit: string }> {
  await putHealthSettings(tx, { ...(await getHealthSettings(tx, condition)), ...changes })
  return { done, audit: `${condition}: ${words}` }
}
