/** What the page of a report says of unsubscribing, in English. */
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
