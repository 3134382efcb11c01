import type { AdviceWords } from './advice-words.ts'

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** Letters of advice in English. */
export const en: AdviceWords = {
  day: (at) => days.format(at),
  subjectKnown: (name) => `How to unsubscribe from ${name}`,
  subjectCautious: (signer) => `About the mailing from ${signer} that you reported`,
  hello: 'Hello,',
  reported: (subject, day) => `On ${day} you reported the message “${subject}”.`,
  reportedUntitled: (day) => `On ${day} you reported a message without a subject.`,
  isKnown: (name) =>
    `It is a mailing from ${name}. You can unsubscribe, and here is how to do it safely.`,
  isCautious: (signer) =>
    `It is a mailing that ${signer} really sent, but we do not know this sender any further.`,
  whyTitle: 'Why we believe it',
  whySignature: (domain) =>
    `The message carries a digital signature of ${domain}. We checked it when your report came ` +
    'in, and it is valid: nobody else could have made it.',
  whyRange: (range, name) =>
    `The message came from the addresses ${range}, from which only ${name} sends mail.`,
  cautiousTitle: 'Before you do anything',
  cautious: (signer) => [
    `Ask yourself whether you gave your address to ${signer}: for an order, an account, a contest.`,
    'If you remember it, you can unsubscribe in the way below.',
    'If you do not, do not click and do not answer: that would only show that your address is ' +
      'read. Mark the message as spam in your mail program instead.',
    'In either case, type in no password and pay nothing to be taken off a list.',
  ],
  howTitle: 'How to unsubscribe',
  inLanguage: { en: 'in English', fr: 'in French', ru: 'in Russian' },
  said: (name) => `${name} says:`,
  byLink: (host) => `By the link in the message, which leads to ${host}:`,
  byMail: (address, subject) =>
    subject === undefined
      ? `By a mail to ${address}; it may be empty.`
      : `By a mail to ${address} with the subject “${subject}”.`,
  byClick:
    'With one click on the page of your report: we then ask the sender, once and for you, to ' +
    'take you off the list.',
  byPage: 'All about your report:',
  website: 'Website:',
  noWay: (name) => `The message gives no safe way. Ask ${name} on its website.`,
  nextTitle: 'What happens next',
  next: [
    'After you unsubscribe, mail may still come for some days. If it does not stop within two ' +
      'weeks, report the next message: then we know that unsubscribing does not help.',
  ],
  nobodyAccused: 'Nobody was accused because of your report.',
  networkTold: 'The network that the message came from was told of it, without your name.',
  senderTold:
    'The sender asks to be told of complaints, and is told of yours: without your name and ' +
    'address, but it may know by its own codes whose copy it was.',
  weekly: 'We write to you about the same sender once a week at most.',
  off: 'If you do not want such advice any more:',
}
