import { answersEn } from './answers.ts'

/** What the lines of a timeline says, in English. */
export const eventsEn = {
  received: 'You reported it',
  analyzed: 'We looked at it',
  'looked-up': 'We asked who answers for the network',
  held: 'Our report was made ready',
  sent: 'We passed it on',
  refused: 'Our mail server refused our report',
  bounced: 'Our report came back',
  retracted: 'You took it back',
  changed: 'You changed your report',
  withdrawn: 'A report that had not left was called back',
  merged: 'A report on others tells of it too',
  failed: 'Something went wrong',
  redriven: 'We tried once more',
  answered: 'You answered our question',
  reopened: 'We look at it again',
  ...answersEn.events,
  advised: 'We wrote to you how to unsubscribe',
  unsubscribing: 'You asked us to unsubscribe you',
  unsubscribed: 'What became of unsubscribing',
}
