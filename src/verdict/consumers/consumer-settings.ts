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
