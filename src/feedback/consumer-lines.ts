import { z } from 'zod'
import type { InputProblem } from '../actions.ts'
import { listScopes } from '../db/consumer-scopes.ts'
import type { ConsumerDetails, ConsumerState } from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import { jsonOf } from '../mail/text.ts'
import { isContact } from '../origin/network-tables/text-tables.ts'
import { feedbackTopics } from '../verdict/choose-contact.ts'
import {
  type ConsumerLimits,
  type ConsumerScope,
  feedbackChoices,
  type FeedbackSettings,
  readScopes,
  scopeText,
} from '../verdict/consumers.ts'

/** A consumer in the format for export and import. */
export type ConsumerLine = FeedbackSettings &
  ConsumerLimits & {
    address: string
    state: ConsumerState
    pausedUntil: Date | null
    scopes: ConsumerScope[]
  }

const FAULTS_MAX = 20

const schema = z.object({
  address: z.string().refine(isContact, 'is not a valid email address'),
  state: z.enum(['found', 'enrolled', 'paused', 'stopped']).default('found'),
  paused_until: z.iso.datetime().nullable().default(null),
  format: z.enum(feedbackChoices.format).default('arf'),
  form: z.enum(feedbackChoices.form).default('whole'),
  pace: z.enum(feedbackChoices.pace).default('at-once'),
  takes: z.array(z.enum(feedbackTopics)).min(1).nullable().default(null),
  hourly_max: z.int().min(1).max(1_000_000).nullable().default(null),
  connections_max: z.int().min(1).max(50).nullable().default(null),
  note: z.string().max(500).nullable().default(null),
  scopes: z.array(z.string()).max(100).default([]),
})

export function lineOf(consumer: ConsumerDetails, scopes: readonly ConsumerScope[]): ConsumerLine {
  const { address, state, pausedUntil, format, form, pace, takes } = consumer
  const { hourlyMax, connectionsMax, note } = consumer
  return {
    ...{ address, state, pausedUntil, format, form, pace, takes },
    ...{ hourlyMax, connectionsMax, note },
    scopes: sorted(scopes),
  }
}

/** Parses JSON lines in the export format; missing fields get their defaults. */
export function readConsumerLines(
  text: string,
): { lines: ConsumerLine[] } | { problems: InputProblem[] } {
  const problems: InputProblem[] = []
  const lines = text.split('\n').flatMap((line, at): ConsumerLine[] => {
    if (line.trim() === '') return []
    const read = readLine(line)
    if (typeof read !== 'string') return [read]
    problems.push({ message: `Line ${at + 1}: ${read}` })
    return []
  })
  return problems.length > 0 ? { problems: problems.slice(0, FAULTS_MAX) } : { lines }
}

function readLine(line: string): ConsumerLine | string {
  const json = jsonOf(line)
  if (json === undefined) return 'This line is not valid JSON.'
  const read = schema.safeParse(json)
  if (!read.success) {
    return read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ')
  }
  const { address, paused_until: until, hourly_max, connections_max, ...rest } = read.data
  const scopes = readScopes(rest.scopes.join('\n'))
  if ('faults' in scopes) return `Not a block, AS number or domain: ${scopes.faults.join(' ')}`
  return {
    ...rest,
    address: address.toLowerCase(),
    pausedUntil: until === null ? null : new Date(until),
    hourlyMax: hourly_max,
    connectionsMax: connections_max,
    scopes: sorted(scopes),
  }
}

/** Sorts scopes, so that equal sets compare as equal. */
function sorted(scopes: readonly ConsumerScope[]): ConsumerScope[] {
  return scopes
    .map(({ kind, value }) => ({ kind, value }))
    .sort((one, other) => (one.kind + one.value < other.kind + other.value ? -1 : 1))
}

/** Formats consumers as JSON lines, with their health and the numbers of their answers. */
export async function consumerLines(
  db: Db,
  consumers: readonly ConsumerDetails[],
): Promise<string> {
  const scopes = await listScopes(
    db,
    consumers.map(({ id }) => id),
  )
  return consumers
    .map((one) => `${JSON.stringify(shownLine(lineOf(one, scopes.get(one.id) ?? []), one))}\n`)
    .join('')
}

function shownLine(line: ConsumerLine, { health, resolved, notOurs, wrong }: ConsumerDetails) {
  const { scopes, pausedUntil, hourlyMax, connectionsMax, ...rest } = line
  return {
    ...rest,
    paused_until: pausedUntil?.toISOString() ?? null,
    hourly_max: hourlyMax,
    connections_max: connectionsMax,
    scopes: scopes.map(scopeText),
    health,
    answers: { resolved, not_ours: notOurs, wrong },
  }
}
