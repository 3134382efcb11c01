import { type Feedback, findFeedback } from '../../db/feedback-reports.ts'
import type { InboundMail } from '../../db/inbound-mails.ts'
import type { MatchedBy } from '../../db/inbox.ts'
import { findLetter, type Letter } from '../../db/letters.ts'
import type { Db } from '../../db/pool.ts'
import { type Claim, claimsOf } from '../../mail/inbound/claims.ts'
import type { InboundReading } from '../../mail/inbound/read-inbound.ts'
import type { ReturnPathSettings } from '../../mail/verp.ts'

/** The mail of ours that another is about, as far as it is still kept. */
export type Match = {
  by: MatchedBy
  /** Whether we signed what it was found by: then only who got that mail could know it. */
  isSigned: boolean
  /** What it names, kept or not. */
  reportId: string | null
  number: number | null
  letterId: string | null
  feedback?: Feedback | undefined
  letter?: Letter | undefined
}

/**
 * Finds the mail of ours that a mail is about: by the address it came to, which we signed; else by
 * the ENVID or the return path it gives; else by a Message-ID, which must be that of a mail that we
 * sent. A complaint is only about what it returns: the address it came to may have been copied.
 */
export async function matchMail(
  tx: Db,
  mail: InboundMail,
  reading: InboundReading,
  settings: ReturnPathSettings,
): Promise<Match | undefined> {
  const byRecipient = reading.kind === 'complaint' ? undefined : await matchRecipient(tx, mail)
  if (byRecipient) return byRecipient
  for (const claim of claimsOf(reading, settings)) {
    // What somebody refers to, they need not complain of.
    if (claim.by === 'reference' && reading.kind === 'complaint') continue
    const match = await matchClaim(tx, claim, settings)
    if (match) return match
  }
  return undefined
}

async function matchRecipient(
  tx: Db,
  { reportId, number, letterId }: InboundMail,
): Promise<Match | undefined> {
  const names = { by: 'recipient' as const, isSigned: true, reportId, number, letterId }
  if (reportId !== null && number !== null) {
    return { ...names, feedback: await findFeedback(tx, { reportId, number }) }
  }
  if (letterId === null) return undefined
  return { ...names, letter: await findLetter(tx, letterId) }
}

async function matchClaim(
  tx: Db,
  { mail, by, isSigned }: Claim,
  { domain }: ReturnPathSettings,
): Promise<Match | undefined> {
  if ('letterId' in mail) {
    const letter = await findLetter(tx, mail.letterId)
    if (!letter || !(isSigned || leftAsLetter(letter))) return undefined
    return { by, isSigned, reportId: null, number: null, letterId: mail.letterId, letter }
  }
  const feedback = await findFeedback(tx, mail)
  const messageId = `<${mail.reportId}.${mail.number}@${domain}>`
  if (!feedback || !(isSigned || isSameId(feedback.messageId, messageId))) return undefined
  const { reportId, number } = mail
  return { by, isSigned, reportId, number, letterId: null, feedback }
}

/** Its Message-ID is made of its id, so only a letter that never left has none. */
function leftAsLetter({ state }: Letter): boolean {
  return state === 'sent' || state === 'bounced'
}

function isSameId(kept: string | null, claimed: string): boolean {
  return kept?.toLowerCase() === claimed.toLowerCase()
}
