import { parseArgs } from 'node:util'
import { z } from 'zod'
import type { App } from '../app.ts'
import { listScopes } from '../db/consumer-scopes.ts'
import {
  type ConsumerDetails,
  type ConsumerState,
  ensureConsumers,
  findConsumerDetails,
  listConsumerPage,
} from '../db/consumers.ts'
import { type Db, inTransaction } from '../db/pool.ts'
import { UsageError } from '../errors.ts'
import { changeConsumer, type ConsumerChange } from '../feedback/change-consumer.ts'
import { isContact } from '../origin/network-tables/text-tables.ts'
import { feedbackTopics } from '../verdict/choose-contact.ts'
import {
  type ConsumerLimits,
  oneOf,
  readLimits,
  readScopes,
  parseFeedbackSettings,
  type ConsumerScope,
  feedbackChoices,
  type FeedbackSettings,
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

/** Converts a consumer to the export format. */
function lineOf(consumer: ConsumerDetails, scopes: readonly ConsumerScope[]): ConsumerLine {
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
 * Parses JSON lines as `export` writes them; missing fields get their defaults.
 *
 * @throws UsageError listing the errors of all lines with their numbers
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
    return 'This line is not valid JSON.'
  }
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

/** The options of `set`. */
type SettingOptions = Partial<
  Record<
    'format' | 'form' | 'pace' | 'takes' | 'hourly' | 'connections' | 'scopes' | 'note',
    string | undefined
  >
>

/**
 * Parses the options of `set`; the result contains only the given ones.
 *
 * @throws UsageError
 */
function settingsOf(values: SettingOptions): Partial<ConsumerLine> {
  const { format, form, pace } = values
  const telling = parseFeedbackSettings({ format, form, pace, takes: values.takes?.split(',') })
  if (!telling)
    throw new UsageError([
      'Unknown value of --format, --form, --pace or --takes. See "consumers --help".',
    ])
  const countOf = (text: string | undefined) => (text === 'none' ? '' : (text ?? ''))
  const limits = readLimits({
    hourlyMax: countOf(values.hourly),
    connectionsMax: countOf(values.connections),
    note: values.note ?? '',
  })
  if (!limits) throw new UsageError(['--hourly and --connections must be whole numbers or "none".'])
  const scopes = readScopes(countOf(values.scopes))
  if ('faults' in scopes) {
    throw new UsageError([`Not a block, AS number or domain: ${scopes.faults.join(' ')}`])
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

/** The subcommands of `consumers`. */
export type ConsumersRequest =
  | { action: 'list'; state: ConsumerState | undefined; search: string | undefined }
  | { action: 'import'; file: string }
  | { action: 'show' | 'resume' | 'stop'; address: string }
  | { action: 'pause'; address: string; days: number | undefined }
  | { action: 'set'; address: string; wanted: Partial<ConsumerLine>; isEnrolled: boolean }

const states = ['found', 'enrolled', 'paused', 'stopped'] as const
const PAGE = 1_000
const DAY_MS = 86_400_000
const DAYS_MAX = 3_650

const text = { type: 'string' } as const
const options = {
  ...{ state: text, search: text, days: text, format: text, form: text, pace: text },
  ...{ takes: text, hourly: text, connections: text, scopes: text, note: text },
  enroll: { type: 'boolean' },
} as const

/**
 * Parses the arguments of `consumers`.
 *
 * @throws UsageError
 */
export function parseConsumers(args: readonly string[]): ConsumersRequest {
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true })
  const [action, what, ...rest] = positionals
  if (rest.length > 0) throw new UsageError([`Unexpected argument "${rest[0]}".`])
  if ((action === 'list' || action === 'export') && what === undefined) {
    const state = oneOf(states, values.state)
    if (values.state !== undefined && !state)
      throw new UsageError([`--state must be one of ${states.join(', ')}.`])
    return { action: 'list', state, search: values.search?.toLowerCase() }
  }
  if (action === 'import' && what !== undefined) return { action, file: what }
  const address = what?.toLowerCase() ?? ''
  if (!isContact(address))
    throw new UsageError(['Name an action and the email address of a consumer.'])
  if (action === 'show' || action === 'resume' || action === 'stop') return { action, address }
  if (action === 'pause') return { action, address, days: daysOf(values.days) }
  if (action !== 'set')
    throw new UsageError([`Unknown action "${action}". See "consumers --help".`])
  const wanted = settingsOf(values)
  return { action, address, wanted, isEnrolled: values.enroll === true }
}

function daysOf(days: string | undefined): number | undefined {
  if (days === undefined) return undefined
  const count = /^\d{1,4}$/.test(days) ? Number(days) : 0
  if (count < 1 || count > DAYS_MAX)
    throw new UsageError(['--days must be a number from 1 to 3650.'])
  return count
}

/** Runs the subcommand and returns its output; `lines` is the content of the file to import. */
export async function runConsumers(
  request: ConsumersRequest,
  lines: string,
  app: Pick<App, 'pool' | 'clock'>,
): Promise<{ told: string; isDone: boolean }> {
  if (request.action === 'list') return { told: await listAll(request, app.pool), isDone: true }
  if (request.action === 'import') {
    const wanted = readLines(lines)
    await inTransaction(app.pool, async (tx) => {
      for (const one of wanted) await keepLine(tx, one, app.clock())
    })
    return { told: `Imported ${wanted.length} consumers.\n`, isDone: true }
  }
  const { address } = request
  const isDone = await inTransaction(app.pool, (tx) => act(tx, request, app.clock()))
  const consumer = isDone ? await findConsumerDetails(app.pool, { address }) : undefined
  return { told: consumer ? await shown(app.pool, [consumer]) : '', isDone }
}

async function act(
  tx: Db,
  request: Exclude<ConsumersRequest, { action: 'list' | 'import' }>,
  now: Date,
): Promise<boolean> {
  const { address } = request
  if (request.action === 'set') {
    await setOne(tx, address, request.wanted, now)
    if (!request.isEnrolled) return true
  }
  const consumer = await findConsumerDetails(tx, { address })
  if (!consumer || request.action === 'show') return consumer !== undefined
  return changeConsumer(tx, consumer.id, changeOf(request, now), { at: now, reporterId: null })
}

function changeOf(
  request: Exclude<ConsumersRequest, { action: 'list' | 'import' | 'show' }> | { action: 'show' },
  now: Date,
): ConsumerChange {
  if (request.action === 'pause') {
    const { days } = request
    const until = days === undefined ? null : new Date(now.getTime() + days * DAY_MS)
    return { do: 'pause', until }
  }
  if (request.action === 'stop') return { do: 'stop' }
  return { do: request.action === 'resume' ? 'resume' : 'enroll' }
}

/** Changes the given settings of a consumer and keeps the others; adds an unknown consumer. */
async function setOne(
  tx: Db,
  address: string,
  wanted: Partial<ConsumerLine>,
  now: Date,
): Promise<ConsumerDetails> {
  await ensureConsumers(tx, [{ address, source: 'operator' }], now)
  const consumer = await findConsumerDetails(tx, { address })
  if (!consumer) throw new Error('The consumer was not found after it was inserted.')
  const scopes = (await listScopes(tx, [consumer.id])).get(consumer.id) ?? []
  const present = lineOf(consumer, scopes)
  const { format, form, pace, takes, hourlyMax, connectionsMax, note } = { ...present, ...wanted }
  const limits = { hourlyMax, connectionsMax, note }
  const change = { do: 'set', format, form, pace, takes, ...limits } as const
  const all = { ...change, scopes: wanted.scopes ?? scopes }
  const isSame = JSON.stringify({ ...present, ...wanted }) === JSON.stringify(present)
  if (!isSame) await changeConsumer(tx, consumer.id, all, { at: now, reporterId: null })
  return consumer
}

/** Changes a consumer to match an imported line; a repeated import changes nothing. */
async function keepLine(tx: Db, line: ConsumerLine, now: Date): Promise<void> {
  const { address, state, pausedUntil, ...wanted } = line
  const before = await setOne(tx, address, wanted, now)
  const deed = { at: now, reporterId: null }
  const isPauseSame = before.pausedUntil?.getTime() === pausedUntil?.getTime()
  if (before.state === state && (state !== 'paused' || isPauseSame)) return
  if (state === 'enrolled') await changeConsumer(tx, before.id, { do: 'enroll' }, deed)
  if (state === 'stopped') await changeConsumer(tx, before.id, { do: 'stop' }, deed)
  if (state === 'paused') {
    await changeConsumer(tx, before.id, { do: 'pause', until: pausedUntil }, deed)
  }
}

async function listAll(
  { state, search }: Extract<ConsumersRequest, { action: 'list' }>,
  db: Db,
): Promise<string> {
  const parts: string[] = []
  let after: string | undefined
  do {
    const page = await listConsumerPage(db, { state, search, after, limit: PAGE })
    parts.push(await shown(db, page))
    after = page.length === PAGE ? page.at(-1)?.address : undefined
  } while (after !== undefined)
  return parts.join('')
}

async function shown(db: Db, consumers: readonly ConsumerDetails[]): Promise<string> {
  const ids = consumers.map(({ id }) => id)
  const scopes = await listScopes(db, ids)
  return consumers
    .map((one) => `${JSON.stringify(jsonOf(lineOf(one, scopes.get(one.id) ?? []), one))}\n`)
    .join('')
}

function jsonOf(line: ConsumerLine, { health, resolved, notOurs, wrong }: ConsumerDetails) {
  const { scopes, pausedUntil, hourlyMax, connectionsMax, ...rest } = line
  return {
    ...rest,
    paused_until: pausedUntil?.toISOString() ?? null,
    hourly_max: hourlyMax,
    connections_max: connectionsMax,
    scopes: scopes.map(({ kind, value }) => (kind === 'as' ? `AS${value}` : value)),
    health,
    answers: { resolved, not_ours: notOurs, wrong },
  }
}
