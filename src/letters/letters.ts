import type { App } from '../app.ts'
import { insertLetter, type Letter } from '../db/letters.ts'
import type { Db } from '../db/pool.ts'
import { pack } from '../db/rows.ts'
import { composeLetter, type LetterContent } from '../mail/letter.ts'
import { composeLetterAnswerAddress } from '../mail/verp.ts'
import { send } from '../queue/boss.ts'
import { sendLetter } from '../queue/queues.ts'
import { uuidv7 } from '../world.ts'

/** A letter to send: its content, its recipient and what it concerns. */
export type NewLetter = Pick<Letter, 'kind'> &
  Partial<Pick<Letter, 'reporterId' | 'reportId' | 'consumerId'>> &
  Pick<
    LetterContent,
    'to' | 'subject' | 'text' | 'language' | 'inReplyTo' | 'autoSubmitted' | 'unsubscribe'
  > & {
    /** Whether the recipient may answer; then it has its own Reply-To address. */
    isAnswerable?: boolean
  }

/**
 * Composes, stores and queues a letter, in the transaction that requires it. The letter is composed
 * now, so its content does not change while it waits. Returns its id.
 */
export async function queueLetter(
  tx: Db,
  { kind, reporterId, reportId, consumerId, isAnswerable = false, ...said }: NewLetter,
  { boss, config }: Pick<App, 'boss' | 'config'>,
  now: Date,
): Promise<string> {
  const id = uuidv7(now)
  const settings = { domain: config.returnPathDomain, secret: config.secret }
  const raw = composeLetter({
    ...said,
    from: config.mailFrom,
    operator: config.operatorName,
    replyTo: isAnswerable ? composeLetterAnswerAddress(id, settings) : undefined,
    date: now,
    messageId: letterMessageId(id, config.returnPathDomain),
  })
  await insertLetter(tx, {
    id,
    kind,
    address: said.to,
    reporterId: reporterId ?? null,
    reportId: reportId ?? null,
    consumerId: consumerId ?? null,
    createdAt: now,
    ...(await pack(raw)),
  })
  await send(boss, sendLetter, [{ letterId: id }], tx)
  return id
}

/** Returns the Message-ID of a letter, with its angle brackets. */
function letterMessageId(id: string, domain: string): string {
  return `<letter.${id}@${domain}>`
}
