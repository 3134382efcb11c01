import { storableText } from '../../mail/storable-text.ts'
import { type FeedbackTopic, feedbackTopics } from '../choose-contact.ts'

/** How a consumer wants to be told. */
export type TellingWish = {
  format: 'arf' | 'xarf'
  form: 'whole' | 'headers'
  pace: 'at-once' | 'campaign' | 'digest'
  /** Null: all. */
  takes: FeedbackTopic[] | null
}

/** The choices there are. */
export const tellingChoices = {
  format: ['arf', 'xarf'],
  form: ['whole', 'headers'],
  pace: ['at-once', 'campaign', 'digest'],
} as const

/** What is so when nothing is said. */
export const usualTelling: TellingWish = {
  format: 'arf',
  form: 'whole',
  pace: 'at-once',
  takes: null,
}

/** The same as a form or a command line has it; absent is as usual. */
export type TellingFields = {
  format?: string | undefined
  form?: string | undefined
  pace?: string | undefined
  takes?: readonly string[] | undefined
}

/** Reads a wish; undefined when any part of it is none of the choices. */
export function readTelling(fields: TellingFields): TellingWish | undefined {
  const format = oneOf(tellingChoices.format, fields.format ?? usualTelling.format)
  const form = oneOf(tellingChoices.form, fields.form ?? usualTelling.form)
  const pace = oneOf(tellingChoices.pace, fields.pace ?? usualTelling.pace)
  const given = fields.takes ?? feedbackTopics
  const takes = feedbackTopics.filter((topic) => given.includes(topic))
  if (!format || !form || !pace || takes.length === 0) return undefined
  if (new Set(given).size !== takes.length) return undefined
  return { format, form, pace, takes: takes.length === feedbackTopics.length ? null : takes }
}

/** The one of the choices that a text is; undefined when it is none. */
export function oneOf<Choice extends string>(
  choices: readonly Choice[],
  text: string | null | undefined,
): Choice | undefined {
  return choices.find((choice) => choice === text)
}

/** What a person may set of a consumer; null limits are those of the program. */
export type ConsumerLimits = {
  hourlyMax: number | null
  connectionsMax: number | null
  note: string | null
}

const HOURLY_MAX = 1_000_000
const CONNECTIONS_MAX = 50
const NOTE_CHARS_MAX = 500

/** Reads limits as people write them: empty is null. Undefined when one is none. */
export function readLimits(fields: {
  hourlyMax: string
  connectionsMax: string
  note: string
}): ConsumerLimits | undefined {
  const hourlyMax = readCount(fields.hourlyMax, HOURLY_MAX)
  const connectionsMax = readCount(fields.connectionsMax, CONNECTIONS_MAX)
  if (hourlyMax === undefined || connectionsMax === undefined) return undefined
  const note = storableText(fields.note.trim(), NOTE_CHARS_MAX) || null
  return { hourlyMax, connectionsMax, note }
}

function readCount(text: string, max: number): number | null | undefined {
  if (text.trim() === '') return null
  const count = /^\d{1,7}$/.test(text.trim()) ? Number(text) : 0
  return count >= 1 && count <= max ? count : undefined
}
