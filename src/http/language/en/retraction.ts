import { plural } from '../plural.ts'

/** What is asked before a report is taken back, in English. */
export const retractionEn = {
  title: 'Take this report back?',
  back: 'Back to the report',
  lead: 'If you were wrong about this message, say so. That is no shame, and it helps:',
  what: 'What happens then',
  counters: 'The message no longer counts as reported by you, here and in its campaign.',
  reputations: 'What it made us think of the sender and the network is taken back.',
  told: (told: number) =>
    plural('en', told, {
      one: 'The desk that was told gets a correction.',
      other: 'The # desks that were told get a correction.',
    }),
  waiting: 'What has not left yet will not leave.',
  nobody: 'Nobody was told, so nobody has to be told of it.',
  yours: 'The report stays in your list, marked as taken back.',
  forGood: 'To undo this, report the message again.',
  submit: 'I was wrong: take it back',
  cancel: 'No, leave it as it is',
}
