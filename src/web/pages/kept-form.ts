import type { Request, Response } from 'express'
import { z } from 'zod'
import { jsonOf } from '../../mail/text.ts'
import type { Code } from '../../texts/messages.ts'
import { type Form, type FormReader, readForm, type StaleForm } from './form.ts'
import { localPath, sendPage } from './render.ts'
import { tokenField, visitOf } from './visit.ts'

/** A form that could not be sent because the session had ended: its address and its fields. */
export type KeptForm = z.output<typeof keptSchema>

const FIELDS_MAX = 300
const keptSchema = z.object({
  target: z.string(),
  fields: z.array(z.tuple([z.string(), z.string()])).max(FIELDS_MAX),
})

/** The pages whose forms contain no password, besides the fields below. */
const areas = ['/admin/', '/reports/', '/relays', '/settings', '/account/tokens']
const secretFields = ['now', 'now_code', 'secret', tokenField]
/** Maximum size of a kept form in bytes. */
const KEPT_BYTES_MAX = 100_000
/** As a field of another form, each byte may become six: `&quot;` of JSON, percent-encoded. */
export const KEPT_FORM_BYTES_MAX = KEPT_BYTES_MAX * 6 + 64_000

/**
 * Reads a form that a visitor who is not signed in sent from one of our pages, so that it can be
 * sent again after signing in. Undefined if its page is not known to be free of secrets, if it is
 * too large, or if it may come from another site.
 */
export async function keepForm(
  req: Request,
  res: Response,
  site: FormReader,
): Promise<KeptForm | undefined> {
  const isSmall = Number(req.headers['content-length'] ?? Number.NaN) <= KEPT_BYTES_MAX
  if (!isSmall || !mayKeep(req) || req.readableEnded) return undefined
  const limits = { bytesMax: KEPT_BYTES_MAX, partBytesMax: KEPT_BYTES_MAX }
  // Whatever is wrong with the form: its sender is led to the sign-in page.
  const form = await readForm(req, res, site, limits).catch(() => undefined)
  return form && keptOf(req, form)
}

/**
 * What its sender entered into a form of an earlier session, and can send again in the present one.
 * Undefined like that of `keepForm`.
 */
export function keptOfStale(req: Request, { form }: StaleForm): KeptForm | undefined {
  const kept = mayKeep(req) ? keptOf(req, form) : undefined
  const isSmall = JSON.stringify(kept ?? '').length <= KEPT_BYTES_MAX
  return isSmall && kept && kept.fields.length > 0 ? kept : undefined
}

function mayKeep(req: Request): boolean {
  const isKnown = areas.some((area) => req.originalUrl.startsWith(area))
  return req.method === 'POST' && isKnown && isFromHere(req)
}

/** Whether the browser says that a page of ours sends the request. */
export function isFromHere({ headers }: Request): boolean {
  return headers['sec-fetch-site'] === 'same-origin'
}

function keptOf(req: Request, form: Form): KeptForm {
  const fields = form.fields().filter(([name]) => !secretFields.includes(name))
  return { target: req.originalUrl, fields }
}

/** The hidden field of a kept form in the forms for signing in. */
export function keptField(kept: KeptForm | undefined): string | undefined {
  return kept && JSON.stringify(kept)
}

/** The kept form in a form for signing in; undefined if there is none. */
export function keptIn(form: Form): KeptForm | undefined {
  const text = form.bytes('kept')?.toString() ?? ''
  if (text === '' || text.length > KEPT_BYTES_MAX * 2) return undefined
  const kept = keptSchema.safeParse(jsonOf(text)).data
  return kept && areas.some((area) => kept.target.startsWith(area)) ? kept : undefined
}

/** The labels of fields by their names, which forms with the same field share. */
const labels: Readonly<Record<string, Code>> = {
  cidr: 'relays.address',
  url: 'webhooks.address',
  name: 'ownAccount.tokens.name',
  language: 'settings.letters.language',
  wants_answers: 'settings.letters.wantsAnswers',
  wants_summary: 'settings.letters.wantsSummary',
  wants_advice: 'settings.letters.wantsAdvice',
}

/**
 * What a person recognizes of a form: values with the labels of their fields, and other texts of
 * several words. Ids and the names of buttons are left out.
 */
function shownFields({ target, fields }: KeptForm) {
  return fields.flatMap(([name, given]) => {
    const label = target.startsWith('/admin/') ? undefined : labels[name]
    const value = given.trim() === 'yes' ? '✓' : given.trim()
    const isShown = value !== '' && (label !== undefined || value.includes(' '))
    return isShown ? [{ label, value }] : []
  })
}

/** Shows a kept form to the person who signed in again, who may send it now. */
export function sendKept(req: Request, res: Response, kept: KeptForm, status = 200): void {
  const { target, fields } = kept
  sendPage(req, res, {
    view: 'pages/send-again',
    title: visitOf(req).texts('kept.title'),
    status,
    data: { target: localPath(target, '/'), fields, shown: shownFields(kept) },
  })
}
