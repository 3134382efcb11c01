import { z } from 'zod'
import { daysField, defineAction, endOf, oneOf, textField, isId } from '../actions.ts'
import { decideDelisting, keepExemption, removeExemption } from '../db/listings.ts'
import type { Db } from '../db/pool.ts'
import { dateOf } from '../durations.ts'
import { CallerError } from '../errors.ts'
import { storableText } from '../mail/text.ts'
import { clearPagesAt, type PageContext } from '../pages/page-actions.ts'
import { refusal } from '../phrase.ts'
import { readListQuestion } from '../verdict/lists/questions.ts'
import { delist } from './delist.ts'

const NAME_CHARS_MAX = 253
const REASON_CHARS_MAX = 500
const ANSWER_CHARS_MAX = 2_000
const nameError = refusal('refused.name-to-exempt')
const argument = { argument: 'NAME' }

function termWords(until: Date | null): string {
  return until === null ? 'for good' : `until ${dateOf(until)}`
}

/** Keeps a name off our lists, permanently or for some days, from the next publication on. */
export const exemptFromLists = defineAction({
  name: 'lists exempt',
  summary: 'keep an address, domain or host off our lists',
  audit: 'exempt from lists',
  role: 'analyst',
  input: z.object({
    name: z
      .string({ error: nameError })
      .transform((text) => readListQuestion(text)?.name ?? '')
      .pipe(z.string().min(1, nameError))
      .meta(argument),
    reason: textField(REASON_CHARS_MAX, refusal('refused.reason')).meta({ option: 'why' }),
    days: daysField,
  }),
  async run(tx, { name, reason, days }, context: PageContext) {
    const { at: createdAt, reporterId } = context
    const expiresAt = endOf(days, context)
    await keepExemption(tx, { name, reason, expiresAt, reporterId, createdAt })
    const pages = await clearPagesAt(tx, name, context)
    return { done: 'set', audit: `${name}, ${termWords(expiresAt)}${pages}: ${reason}` }
  },
})

/** Deletes an exemption: the name may be listed again. */
export const removeListExemption = defineAction({
  name: 'lists unexempt',
  summary: 'remove the exemption of a name',
  audit: 'unexempt from lists',
  role: 'analyst',
  input: z.object({ name: textField(NAME_CHARS_MAX, nameError).meta(argument) }),
  async run(tx, { name }) {
    const isGone = await removeExemption(tx, name)
    return isGone ? { done: 'lifted', audit: name } : { unchanged: 'nothing' }
  },
})

/** Exemption periods of a delisted name in days; `good` has no end. */
export const exemptionTerms = ['30', '90', '365', 'good'] as const

/** The stored reason of an exemption that came of a delisting request. */
export function exemptionReason(requestId: string): string {
  return `Delisting request ${requestId}.`
}

const id = z.string().meta({ argument: 'ID' })

/** Delists a name whose owner asked for it; the answer is shown to the requester. */
export const acceptDelisting = defineAction({
  name: 'lists accept',
  summary: 'delist a name as requested',
  audit: 'accept delisting',
  role: 'analyst',
  input: z.object({
    id,
    answer: z.string().default(''),
    exempt: oneOf(exemptionTerms).optional(),
  }),
  async run(tx, { id: requestId, answer, exempt }, context: PageContext) {
    const { at, reporterId } = context
    const request = await decideRequest(tx, requestId, 'accepted', { answer, at, reporterId })
    const { name, list } = request
    if (list !== 'pages') await delist(tx, { name, list }, at)
    const what = `${list}: ${name}${await clearPagesAt(tx, name, context)}`
    // A page that is cleared is not listed again, whatever is reported.
    if (exempt === undefined || list === 'pages') return { done: 'accepted', audit: what }
    const expiresAt = endOf(exempt === 'good' ? undefined : Number(exempt), context)
    const reason = exemptionReason(requestId)
    await keepExemption(tx, { name, reason, expiresAt, reporterId, createdAt: at })
    return { done: 'accepted', audit: `${what}, exempt ${termWords(expiresAt)}` }
  },
})

/** Keeps a name on the list; the answer tells the requester why. */
export const refuseDelisting = defineAction({
  name: 'lists refuse',
  summary: 'refuse a delisting request',
  audit: 'refuse delisting',
  role: 'analyst',
  input: z.object({
    id,
    answer: textField(ANSWER_CHARS_MAX, refusal('refused.answer')),
  }),
  async run(tx, { id: requestId, answer }, { at, reporterId }) {
    const request = await decideRequest(tx, requestId, 'refused', { answer, at, reporterId })
    return { done: 'refused', audit: `${request.list}: ${request.name}` }
  },
})

async function decideRequest(
  tx: Db,
  requestId: string,
  state: 'accepted' | 'refused',
  { answer: text, ...by }: { answer: string; at: Date; reporterId: string | null },
) {
  const answer = storableText(text, ANSWER_CHARS_MAX)
  const request = isId(requestId)
    ? await decideDelisting(tx, requestId, { state, answer, ...by })
    : undefined
  if (request) return request
  throw new CallerError(404, refusal('refused.no-request'))
}
