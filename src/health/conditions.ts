import type { Phrase } from '../phrase.ts'

/**
 * The state of a condition. `unknown`: it cannot be computed, so it is never shown as good. `off`:
 * the settings do not use what it is about.
 */
export type Level = 'ok' | 'off' | 'unknown' | 'warning' | 'critical'

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
  /** Whether the value does not grow or shrink with the time, although its unit is one of time. */
  isNoAge?: true
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
const DAY = 24 * HOUR

/** What a condition has besides its unit and bounds. */
type More = Partial<Omit<Definition, 'unit' | 'bounds' | 'isLowBad'>>

/** A condition that is bad from a value upwards. */
function tooMuch(
  unit: Unit,
  warning: number | null,
  critical: number | null,
  more: More = {},
): Definition {
  return { unit, bounds: { warning, critical }, holdSeconds: MINUTE, ...more }
}

/** A condition that is bad from a value downwards. */
function tooLittle(unit: Unit, warning: number, critical: number): Definition {
  return { ...tooMuch(unit, warning, critical), isLowBad: true }
}

/**
 * All conditions of health, in the order of pages. Each is computed from what should happen, not
 * from what runs.
 */
const conditions = {
  database: tooMuch('seconds', 30, 60, { holdSeconds: 20 }),
  spool: tooMuch('seconds', MINUTE, 10 * MINUTE, { hiddenBy: ['database'] }),
  'reports-analyzed': tooMuch('seconds', 2 * MINUTE, 10 * MINUTE, {
    holdSeconds: 30,
    page: '/admin/reports?state=received',
  }),
  'analysis-failed': tooMuch('count', 1, 100, {
    action: 'queue retry',
    page: '/admin/reports?state=failed',
  }),
  'mail-leaving': tooMuch('seconds', 10, 2 * MINUTE, {
    holdSeconds: 20,
    action: 'outbox retry',
    page: '/admin/outbox/waiting',
  }),
  'feedback-owed': tooMuch('seconds', 5 * MINUTE, HOUR, {
    hiddenBy: ['mail-leaving'],
    page: '/admin/outbox/waiting',
  }),
  'letters-owed': tooMuch('seconds', 5 * MINUTE, HOUR, {
    hiddenBy: ['mail-leaving'],
    page: '/admin/outbox/letters?state=queued',
  }),
  'mail-coming-in': tooMuch('days', 7, null, { page: '/admin/inbox' }),
  'inbound-handled': tooMuch('seconds', 5 * MINUTE, HOUR, { page: '/admin/inbox' }),
  bounces: tooMuch('percent', 20, 50, { page: '/admin/outbox?state=bounced' }),
  'bounce-wave': tooMuch('percent', 10, 30, {
    action: 'queue pause',
    page: '/admin/outbox?state=bounced',
  }),
  'busy-clients': tooMuch('count', 300, 3_000, { page: '/admin/limits' }),
  refusals: tooMuch('count', 1_000, 20_000, { page: '/admin/activity?group=people' }),
  'campaign-growth': tooMuch('count', 100, 1_000, { page: '/admin/campaigns' }),
  // A scheduled job that was killed is done by its next run, and then is no dead letter.
  'dead-letters': tooMuch('count', 1, 100, {
    holdSeconds: 2 * MINUTE,
    action: 'queue retry',
    page: '/admin/dead-letters',
  }),
  'queues-paused': tooMuch('seconds', 1, null, {
    holdSeconds: 5 * MINUTE,
    action: 'queue resume',
    page: '/admin/queues',
  }),
  'delistings-decided': tooMuch('seconds', 2 * DAY, 7 * DAY, { page: '/admin/delistings' }),
  counters: tooMuch('seconds', MINUTE, 10 * MINUTE, { holdSeconds: 30, page: '/admin/counters' }),
  registries: tooMuch('seconds', HOUR, 6 * HOUR),
  dns: tooMuch('seconds', 2 * MINUTE, 10 * MINUTE),
  networks: tooMuch('days', 40, 200, { page: '/admin/networks' }),
  rules: tooMuch('count', 1, null, { page: '/admin/rules' }),
  models: tooMuch('count', 1, null, { page: '/admin/models' }),
  processes: tooMuch('seconds', 20, 2 * MINUTE, { holdSeconds: 20, action: 'health forget' }),
  clocks: tooMuch('seconds', 5, MINUTE, { holdSeconds: 20, isNoAge: true }),
  disk: tooLittle('percent', 15, 5),
  'database-size': tooMuch('gigabytes', 500, 1_000),
  partitions: tooLittle('days', 14, 7),
  certificate: tooLittle('days', 21, 7),
  'dkim-key': tooMuch('count', null, 1, { holdSeconds: 5 * MINUTE }),
  backup: tooMuch('days', 2, 7, { action: 'health backup-done' }),
  alarms: tooMuch('seconds', MINUTE, 5 * MINUTE, { holdSeconds: 0 }),
  'alarm-channels': tooMuch('count', 1, null),
}

export type ConditionCode = keyof typeof conditions

export const conditionCodes = Object.keys(conditions) as ConditionCode[]

export function definitionOf(code: ConditionCode): Definition {
  return conditions[code]
}

/**
 * Causes that need another advice than the one of their condition. `start-process`: the process
 * that would know does not run.
 */
export const causes = [
  ...(['unmeasured', 'start-process', 'not-yet', 'database-full', 'spool-fault'] as const),
  ...([
    'spool-refused',
    'mail-held',
    'mail-still-held',
    'mail-never-left',
    'mail-unreachable',
    'queue-paused',
  ] as const),
  ...(['networks-refused', 'certificate-unreadable', 'dkim-without-dns'] as const),
  ...(['dkim-unread', 'busy-account', 'busy-token'] as const),
] as const

export type Cause = (typeof causes)[number]

/** The action and the page, if any, of causes that have others than their condition. */
const remedies: Partial<Record<Cause, Pick<Definition, 'action' | 'page'>>> = {
  unmeasured: {},
  'start-process': {},
  'not-yet': {},
  'mail-held': { page: '/admin/outbox?state=held' },
  'mail-never-left': { page: '/admin/outbox/waiting' },
  'queue-paused': { action: 'queue resume', page: '/admin/queues' },
  'busy-account': { action: 'bans add' },
  'busy-token': {},
}

/** The value of a condition, or its level if that does not depend on a value. */
export type Measurement = {
  value?: number
  level?: Level
  reason: Phrase
  /** What is wrong, if another advice helps than that of the condition. */
  cause?: Cause
  /** Since when it is bad, if that does not follow from its value. */
  since?: Date
  /** The page about what was found, instead of that of the condition. */
  page?: string
  /** What the action needs to know. */
  fields?: Readonly<Record<string, string>>
}

/** What operators set about a condition. */
export type ConditionSettings = Partial<Bounds> & {
  silencedUntil?: Date | null
  silenceReason?: string | null
}

export type Condition = {
  code: ConditionCode
  level: Level
  /** Null when it cannot be computed. */
  value: number | null
  unit: Unit
  bounds: Bounds
  reason: Phrase
  /** The end of the code of the advice. */
  advice: ConditionCode | Cause
  since: Date | null
  silencedUntil: Date | null
  silenceReason: string | null
  action: string | null
  /** The fields of the action, besides the reason. */
  fields: Readonly<Record<string, string>>
  page: string | null
}

const unitSeconds: Partial<Record<Unit, number>> = { seconds: 1, days: DAY }

/**
 * Since when a condition is bad: a value that is an age, or a time that is left, crossed its bound
 * then. Null if the condition is not bad, or that is not known. `now` is when it was measured.
 */
function crossedAt(
  { code, level, bounds, unit }: Pick<Condition, 'code' | 'level' | 'bounds' | 'unit'>,
  measured: Measurement,
  now: Date,
): Date | null {
  if (level !== 'warning' && level !== 'critical') return null
  if (measured.since) return measured.since
  const { isLowBad, isNoAge } = definitionOf(code)
  const bound = bounds.warning ?? bounds.critical
  const seconds = unitSeconds[unit]
  if (measured.level || isNoAge || seconds === undefined || bound === null) return null
  const value = measured.value ?? 0
  // Nothing is left, since a time that is not known.
  if (isLowBad && value <= 0) return null
  const beyond = (value - bound) * (isLowBad ? -seconds : seconds)
  return new Date(now.getTime() - beyond * 1_000)
}

export function judgeCondition(
  code: ConditionCode,
  measured: Measurement,
  settings: ConditionSettings,
  now: Date,
): Condition {
  const { unit, bounds, isLowBad = false, ...usual } = definitionOf(code)
  const its = {
    warning: settings.warning ?? bounds.warning,
    critical: settings.critical ?? bounds.critical,
  }
  const { value, reason, cause } = measured
  const { action, page } = (cause && remedies[cause]) ?? usual
  const silencedUntil = settings.silencedUntil ?? null
  const isSilenced = silencedUntil !== null && silencedUntil > now
  const judged = { code, unit, bounds: its, level: measured.level ?? levelOf(value, its, isLowBad) }
  return {
    ...judged,
    value: value ?? null,
    reason,
    advice: cause ?? code,
    since: crossedAt(judged, measured, now),
    silencedUntil: isSilenced ? silencedUntil : null,
    silenceReason: isSilenced ? (settings.silenceReason ?? null) : null,
    action: action ?? null,
    fields: measured.fields ?? {},
    page: measured.page ?? page ?? null,
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
