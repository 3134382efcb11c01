import { z } from 'zod'
import type { ConsumerDetails } from '../../db/consumer-list.ts'
import type { ConsumerState } from '../../db/consumers.ts'
import { UsageError } from '../../errors.ts'
import { isContact } from '../../mail/ip-tables/reading.ts'
import { feedbackTopics } from '../../verdict/choose-contact.ts'
import { readScopes, type Scope } from '../../verdict/consumers/consumer-scope.ts'
import {
  type ConsumerLimits,
  readLimits,
  readTelling,
  tellingChoices,
  type TellingWish,
} from '../../verdict/consumers/consumer-settings.ts'

/** A consumer as it is given out and taken in again. */
export type ConsumerLine = TellingWish &
  ConsumerLimits & {
    address: string
    state: ConsumerState
    pausedUntil: Date | null
    scopes: Scope[]
  }

const FAULTS_MAX = 20

const schema = z.object({
  address: z.string().refine(isContact, 'is no mail address'),
  state: z.enum(['found', 'enrolled', 'paused', 'stopped']).default('found'),
  paused_until: z.iso.datetime().nullable().default(null),
  format: z.enum(tellingChoices.format).default('arf'),
  form: z.enum(tellingChoices.form).default('whole'),
  pace: z.enum(tellingChoices.pace).default('at-once'),
  takes: z.array(z.enum(feedbackTopics)).min(1).nullable().default(null),
  hourly_max: z.int().min(1).max(1_000_000).nullable().default(null),
  connections_max: z.int().min(1).max(50).nullable().default(null),
  note: z.string().max(500).nullable().default(null),
  scopes: z.array(z.string()).max(100).default([]),
})

/** A consumer as a line has it. */
export function lineOf(consumer: ConsumerDetails, scopes: readonly Scope[]): ConsumerLine {
  const { address, state, pausedUntil, format, form, pace, takes } = consumer
  const { hourlyMax, connectionsMax, note } = consumer
  const limits = { hourlyMax, connectionsMax, note }
  return {
    address,
    state,
    pausedUntil,
    format,
    form,
    pace,
    takes,
    ...limits,
    scopes: sorted(scopes),
  }
}

/**
 * Reads JSON lines, as `export` writes them; what is not said is as usual.
 *
 * @throws UsageError with the faults of all lines, by their numbers
 */
export function readLines(text: string): ConsumerLine[] {
  const faults: string[] = []
  const lines = text.split('\n').flatMap((line, at): ConsumerLine[] => {
    if (line.trim() === '') return []
    const read = readLine(line)
    if (typeof read !== 'string') return [read]
    faults.push(`Line ${at + 1}: ${read}`)
    return []
  })
  if (faults.length > 0) throw new UsageError(faults.slice(0, FAULTS_MAX))
  return lines
}

function readLine(line: string): ConsumerLine | string {
  let json: unknown
  try {
    json = JSON.parse(line)
  } catch {
    return 'This is no JSON.'
  }
  const read = schema.safeParse(json)
  if (!read.success) {
    return read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')
  }
  const { address, paused_until: until, hourly_max, connections_max, ...rest } = read.data
  const scopes = readScopes(rest.scopes.join('\n'))
  if ('faults' in scopes) return `No scope: ${scopes.faults.join(' ')}`
  return {
    ...rest,
    address: address.toLowerCase(),
    pausedUntil: until === null ? null : new Date(until),
    hourlyMax: hourly_max,
    connectionsMax: connections_max,
    scopes: sorted(scopes),
  }
}

/** In one order, so that the same scopes are seen to be the same. */
function sorted(scopes: readonly Scope[]): Scope[] {
  return scopes
    .map(({ kind, value }) => ({ kind, value }))
    .sort((one, other) => (one.kind + one.value < other.kind + other.value ? -1 : 1))
}

/** What the options of `set` may say. */
export type SettingOptions = Partial<
  Record<
    'format' | 'form' | 'pace' | 'takes' | 'hourly' | 'connections' | 'scopes' | 'note',
    string | undefined
  >
>

/**
 * Reads the options of `set`: only what is said is in the answer.
 *
 * @throws UsageError
 */
export function settingsOf(values: SettingOptions): Partial<ConsumerLine> {
  const { format, form, pace } = values
  const telling = readTelling({ format, form, pace, takes: values.takes?.split(',') })
  if (!telling) throw new UsageError(['There is no such format, form, pace or kind.'])
  const countOf = (text: string | undefined) => (text === 'none' ? '' : (text ?? ''))
  const limits = readLimits({
    hourlyMax: countOf(values.hourly),
    connectionsMax: countOf(values.connections),
    note: values.note ?? '',
  })
  if (!limits) throw new UsageError(['The limits are whole numbers, or "none".'])
  const scopes = readScopes(countOf(values.scopes))
  if ('faults' in scopes) {
    throw new UsageError([`Neither a block, an AS number nor a domain: ${scopes.faults.join(' ')}`])
  }
  return {
    ...(format !== undefined && { format: telling.format }),
    ...(form !== undefined && { form: telling.form }),
    ...(pace !== undefined && { pace: telling.pace }),
    ...(values.takes !== undefined && { takes: telling.takes }),
    ...(values.hourly !== undefined && { hourlyMax: limits.hourlyMax }),
    ...(values.connections !== undefined && { connectionsMax: limits.connectionsMax }),
    ...(values.note !== undefined && { note: limits.note }),
    ...(values.scopes !== undefined && { scopes: sorted(scopes) }),
  }
}
