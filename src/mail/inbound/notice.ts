import { parseMailboxes } from '../address.ts'
import { systemNames } from '../bounces/looks-like-bounce.ts'
import { isSaid, notices } from '../bounces/phrases.ts'
import { systemText } from '../bounces/recipients-in-text.ts'
import { decodeHeaderText } from '../encoded-word.ts'
import { fieldValue, type HeaderField } from '../header.ts'
import { isAcknowledgment } from './acknowledgment.ts'
import { isAutomaticReply, isAwayNote } from './automatic.ts'

/** What is known of a mail besides its header. */
type Clues = {
  /** The sender of its envelope; empty for the null sender. */
  mailFrom: string
  /** Whether it was sent to a return path of ours, to which people do not write. */
  isToReturnPath: boolean
  /** The text that the author wrote. */
  text: string
  /** Whether the mail has a part with a message, or with the header of one. */
  isReturning: boolean
}

const valueCharsMax = 1000
const textCharsRead = 4000
const ourPath = /(?:^|[^a-z0-9])(?:fb|lt)-[a-z2-7]{28}-[a-z2-7]{16}(?![a-z0-9])/i

/** Whether a mail system is the author of a mail: MAILER-DAEMON, or From without any address. */
export function isBySystem(fields: readonly HeaderField[]): boolean {
  const from = (fieldValue(fields, 'from') ?? '').slice(0, valueCharsMax)
  if (/\bmailer-?daemon\b/i.test(from)) return true
  return parseMailboxes(from).every(({ address }) => address === '')
}

/**
 * Whether the structure of a mail to one of our addresses shows that it is about the delivery of
 * our mail, in whatever language it is written: its author is a mail system, and it returns a
 * message, was sent to our return path, names our return path, or says that the mail is delayed.
 * The author may also be named like a mail system, for example postmaster; then the mail must
 * return a message, have the null sender, answer nothing and acknowledge nothing. From any author,
 * mail to our return path that says that something was not delivered is a notification, unless it
 * is an answer with a sender.
 */
export function isNotice(
  fields: readonly HeaderField[],
  { text, isReturning, mailFrom, isToReturnPath }: Clues,
): boolean {
  const value = (key: string) => (fieldValue(fields, key) ?? '').slice(0, valueCharsMax)
  const start = text.slice(0, textCharsRead)
  const isReply = isAutomaticReply(fields)
  const isAnswer = /^\s*(?:re|aw|sv|antw)\s*:/i.test(decodeHeaderText(value('subject')))
  const isNull = mailFrom.replace(/[<>\s]/g, '') === ''
  const isPersons = isReply || (isAnswer && !isNull)
  if (isToReturnPath && !isPersons && isSaid(notices.texts, start)) return true
  if (isAwayNote(fields)) return false
  if (!isBySystem(fields)) {
    const mayBeNotice = isReturning && isNull && !isAnswer && !isReply
    if (!mayBeNotice || !systemNames.test(value('from'))) return false
    return !isAcknowledgment(fields, text, { isAutomatic: true, isAway: false })
  }
  if (isReturning || isToReturnPath || systemText(text) !== text) return true
  return ourPath.test(start) || isSaid(notices.delays, start)
}
