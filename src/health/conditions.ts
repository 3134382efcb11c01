import type { Phrase } from '../phrase.ts'

/**
 * The state of a condition. `unknown`: it cannot be computed, so it is never shown as good. `off`:
 * the settings do not use what it is about.
 */
export type Level = 'ok' | 'off' | 'unknown' | 'warning' | 'critical'

/** The unit of a condition's value and bounds. */
type Unit = 'seconds' | 'days' | 'percent' | 'count' | 'gigabytes'

/** The values from which a condition is a warning or critical; null: never. */
type Bounds = { warning: number | null; critical: number | null }

/** What a condition is about, and how it is judged and repaired. */
type Definition = {
  unit: Unit
  /** The bounds unless an operator set others. */
  bounds: Bounds
  /** Whether low values are bad, such as days that are left. */
  isLowBad?: true
  /** Time in seconds for which a bound must be exceeded before an alarm is raised. */
  holdSeconds: number
  /** The conditions that, while they are bad, explain this one: then it raises no alarm. */
  hiddenBy?: readonly string[]
  /** The name of the action that repairs it. */
  action?: string
  /** The page that shows what is concerned. */
  page?: string
}

const MINUTE = 60
const HOUR = 60 * MINUTE

/**
 * All conditions of health, in the order of pages. Each is computed from what should happen, not
 * from what runs.
 */
const conditions = {
  database: {
    ...{ unit: 'seconds', bounds: { warning: 30, critical: 60 }, holdSeconds: 20 },
  },
  'reports-analyzed': {
    ...{ unit: 'seconds', bounds: { warning: 2 * MINUTE, critical: 10 * MINUTE } },
    ...{ holdSeconds: 30, page: '/admin/reports?state=received' },
  },
  'analysis-failed': {
    ...{ unit: 'count', bounds: { warning: 1, critical: 100 }, holdSeconds: MINUTE },
    ...{ action: 'queue retry', page: '/admin/reports?state=failed' },
  },
  'mail-leaving': {
    ...{ unit: 'seconds', bounds: { warning: 10, critical: 2 * MINUTE }, holdSeconds: 20 },
    ...{ action: 'outbox retry', page: '/admin/outbox' },
  },
  'feedback-owed': {
    ...{ unit: 'seconds', bounds: { warning: 15 * MINUTE, critical: HOUR }, holdSeconds: MINUTE },
    ...{ hiddenBy: ['mail-leaving'], page: '/admin/outbox?state=queued' },
  },
  'letters-owed': {
    ...{ unit: 'seconds', bounds: { warning: 15 * MINUTE, critical: HOUR }, holdSeconds: MINUTE },
    ...{ hiddenBy: ['mail-leaving'], page: '/admin/outbox/letters?state=queued' },
  },
  'mail-coming-in': {
    ...{ unit: 'days', bounds: { warning: 7, critical: null }, holdSeconds: MINUTE },
    page: '/admin/inbox',
  },
  'inbound-handled': {
    ...{ unit: 'seconds', bounds: { warning: 5 * MINUTE, critical: HOUR }, holdSeconds: MINUTE },
    page: '/admin/inbox',
  },
  bounces: {
    ...{ unit: 'percent', bounds: { warning: 20, critical: 50 }, holdSeconds: MINUTE },
    page: '/admin/outbox?state=bounced',
  },
  'dead-letters': {
    ...{ unit: 'count', bounds: { warning: 1, critical: 100 }, holdSeconds: MINUTE },
    ...{ action: 'queue retry', page: '/admin/dead-letters' },
  },
  'queues-paused': {
    ...{ unit: 'seconds', bounds: { warning: 1, critical: null }, holdSeconds: 5 * MINUTE },
    ...{ action: 'queue resume', page: '/admin/queues' },
  },
  counters: {
    ...{ unit: 'seconds', bounds: { warning: MINUTE, critical: 10 * MINUTE }, holdSeconds: 30 },
    page: '/admin/counters',
  },
  registries: {
    ...{ unit: 'seconds', bounds: { warning: HOUR, critical: 6 * HOUR }, holdSeconds: MINUTE },
  },
  dns: {
    ...{ unit: 'seconds', bounds: { warning: 2 * MINUTE, critical: 10 * MINUTE } },
    holdSeconds: MINUTE,
  },
  networks: {
    ...{ unit: 'days', bounds: { warning: 40, critical: 200 }, holdSeconds: MINUTE },
    page: '/admin/networks',
  },
  rules: {
    ...{ unit: 'count', bounds: { warning: 1, critical: null }, holdSeconds: MINUTE },
    page: '/admin/rules',
  },
  models: {
    ...{ unit: 'count', bounds: { warning: 1, critical: null }, holdSeconds: MINUTE },
    page: '/admin/models',
  },
  processes: {
    ...{ unit: 'seconds', bounds: { warning: 20, critical: 2 * MINUTE }, holdSeconds: 20 },
    action: 'health forget',
  },
  clocks: {
    ...{ unit: 'seconds', bounds: { warning: 5, critical: MINUTE }, holdSeconds: 20 },
  },
  disk: {
    ...{ unit: 'percent', bounds: { warning: 15, critical: 5 }, isLowBad: true },
    holdSeconds: MINUTE,
  },
  'database-size': {
    ...{ unit: 'gigabytes', bounds: { warning: 500, critical: 1_000 }, holdSeconds: MINUTE },
  },
  partitions: {
    ...{ unit: 'days', bounds: { warning: 14, critical: 7 }, isLowBad: true },
    holdSeconds: MINUTE,
  },
  certificate: {
    ...{ unit: 'days', bounds: { warning: 21, critical: 7 }, isLowBad: true },
    holdSeconds: MINUTE,
  },
  'dkim-key': { unit: 'count', bounds: { warning: null, critical: 1 }, holdSeconds: 5 * MINUTE },
  backup: {
    ...{ unit: 'days', bounds: { warning: 2, critical: 7 }, holdSeconds: MINUTE },
    action: 'health backup-done',
  },
  alarms: {
    ...{ unit: 'seconds', bounds: { warning: MINUTE, critical: 5 * MINUTE }, holdSeconds: 0 },
  },
  'alarm-channels': {
    ...{ unit: 'count', bounds: { warning: 1, critical: null }, holdSeconds: MINUTE },
  },
} as const satisfies Record<string, Definition>

/** The code of a condition. */
export type ConditionCode = keyof typeof conditions

export const conditionCodes = Object.keys(conditions) as ConditionCode[]

/** Returns the definition of a condition. */
export function definitionOf(code: ConditionCode): Definition {
  return conditions[code]
}

/** The value of a condition, or its level if that does not depend on a value. */
export type Measurement = {
  value?: number
  level?: Level
  reason: Phrase
  /** When it began, if that is known. */
  since?: Date
}

/** What operators set about a condition. */
export type ConditionSettings = Partial<Bounds> & {
  silencedUntil?: Date | null
  silenceReason?: string | null
}

/** A condition of health, as measured and judged. */
export type Condition = {
  code: ConditionCode
  level: Level
  /** Null when it cannot be computed. */
  value: number | null
  unit: Unit
  bounds: Bounds
  reason: Phrase
  since: Date | null
  silencedUntil: Date | null
  silenceReason: string | null
  action: string | null
  page: string | null
}

/** Judges a measurement by the bounds of the condition. */
export function judgeCondition(
  code: ConditionCode,
  measured: Measurement,
  settings: ConditionSettings,
  now: Date,
): Condition {
  const { unit, bounds, isLowBad = false, action, page } = definitionOf(code)
  const its = {
    warning: settings.warning ?? bounds.warning,
    critical: settings.critical ?? bounds.critical,
  }
  const { value, reason, since } = measured
  const silencedUntil = settings.silencedUntil ?? null
  const isSilenced = silencedUntil !== null && silencedUntil > now
  return {
    code,
    level: measured.level ?? levelOf(value, its, isLowBad),
    value: value ?? null,
    unit,
    bounds: its,
    reason,
    since: since ?? null,
    silencedUntil: isSilenced ? silencedUntil : null,
    silenceReason: isSilenced ? (settings.silenceReason ?? null) : null,
    action: action ?? null,
    page: page ?? null,
  }
}

function levelOf(value: number | undefined, bounds: Bounds, isLowBad: boolean): Level {
  if (value === undefined || Number.isNaN(value)) return 'unknown'
  const isBeyond = (bound: number | null) =>
    bound !== null && (isLowBad ? value <= bound : value >= bound)
  if (isBeyond(bounds.critical)) return 'critical'
  return isBeyond(bounds.warning) ? 'warning' : 'ok'
}

const severities: readonly Level[] = ['ok', 'off', 'unknown', 'warning', 'critical']

/** The level of all conditions together: that of the worst one. A single unknown is not good. */
export function worstLevel(levels: readonly Level[]): Level {
  const worst = Math.max(0, ...levels.map((level) => severities.indexOf(level)))
  const level = severities[worst] ?? 'unknown'
  return level === 'off' ? 'ok' : level
}
