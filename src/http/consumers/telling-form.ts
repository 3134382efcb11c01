import type { Form } from '../pages/form.ts'
import {
  readTelling,
  tellingChoices,
  type TellingWish,
} from '../../verdict/consumers/consumer-settings.ts'
import { feedbackTopics } from '../../verdict/choose-contact.ts'

/** How somebody wants to be told, as the fields of a form say; undefined when they say nonsense. */
export function tellingOf(form: Form): TellingWish | undefined {
  const {
    format,
    form: shape,
    pace,
  } = {
    format: form.text('format'),
    form: form.text('form'),
    pace: form.text('pace'),
  }
  return readTelling({ format, form: shape, pace, takes: form.texts('takes') })
}

/** What the part `telling` of a page needs: the choices, and which are chosen. */
export function shownTelling(wish: TellingWish) {
  return { ...wish, takes: wish.takes ?? feedbackTopics, choices: tellingChoices, feedbackTopics }
}
