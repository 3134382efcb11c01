import type { App } from '../../app.ts'
import { freeMailDomains } from '../../analysis/features/known-hosts.ts'
import type { InboundMail } from '../../db/inbound-mails.ts'
import type { Db } from '../../db/pool.ts'
import { takeAnswer } from '../../feedback/take-answer.ts'
import { domainOf } from '../../mail/address.ts'
import { registrableDomain } from '../../mail/domain.ts'
import type { InboundReading } from '../../mail/inbound/read-inbound.ts'
import type { Match } from './match-mail.ts'

/** What was done with what a person wrote. */
export type ReplyKept = { outcome: string; needsLook: boolean }

/**
 * Takes the answer that a person mailed, where it is unmistakable and who wrote it is the desk that
 * we told, or of its house. All else is left to people.
 */
export async function keepReply(
  tx: Db,
  { id }: Pick<InboundMail, 'id'>,
  { feedback, letter, by }: Partial<Match>,
  { answer, author, isAutomatic, text }: InboundReading,
  app: Pick<App, 'boss' | 'config'>,
  at: Date,
): Promise<ReplyKept> {
  const forPeople = (outcome: string) => ({ outcome, needsLook: true })
  if (!feedback) return forPeople(letter ? 'A letter was answered.' : 'Somebody wrote to us.')
  if (answer === undefined) return forPeople('A feedback report was answered in free words.')
  if (isAutomatic) return forPeople('It reads like an answer, but a machine may have sent it.')
  // A Message-ID can be told from the number of a report, which its reporter knows.
  if (by !== 'recipient')
    return forPeople('It reads like an answer, but came to no signed address.')
  if (author === null || !isOfDesk(author, feedback.address)) {
    return forPeople('It reads like an answer, but not of who was told: nothing was done.')
  }
  const taken = await takeAnswer(tx, feedback, answer, 'mail', app, at, { said: text, mailId: id })
  if (taken === 'unknown') return forPeople('The feedback report had not left: nothing was done.')
  const again = taken === 'repeated' ? ', as it was before' : ''
  return { outcome: `The answer was taken${again}: ${answer}.`, needsLook: false }
}

/** Whether an author is the desk or of its organization; neighbors at a free mail house are not. */
export function isOfDesk(author: string, address: string): boolean {
  if (author.toLowerCase() === address.toLowerCase()) return true
  const house = houseOf(address)
  return house !== undefined && !freeMailDomains.has(house) && houseOf(author) === house
}

function houseOf(address: string): string | undefined {
  const domain = domainOf(address)
  return domain === undefined ? undefined : registrableDomain(domain)
}
