import { number, plural } from '../wording.ts'
import { answersEn } from './feedback.ts'

/** Our stored sentences about the reporter, rephrased for the reporter, in English. */
export const saidEn: Readonly<Record<string, string>> = {
  '{ip} brought nearly all that the reporter reported so far.':
    '{ip} brought nearly all that you reported so far.',
  '{ip} is a given trusted relay.': '{ip} is one of your mail servers.',
  '{name} took the message for the reporter and forwarded it.':
    '{name} took the message for you and forwarded it.',
  'The reporter says that this is not spam.': 'You say that this is not spam.',
  'The reporter is asked.': 'You are asked.',
  'The abuse address of this network is our own, or the reporter’s.':
    'The abuse address of this network is our own, or yours.',
  'The reporter wants {host} to be asked, once.': 'You want {host} to be asked, once.',
  'More is known of the reporter’s mail servers: it is looked at again.':
    'More is known of your mail servers: it is looked at again.',
  'The reporter does not know which of the machines belong to the mail provider.':
    'You do not know which of the machines belong to your mail provider.',
  'The reporter says of {n} of the machines that they belong to the mail provider.':
    'You say of {n} of the machines that they belong to your mail provider.',
  'The reporter says that none of the machines belongs to the mail provider.':
    'You say that none of the machines belongs to your mail provider.',
  'The reporter now says that this is spam.': 'You now say that this is spam.',
  'The reporter now says that this is phishing.': 'You now say that this is phishing.',
  'The reporter now says that this is not spam.': 'You now say that this is not spam.',
  'The reporter took it back.': 'You took it back.',
}

/** Texts of the page that shows one mail to an abuse desk, in English. */
export const toldEn = {
  title: 'What we tell',
  open: 'Read it',
  to: 'To',
  left: 'This is the mail as it left, byte for byte.',
  leaves: 'This is the mail as it would leave now.',
  concealed:
    'By certain addresses in it the desk answers. Their ends are blotted out (****) for you, ' +
    'because whoever has them speaks for the desk; all else is as it is.',
  none: 'There is no mail of its own about your message.',
  text: 'What it says',
  source: 'The whole mail',
  download: 'Download (.eml)',
  back: 'Back to your report',
}

/** The type of every translation. */
export type ToldWords = typeof toldEn

/** Texts of the lines of a timeline, in English. */
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

/** Texts of the story of a report, in English. */
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

/** Texts of the picture of a message's route, in English. */
export const walkEn = {
  label: 'The way of the message, from your mailbox outward',
  mailbox: 'Your mailbox',
  holds: 'was given the message by',
  seen: {
    trusted: 'got it from this machine',
    injection: 'got it from outside, and saw this machine itself',
    believed: 'says, and we believe it, that it came from this machine',
    claimed: 'is claimed to have got it from this machine',
    forged: 'somebody invented a line that says',
  },
  unlinked: 'nothing above names the machine that follows',
  line: (index: number) => `Received line ${number('en', index + 1)}`,
  roles: {
    ours: 'A machine of your mail provider',
    origin: 'The origin: here the message came in',
    unclear: 'Here we cannot go on',
    believed: 'Named by a provider we know: probably true',
    claimed: 'Only claimed',
    forged: 'Cannot be true',
  },
  unnamed: 'a machine without a name',
  alias: 'It calls itself',
  network: 'Its network:',
  sure: {
    very: 'We are very sure',
    fairly: 'We are fairly sure',
    not: 'We are not sure',
  },
  percent: (percent: number) => `${number('en', percent)}%`,
  why: 'Why we think so:',
  behind: (name: string) => `Behind it, according to ${name}:`,
  isSubmitter: 'This is the machine from which the message was submitted.',
  border: 'Strangers begin here.',
  borderHelp: 'Below this line anybody may have written anything.',
}

/** Unsubscribe advice on the page of a report, in English. */
export const adviceEn = {
  title: 'How to be rid of such mail',
  known: (name: string) => `This is a mailing from ${name}. You can unsubscribe safely.`,
  cautious: (signer: string) =>
    `${signer} really sent this mailing, but we do not know this sender any further.`,
  signature: (domain: string) =>
    `We believe it because a valid digital signature of ${domain} stands in the message.`,
  range: (range: string, name: string) =>
    `We believe it because it came from the addresses ${range}, from which only ${name} sends.`,
  careful: [
    'Unsubscribe only if you remember that you gave this sender your address.',
    'If you do not remember it, do not click and do not answer: mark the message as spam in ' +
      'your mail program.',
  ],
  said: (name: string) => `${name} says:`,
  byLink: (host: string) => `By the link of the message, which leads to ${host}:`,
  byMail: (address: string, subject: string | undefined) =>
    subject === undefined
      ? `By a mail to ${address}.`
      : `By a mail to ${address} with the subject “${subject}”.`,
  website: 'Website:',
  click: 'Unsubscribe me',
  clickHelp: (host: string) =>
    `We ask ${host} once, for you, to take you off the list. The link in the message tells the ` +
    'sender which address it is about; nothing else is sent.',
  states: {
    queued: 'You asked us to unsubscribe you. We do it in a moment.',
    'under-way': 'We are asking the sender to unsubscribe you.',
    done: 'The sender has taken the request. Mail may still come for some days.',
    doubtful:
      'The sender sent us on to another page, where we do not follow. It may not have worked.',
    refused: 'We did not ask the sender: its link is not one that we follow.',
    failed: 'The sender could not be asked, or said no.',
    unknown: 'We asked, but cannot tell what became of it. We do not ask twice.',
  },
  doNotClick:
    'Do not click on anything in this message, and do not answer it, not even to unsubscribe: ' +
    'nobody whom we know stands behind it.',
  off: {
    title: 'No more advice',
    lead: 'We write to you how to unsubscribe when you report a mailing whose sender is certain.',
    ask: 'Do you want us to stop writing to you about that?',
    submit: 'Stop these letters',
    done: 'We will send you no more advice. What you report is dealt with as before.',
    unknown: 'This link is not one of ours, or it is no longer valid.',
  },
}
