import type { SendingRecord } from '../reputation/sending.ts'
import { bool, double, type FactTable } from './fact.ts'

/** The user of the mail server who sends a message. */
export const senderTable: FactTable<NonNullable<ReturnType<typeof senderFacts>>> = {
  is_given: bool('A user of the mail server sends it; otherwise all of this group is empty.'),
  sent_today: double('Messages that the user sent today (UTC), before this one.'),
  unwanted_today: double('Messages of today that were unwanted, whoever sent them.'),
  sent_hour: double('Messages that the user sent within the hour, before this one.'),
  unwanted_hour: double('Messages of the hour that were unwanted, whoever sent them.'),
  recipients_today: double('Different recipients of today.'),
  known_days: double('Days since the user’s first message, at most 13.'),
  unwanted_share: double('Unwanted messages divided by all plus 20, two weeks, 0 to 1.'),
  complaint_share: double('Recipients who complained, divided by all plus 20, 0 to 1.'),
  bounce_share: double('Recipients whose mail bounced, divided by all plus 20, 0 to 1.'),
  read_share: double('Recipients who read the mail, divided by all plus 20, 0 to 1.'),
  reputation: double('From −1 (sends spam) to +1; near 0 while little is known.'),
}

/** Facts about the sending user; undefined if no user sends the message. */
export function senderFacts(record: SendingRecord | undefined) {
  if (!record) return undefined
  return {
    is_given: true,
    sent_today: record.today.sent,
    unwanted_today: record.today.unwanted,
    sent_hour: record.lastHour.sent,
    unwanted_hour: record.lastHour.unwanted,
    recipients_today: record.today.recipients,
    known_days: record.knownDays,
    unwanted_share: record.unwantedShare,
    complaint_share: record.complaintShare,
    bounce_share: record.bounceShare,
    read_share: record.readShare,
    reputation: record.score,
  }
}
