import { storableText } from '../../../mail/storable-text.ts'
import {
  adviceLanguages,
  type Marketer,
  marketerStates,
} from '../../../verdict/marketers/marketer.ts'
import type { Form } from '../../pages/form.ts'

/** The fields of the form, as they are typed: names one to a line. */
export type MarketerFields = Record<(typeof fieldNames)[number], string>

const lists = ['signers', 'ranges', 'list_ids', 'authors'] as const
const advices = ['advice_en', 'advice_fr', 'advice_ru'] as const
const fieldNames = [
  ...(['key', 'name', 'state', 'practice', 'website', 'contact', 'feedback'] as const),
  ...lists,
  ...advices,
] as const

/** What a select offers. */
export const stateChoices = marketerStates

const FIELD_CHARS_MAX = 12_000

/** A form that nobody has filled in. */
export const emptyFields: MarketerFields = {
  ...{ key: '', name: '', state: 'declared', practice: '', website: '', contact: '' },
  ...{ feedback: '', signers: '', ranges: '', list_ids: '', authors: '' },
  ...{ advice_en: '', advice_fr: '', advice_ru: '' },
}

/** A marketer as it is typed. */
export function fieldsOfMarketer(one: Marketer): MarketerFields {
  const lines = (names: readonly string[]) => names.join('\n')
  return {
    key: one.key,
    name: one.name,
    state: one.state,
    practice: one.practice,
    website: one.website ?? '',
    contact: one.contact ?? '',
    feedback: one.feedback ?? '',
    signers: lines(one.signers),
    ranges: lines(one.ranges),
    list_ids: lines(one.listIds),
    authors: lines(one.authors),
    advice_en: one.advice.en ?? '',
    advice_fr: one.advice.fr ?? '',
    advice_ru: one.advice.ru ?? '',
  }
}

/** What was typed, bounded. */
export function readFields(form: Form): MarketerFields {
  const read = fieldNames.map((name) => {
    return [name, storableText(form.text(name) ?? '', FIELD_CHARS_MAX)]
  })
  return Object.fromEntries(read) as MarketerFields
}

/** The same as a file would say it, to be checked like one. */
export function declaredBy(fields: MarketerFields): Record<string, unknown> {
  const names = (text: string) => text.split(/[\s,]+/).filter((name) => name !== '')
  const given = lists.map((field) => [field, names(fields[field])])
  const said = adviceLanguages.map((language) => [language, fields[`advice_${language}`]])
  return {
    ...{ key: fields.key, name: fields.name, state: fields.state, practice: fields.practice },
    ...(Object.fromEntries(given) as object),
    website: fields.website || null,
    contact: fields.contact || null,
    feedback: fields.feedback || null,
    advice: Object.fromEntries(said) as object,
  }
}
