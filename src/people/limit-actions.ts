import { z } from 'zod'
import { defineAction, type InputProblem, oneOf, readInput, wholeNumber } from '../actions.ts'
import { type LimitChange, listRateLimits, type RateLimit, updateRateLimit } from '../db/limits.ts'
import { refusal } from '../phrase.ts'

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

/** A limit as text, as in the audit log: `60 in 3600 s, refuse`. */
export function limitText({ attemptsMax, windowMs, behavior }: LimitChange): string {
  return `${attemptsMax} in ${windowMs / 1_000} s, ${behavior}`
}

function auditText(limit: RateLimit, next: LimitChange): string {
  return `${limit.name}: ${limitText(next)}; before: ${limitText(limit)}`
}

const shadowError = refusal('refused.limit-shadow')

const windowError = refusal('refused.limit-window', { max: SECONDS_MAX })

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
      error: refusal('refused.limit-empty'),
    }),
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
      return { problems: [{ field: 'behavior', message: shadowError }] }
    }
    await updateRateLimit(tx, name, next, at)
    return { done: 'set', audit: auditText(limit, next), text: `${name}: ${limitText(next)}` }
  },
})

/** `shown` is the limit as the page showed it, by `limitText`. */
const limitFields = z.object({
  attempts: wholeNumber(1, ATTEMPTS_MAX),
  seconds: windowField,
  behavior: oneOf(limitBehaviors),
  shown: z.string().optional(),
})

/**
 * Changes those of several limits that differ from what was shown: all of them or, if one is wrong
 * or was changed by another person since, none.
 */
export const saveLimits = defineAction({
  name: 'limits save',
  summary: 'change rate limits',
  audit: 'set limit',
  role: 'operator',
  input: z.object({ limits: z.record(z.string(), z.record(z.string(), z.string())) }),
  async run(tx, { limits: given }, { at }) {
    const problems: InputProblem[] = []
    const audit: string[] = []
    for (const limit of await listRateLimits(tx)) {
      const fields = given[limit.name]
      const change = fields && changeOf(limit, fields)
      if (!change) continue
      problems.push(...change.problems)
      if (!change.next) continue
      await updateRateLimit(tx, limit.name, change.next, at)
      audit.push(auditText(limit, change.next))
    }
    if (problems.length > 0) return { problems }
    return audit.length > 0 ? { done: 'saved', audit, count: audit.length } : { unchanged: 'same' }
  },
})

type Change = { problems: readonly InputProblem[]; next?: LimitChange }

/** What the fields of a limit change; undefined if nothing. */
function changeOf(limit: RateLimit, fields: Record<string, string>): Change | undefined {
  const { name } = limit
  const refused = (messages: readonly string[]) => ({
    problems: messages.map((message) => ({
      field: name,
      message: refusal('refused.at', { where: name, problem: message }),
    })),
  })
  const read = readInput(limitFields, fields)
  if ('problems' in read) return refused(read.problems.map(({ message }) => message))
  const { attempts, seconds, behavior, shown } = read.data
  const next = { attemptsMax: attempts, windowMs: seconds, behavior }
  const present = limitText(limit)
  if (limitText(next) === (shown ?? present)) return undefined
  if (behavior === 'shadow' && !mayHold(limit)) return refused([shadowError])
  if (shown === undefined || shown === present) return { next, problems: [] }
  return refused([
    refusal('refused.limit-changed', {
      ...{ attempts: limit.attemptsMax, seconds: limit.windowMs / 1_000 },
      behavior: limit.behavior,
    }),
  ])
}

/** The limits of a new installation: attempts, and seconds. */
const usual: Readonly<Record<string, readonly [attemptsMax: number, seconds: number]>> = {
  'report-minute': [1200, 60],
  'report-day': [50000, 86400],
  'report-token-minute': [1200, 60],
  'report-address-minute': [3000, 60],
  'mail-in-hour': [500, 3600],
  'mailbox-user-hour': [300, 3600],
  'mailbox-user-day': [1000, 86400],
  'provider-minute': [6000, 60],
  'provider-day': [500000, 86400],
  'read-minute': [1200, 60],
  'read-address-minute': [3000, 60],
  'form-address': [600, 600],
  'form-network': [6000, 600],
  'sign-in-here': [20, 600],
  'sign-in-near': [30, 3600],
  'sign-in-name': [120, 3600],
  'sign-in-address': [60, 600],
  'sign-in-network': [600, 600],
  'sign-in-device': [20, 600],
  'sign-in-device-day': [100, 86400],
  'password-here': [1200, 3600],
  'password-name': [3000, 3600],
  'password-address': [1200, 600],
  'sign-up-address': [20, 3600],
  'sign-up-network': [200, 3600],
  'sign-up-wide-network': [500, 3600],
  'sign-up-name': [10, 3600],
  'sign-up-all': [300, 3600],
  'reset-address': [20, 3600],
  'reset-network': [40, 3600],
  'reset-wide-network': [100, 3600],
  'reset-name': [10, 3600],
  'confirm-address': [60, 600],
  'enroll-network': [20, 86400],
  'enroll-wide-network': [40, 86400],
  'lookup-minute': [60, 60],
  'webhook-minute': [60, 60],
  'letter-stranger-all': [200, 3600],
  'letter-owner-all': [5000, 3600],
}

/** A limit as in a new installation; undefined for one that new installations do not have. */
export function usualLimit(name: string): LimitChange | undefined {
  const [attemptsMax, seconds] = (Object.hasOwn(usual, name) && usual[name]) || []
  if (attemptsMax === undefined || seconds === undefined) return undefined
  return { attemptsMax, windowMs: seconds * 1_000, behavior: 'refuse' }
}
