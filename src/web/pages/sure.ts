import type { Request } from 'express'
import type { Code } from '../../texts/messages.ts'
import type { Form } from './form.ts'
import type { OwnCall } from './form-page.ts'
import { sendPage } from './render.ts'
import { tokenField, visitOf } from './visit.ts'

/** What cannot be undone, as the texts name it. */
export type SureCode = Code extends infer C
  ? C extends `sure.${infer Name}.do`
    ? Name
    : never
  : never

/** What a person is asked about: its kind, and the name of the person, token or list. */
type Asked = { code: SureCode; name: string; back: string }

/** Whether the page that names what follows was read, and its button used. */
export function isSure(form: Form): boolean {
  return form.text('sure') === 'yes'
}

/**
 * What `parts/step.eta` shows: what follows from a form that cannot be undone, and the form itself,
 * so that nothing is entered twice. `back` is where the person goes instead.
 */
export function stepOf(req: Request, form: Form, { code, name, back }: Asked) {
  const { texts } = visitOf(req)
  return {
    title: texts(`sure.${code}.do`),
    data: {
      lead: texts(`sure.${code}.lead`, { name }),
      follows: texts(`sure.${code}.follows`),
      submit: texts(`sure.${code}.do`),
      target: req.originalUrl,
      back,
      fields: form.fields().filter(([field]) => field !== tokenField),
    },
  }
}

/** Whether a reporter confirmed a form; otherwise sends the page that asks. */
export function isConfirmedBy(
  { req, res, form }: OwnCall & { form: Form },
  asked: Omit<Asked, 'back'>,
): boolean {
  if (isSure(form)) return true
  sendPage(req, res, { view: 'pages/step', ...stepOf(req, form, { ...asked, back: req.path }) })
  return false
}
