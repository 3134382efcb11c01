import { z } from 'zod'
import { type ActionContext, defineAction, isId, oneOf } from '../actions.ts'
import { findInboxMail, type InboxMail, markHandled } from '../db/inbox.ts'
import type { Db } from '../db/pool.ts'
import type { Packed } from '../db/rows.ts'
import { CallerError } from '../errors.ts'
import { answerKinds } from '../mail/verp.ts'
import { refusal } from '../phrase.ts'
import { recordAnswer } from './take-answer.ts'

/**
 * Returns a mail of the inbox.
 *
 * @throws CallerError if it does not exist
 */
export async function getInboxMail(db: Db, id: string): Promise<InboxMail & Packed> {
  const mail = isId(id) ? await findInboxMail(db, id) : undefined
  if (mail) return mail
  throw new CallerError(404, refusal('refused.no-mail'))
}

const id = z.string().meta({ argument: 'ID' })

export const handleMail = defineAction({
  name: 'inbox handle',
  summary: 'mark a mail of the inbox as handled',
  audit: 'handle mail',
  role: 'analyst',
  input: z.object({ id }),
  async run(tx, { id: mailId }, { at, reporterId: by }) {
    const mail = await getInboxMail(tx, mailId)
    const isNew = await markHandled(tx, mail.id, { at, by })
    return isNew ? { done: 'handled', audit: mail.id } : { unchanged: 'nothing' }
  },
})

/** Records an answer to a feedback report on behalf of the abuse desk, and handles its mail. */
export const answerForDesk = defineAction({
  name: 'inbox answer',
  summary: 'answer a feedback report on behalf of the abuse team that wrote a mail',
  audit: 'answer for a desk',
  role: 'analyst',
  input: z.object({ id, answer: oneOf(answerKinds) }),
  async run(tx, { id: mailId, answer }, context: ActionContext<'boss' | 'config'>) {
    const { at, reporterId: by } = context
    const { reportId, number } = await getInboxMail(tx, mailId)
    await markHandled(tx, mailId, { at, by })
    if (reportId === null || number === null) return { unchanged: 'unknown' }
    const key = { reportId, number }
    const done = await recordAnswer(tx, key, answer, 'operator', context, at, { mailId })
    return { done, audit: `${answer}: ${reportId}, number ${number} (${done})` }
  },
})
