import { plural } from '../plural.ts'

/** What the story of a report says, in English. */
export const storyEn = {
  title: 'What became of your report',
  back: 'All my reports',
  from: 'It says it is from',
  kind: 'You reported it as',
  comment: 'Your comment',
  whatHappened: 'Everything that happened, step by step',
  whereFrom: 'Where it came from',
  waiting: 'We are looking at this message. Come back in a moment.',
  noOrigin: 'We could not tell for sure where this message came from.',
  origin: (ip: string) => `The machine ${ip} handed this message to your mail provider.`,
  network: (name: string) => `It belongs to the network ${name}.`,
  path: 'The way of the message',
  pathHelp:
    'From your mailbox outward: each machine stands below the one that says it got the ' +
    'message from it.',
  found: 'What we found',
  verdicts: {
    spam: 'We take it for spam.',
    phishing: 'We take it for phishing: do not follow its links, and give it no password.',
    malware: 'We take it for malware: do not open its files, and do not follow its links.',
    marketing: 'We take it for advertising that you can unsubscribe from.',
    legitimate: 'It is not spam.',
    undecided: 'We cannot say what it is.',
  },
  others: 'How many others reported the same',
  otherPeople: (atLeast: number | undefined) =>
    atLeast === undefined
      ? 'Fewer than five other people have reported this message so far.'
      : plural('en', atLeast, {
          one: 'At least # other person reported the same message.',
          other: 'At least # other people reported the same message.',
        }),
  sameReports: (first: string, last: string) =>
    first === last
      ? `It was always reported on ${first}.`
      : `It was first reported on ${first} and last on ${last}.`,
  links: 'Web addresses in it',
  attachments: 'Attached files',
  told: 'Who was told',
  toldNobody: 'Nobody was told.',
  notYet: 'Nobody has been told yet.',
  feedback: {
    waiting: 'a report will leave soon',
    merged: 'told together with others of the same campaign',
    queued: 'a report is about to leave',
    held: 'a report is ready; the operator has not switched sending on',
    sent: 'a report was sent',
    bounced: 'a report was sent, but came back',
    refused: 'our own mail server refused the report; it can be sent again',
    withdrawn: 'the report was called back before it left',
  },
  source: 'Download the original message',
  corrections: 'Correction to',
  correction: {
    waiting: 'will leave soon',
    merged: 'sent together with others',
    queued: 'is about to leave',
    held: 'is ready; the operator has not switched sending on',
    sent: 'was sent: your report was taken back',
    bounced: 'was sent, but came back',
    refused: 'was refused by our own mail server; it can be sent again',
    withdrawn: 'was called back before it left',
  },
  noAnswers: 'Nobody has answered so far.',
  retract: 'I was wrong',
  retractHelp: 'You can take this report back. First we show what happens then.',
}
