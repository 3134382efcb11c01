import { z } from 'zod'
import {
  type Action,
  type AuditDetail,
  daysField,
  defineAction,
  endOf,
  isId,
  oneOf,
  textField,
} from '../actions.ts'
import { listScopes } from '../db/consumer-scopes.ts'
import {
  type ConsumerDetails,
  ensureConsumers,
  findConsumerDetails,
  listConsumers,
  keepContract,
} from '../db/consumers.ts'
import type { Db } from '../db/pool.ts'
import { CallerError } from '../errors.ts'
import { isContact } from '../origin/network-tables/text-tables.ts'
import { feedbackTopics } from '../verdict/choose-contact.ts'
import {
  feedbackChoices,
  readCount,
  readNote,
  readScopes,
  hasContract,
} from '../verdict/consumers.ts'
import { changeConsumer, type ConsumerChange } from './change-consumer.ts'
import { consumerLines, type ConsumerLine, lineOf, readConsumerLines } from './consumer-lines.ts'
import { withoutOriginals } from '../db/feedback-waiting.ts'
import { dateOf } from '../durations.ts'
import { findEnrollmentById, moveEnrollment } from '../db/enrollment-requests.ts'
import { refusal } from '../phrase.ts'
import { addScopes } from './enroll.ts'

const ADDRESS_CHARS_MAX = 254
const FILE_BYTES_MAX = 64 * 1024 * 1024
const HOURLY_MAX = 1_000_000
const CONNECTIONS_MAX = 50
const addressError = refusal('refused.email')
const argument = { argument: 'ADDRESS' }

export const addressField = textField(ADDRESS_CHARS_MAX, addressError)
  .transform((text) => text.toLowerCase())
  .pipe(z.string().refine(isContact, addressError))

/** An input field that identifies a consumer by its address or its id. */
export const consumerField = textField(ADDRESS_CHARS_MAX, addressError)
  .transform((text) => text.toLowerCase())
  .pipe(z.union([z.uuid(), z.string().refine(isContact)], { error: addressError }))
  .meta(argument)

/**
 * Returns a consumer by its address or its id.
 *
 * @throws CallerError if it does not exist
 */
export async function getConsumer(db: Db, text: string): Promise<ConsumerDetails> {
  const key = isId(text) ? { id: text } : { address: text }
  const consumer = await findConsumerDetails(db, key)
  if (consumer) return consumer
  throw new CallerError(404, refusal('refused.no-consumer'))
}

/** Adds a consumer, or shows an existing one. Used only by the administrators' page. */
export const addConsumer = defineAction({
  name: 'consumers add',
  summary: 'add a receiver of feedback reports',
  audit: 'add consumer',
  role: 'operator',
  input: z.object({ address: addressField.meta(argument) }),
  async run(tx, { address }, { at }) {
    const known = (await listConsumers(tx, [address])).get(address)
    if (known) return { done: 'known', id: known.id }
    const made = (await ensureConsumers(tx, [{ address, source: 'operator' }], at)).get(address)
    return { done: 'added', audit: address, ...(made && { id: made.id }) }
  },
})

const consumerInput = z.object({ consumer: consumerField })

/** Pauses feedback to a consumer for some days, or until it is resumed. */
export const pauseConsumer = defineAction({
  name: 'consumers pause',
  summary: 'pause feedback to a consumer, for some days or until it is resumed',
  audit: 'pause consumer',
  role: 'operator',
  input: consumerInput.extend({ days: daysField }),
  async run(tx, { consumer, days }, context) {
    const until = endOf(days, context)
    return change(tx, consumer, { do: 'pause', until }, context.at)
  },
})

export const resumeConsumer = defineChange('resume', {
  name: 'consumers resume',
  summary: 'resume feedback to a paused or stopped consumer',
  audit: 'resume consumer',
  role: 'operator',
})

/** Stops feedback to a consumer, and withdraws its unsent feedback reports. */
export const stopConsumer = defineChange('stop', {
  name: 'consumers stop',
  summary: 'stop feedback to a consumer',
  audit: 'stop consumer',
  role: 'operator',
})

/** Enrolls a consumer, as if it had requested feedback itself. */
export const enrollConsumer = defineChange('enroll', {
  name: 'consumers enroll',
  summary: 'enroll a consumer',
  audit: 'enroll consumer',
  role: 'operator',
})

function defineChange(
  code: 'resume' | 'stop' | 'enroll',
  about: Pick<Action, 'name' | 'summary' | 'audit' | 'role'>,
) {
  return defineAction({
    ...about,
    input: consumerInput,
    run: (tx, { consumer }, { at }) => change(tx, consumer, { do: code }, at),
  })
}

async function change<Change extends ConsumerChange>(
  tx: Db,
  text: string,
  wanted: Change,
  at: Date,
) {
  const { id } = await getConsumer(tx, text)
  const audit = await changeConsumer(tx, id, wanted, at)
  if (!audit) return { unchanged: 'nothing' as const }
  const done: Change['do'] = wanted.do
  return { done, audit: [audit], text: await consumerLines(tx, [await getConsumer(tx, id)]) }
}

const countField = (max: number) =>
  z
    .string()
    .transform((text, { addIssue }) => {
      const count = readCount(text === 'none' ? '' : text, max)
      if (count === undefined) addIssue(refusal('refused.number', { min: 1, max }))
      return count ?? null
    })
    .optional()

/** Changes the given settings of a consumer and keeps the others; adds an unknown consumer. */
export const setConsumer = defineAction({
  name: 'consumers set',
  summary: 'change settings of a consumer, or add one',
  audit: 'set consumer',
  role: 'operator',
  input: consumerInput.extend({
    enroll: z.boolean().default(false),
    format: oneOf(feedbackChoices.format).optional(),
    form: oneOf(feedbackChoices.form).optional(),
    pace: oneOf(feedbackChoices.pace).optional(),
    takes: z
      .array(oneOf(feedbackTopics), { error: refusal('refused.no-kind') })
      .min(1, refusal('refused.no-kind'))
      .optional()
      .meta({ value: feedbackTopics.join(',') }),
    hourlyMax: countField(HOURLY_MAX).meta({ option: 'hourly', value: 'N|none' }),
    connectionsMax: countField(CONNECTIONS_MAX).meta({ option: 'connections', value: 'N|none' }),
    scopes: z
      .string()
      .transform((text, { addIssue }) => {
        const scopes = readScopes(text === 'none' ? '' : text)
        if (!('faults' in scopes)) return scopes
        addIssue(refusal('refused.scopes', { words: scopes.faults.join(' ') }))
        return []
      })
      .optional()
      .meta({ value: 'CIDR,ASn,DOMAIN|none' }),
    note: z.string().transform(readNote).optional(),
  }),
  async run(tx, { consumer: text, enroll, takes, ...given }, { at }) {
    const isAll = takes && new Set(takes).size === feedbackTopics.length
    const wanted = { ...given, ...(takes && { takes: isAll ? null : takes }) }
    const audit = await setOne(tx, text, wanted, at)
    const { id } = await getConsumer(tx, text)
    const enrolled = enroll ? await changeConsumer(tx, id, { do: 'enroll' }, at) : undefined
    const details = [...audit, ...(enrolled ? [enrolled] : [])]
    const lines = await consumerLines(tx, [await getConsumer(tx, id)])
    return { done: 'set', audit: details, text: lines }
  },
})

type Wanted = { [Name in keyof ConsumerLine]?: ConsumerLine[Name] | undefined }

async function setOne(tx: Db, text: string, wanted: Wanted, at: Date): Promise<AuditDetail[]> {
  if (text.includes('@')) await ensureConsumers(tx, [{ address: text, source: 'operator' }], at)
  const consumer = await getConsumer(tx, text)
  const scopes = (await listScopes(tx, [consumer.id])).get(consumer.id) ?? []
  const present = lineOf(consumer, scopes)
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined)
  const next = { ...present, ...(Object.fromEntries(given) as Partial<ConsumerLine>) }
  if (JSON.stringify(next) === JSON.stringify(present)) return []
  const audit = await changeConsumer(tx, consumer.id, { do: 'set', ...next }, at)
  return audit ? [audit] : []
}

/**
 * Adds and changes the consumers in a file and keeps all others; a repeated import changes nothing.
 */
export const importConsumers = defineAction({
  name: 'consumers import',
  summary: 'add and change consumers from an export',
  audit: 'set consumer',
  role: 'operator',
  input: z.object({
    content: z
      .string({ error: 'Give a file name.' })
      .meta({ argument: 'FILE', fileBytesMax: FILE_BYTES_MAX }),
  }),
  async run(tx, { content }, { at }) {
    const read = readConsumerLines(content)
    if ('problems' in read) return read
    const audit: AuditDetail[] = []
    for (const line of read.lines) audit.push(...(await keepLine(tx, line, at)))
    return { done: 'imported', count: read.lines.length, audit }
  },
})

async function keepLine(tx: Db, line: ConsumerLine, at: Date): Promise<AuditDetail[]> {
  const { address, state, pausedUntil, ...wanted } = line
  const audit = await setOne(tx, address, wanted, at)
  const before = await getConsumer(tx, address)
  const isPauseSame = before.pausedUntil?.getTime() === pausedUntil?.getTime()
  if (state === 'found' || (before.state === state && (state !== 'paused' || isPauseSame))) {
    return audit
  }
  const changes = {
    enrolled: { do: 'enroll' },
    stopped: { do: 'stop' },
    paused: { do: 'pause', until: pausedUntil },
  } as const
  const changed = await changeConsumer(tx, before.id, changes[state], at)
  return [...audit, ...(changed ? [changed] : [])]
}

const REASON_CHARS_MAX = 500

/**
 * Gives a consumer the messages of its reports as they were received, from now on: a contract says
 * what the consumer may do with them.
 */
export const setContract = defineAction({
  name: 'consumers contract',
  summary: 'send originals to a consumer with a contract, for some days or until it ends',
  audit: 'set contract',
  role: 'operator',
  asksPassword: true,
  needsSecond: true,
  input: z.object({
    consumer: consumerField,
    reason: textField(REASON_CHARS_MAX, refusal('refused.reason')).meta({ option: 'why' }),
    days: daysField,
  }),
  async run(tx, { consumer: text, reason, days }, context) {
    const { id, address } = await getConsumer(tx, text)
    const until = endOf(days, context)
    await keepContract(tx, id, { since: context.at, until, reason })
    const end = until === null ? '' : `, until ${dateOf(until)}`
    return { done: 'contract', audit: `${address}${end}: ${reason}` }
  },
})

/** Ends a contract; what is not sent yet is composed again without the original. */
export const endContract = defineAction({
  name: 'consumers end-contract',
  summary: 'send no more originals to a consumer',
  audit: 'end contract',
  role: 'operator',
  input: z.object({ consumer: consumerField }),
  async run(tx, { consumer: text }, { at }) {
    const consumer = await getConsumer(tx, text)
    if (!hasContract(consumer, at)) return { unchanged: 'none' }
    await keepContract(tx, consumer.id, null)
    await withoutOriginals(tx, consumer.id)
    return { done: 'ended', audit: consumer.address }
  },
})

const AUDIT_CHARS_MAX = 1_000

/** Accepts the scope requested by a consumer who has confirmed the address. */
export const acceptEnrollment = defineDecision('accepted', {
  name: 'enrollments accept',
  summary: 'accept the scope that a consumer requested',
  audit: 'accept enrollment',
  role: 'operator',
})

export const refuseEnrollment = defineDecision('refused', {
  name: 'enrollments refuse',
  summary: 'refuse the scope that a consumer requested',
  audit: 'refuse enrollment',
  role: 'operator',
})

function defineDecision(
  state: 'accepted' | 'refused',
  about: Pick<Action, 'name' | 'summary' | 'audit' | 'role'>,
) {
  return defineAction({
    ...about,
    input: z.object({ id: z.string().meta({ argument: 'ID' }) }),
    async run(tx, { id }, { at, reporterId }) {
      const request = isId(id) ? await findEnrollmentById(tx, id) : undefined
      const { wish, consumerId = null, address } = request ?? {}
      const isMoved =
        wish &&
        consumerId !== null &&
        (await moveEnrollment(tx, id, 'proven', { state, wish, consumerId, at, reporterId }))
      if (!isMoved) {
        throw new CallerError(404, refusal('refused.no-request'))
      }
      if (state === 'accepted') await addScopes(tx, consumerId, wish.scopes, at)
      const scopes = wish.scopes.map(({ value }) => value).join(', ')
      return { done: state, audit: `${address}: ${scopes}`.slice(0, AUDIT_CHARS_MAX) }
    },
  })
}
