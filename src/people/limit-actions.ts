import { z } from 'zod'
import { defineAction, oneOf, wholeNumber } from '../actions.ts'
import { listRateLimits, type RateLimit, updateRateLimit } from '../db/limits.ts'

/** The longest window, and the maximum number of attempts that can be set. */
const SECONDS_MAX = 86_400
const ATTEMPTS_MAX = 1_000_000_000

/** The possible reactions above a limit. */
export const limitBehaviors = ['refuse', 'shadow', 'off'] as const

/**
 * Whether attempts above this limit can be held instead of refused: only reports can.
 */
export function mayHold({ attempt }: Pick<RateLimit, 'attempt'>): boolean {
  return attempt === 'report' || attempt === 'mail-in'
}

const windowError = `The window must be from 1 to ${SECONDS_MAX} seconds, in steps of 0.06 s.`

/** A window in seconds, with up to three decimals; the value is in milliseconds. */
const windowField = z
  .string()
  .regex(/^\d{1,10}(\.\d{1,3})?$/, windowError)
  .transform((text) => Math.round(Number(text) * 1_000))
  .refine((ms) => ms >= 1_000 && ms <= SECONDS_MAX * 1_000 && ms % 60 === 0, windowError)

/** Changes a limit in all processes within two seconds. A changed window starts with new counts. */
export const setLimit = defineAction({
  name: 'limits set',
  summary: 'change a rate limit',
  audit: 'set limit',
  role: 'operator',
  input: z
    .object({
      name: z.string({ error: 'Name a limit.' }).meta({ argument: 'NAME' }),
      attempts: wholeNumber(1, ATTEMPTS_MAX).optional().meta({ value: 'N' }),
      seconds: windowField.optional().meta({ value: 'N' }),
      behavior: oneOf(limitBehaviors).optional(),
    })
    .refine((input) => (input.attempts ?? input.seconds ?? input.behavior) !== undefined, {
      error: 'Give at least one of attempts, seconds and behavior.',
    }),
  messages: { set: 'Limit changed. It takes effect in all processes within two seconds.' },
  async run(tx, { name, attempts, seconds, behavior }, { at }) {
    const limit = (await listRateLimits(tx)).find((one) => one.name === name)
    if (!limit)
      return {
        problems: [{ field: 'name', message: 'Unknown limit. "limits list" shows the limits.' }],
      }
    const next = {
      attemptsMax: attempts ?? limit.attemptsMax,
      windowMs: seconds ?? limit.windowMs,
      behavior: behavior ?? limit.behavior,
    }
    if (next.behavior === 'shadow' && !mayHold(limit)) {
      const message =
        'The behavior "shadow" is only available for reports. Choose "refuse" or "off".'
      return { problems: [{ field: 'behavior', message }] }
    }
    await updateRateLimit(tx, name, next, at)
    const { attemptsMax, windowMs } = next
    const audit = `${name}: ${attemptsMax} in ${windowMs / 1_000} s, ${next.behavior}`
    return { done: 'set', audit, text: audit }
  },
})
