import type { AccountLetterWords, AdviceWords } from '../letters.ts'

const notYou = 'If you did not ask for this, do nothing: without this link nothing happens.'
const wasItYou =
  'If this was not you, somebody else has your password: set a new one at once on the page ' +
  'above, ' +
  'by “Forgotten your password?”.'

/** Letters about accounts, in English. */
export const accountLettersEn: AccountLetterWords = {
  greeting: 'Hello,',
  letters: {
    confirm: {
      subject: 'Please confirm your address',
      before: [
        'somebody, probably you, wants an account at Signalpost with this mail address. To ' +
          'go on, ' +
          'open this page and choose a password:',
      ],
      after: ['The link works for 48 hours, once.', notYou],
    },
    exists: {
      subject: 'You have an account already',
      before: [
        'somebody, probably you, wanted to make an account at Signalpost with this mail address. ' +
          'You have one already: just sign in. If you have forgotten your password, set a ' +
          'new one ' +
          'here:',
      ],
      after: ['The link works for one hour, once.', notYou],
    },
    reset: {
      subject: 'Set a new password',
      before: [
        'somebody, probably you, wants to set a new password for your account at Signalpost. To ' +
          'do so, open this page:',
      ],
      after: ['The link works for one hour, once.', notYou],
    },
    'no-account': {
      subject: 'There is no account with this address',
      before: [
        'somebody, probably you, wanted to set a new password at Signalpost. There is no account ' +
          'with this mail address; perhaps yours has another one. The page is:',
      ],
      after: ['If you did not ask for this, do nothing.'],
    },
    disabled: {
      subject: 'Your account is closed',
      before: [
        'somebody, probably you, wanted to use your account at Signalpost. Its operators have ' +
          'closed it. How to reach them stands here:',
      ],
      after: ['If you did not ask for this, do nothing.'],
    },
    move: {
      subject: 'Please confirm your new address',
      before: [
        'you, or somebody in your name, wants to use this mail address for an account at ' +
          'Signalpost from now on. To confirm, sign in as before and open this page:',
      ],
      after: ['The link works for 48 hours, once.', notYou],
    },
    moved: {
      subject: 'Your account has another address now',
      before: [
        'your account at Signalpost has another mail address from now on, and we will write to ' +
          'that one. This is the last mail to this address.',
      ],
      after: [
        'If this was not you, somebody else is in your account: write to the operators, whom the ' +
          'page above names.',
      ],
    },
    'password-changed': {
      subject: 'Your password has been changed',
      before: [
        'the password of your account at Signalpost has just been changed, and all other ' +
          'browsers ' +
          'are signed out.',
      ],
      after: [wasItYou],
    },
    'second-step-on': {
      subject: 'Signing in now needs a code',
      before: [
        'from now on, signing in to your account at Signalpost needs a code of your device ' +
          'beside ' +
          'the password. Keep the recovery codes where you find them without the device.',
      ],
      after: [wasItYou],
    },
    'second-step-off': {
      subject: 'Signing in needs no code any more',
      before: ['your password alone opens your account at Signalpost again, without a code.'],
      after: [wasItYou],
    },
  },
}

const days = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

/** Letters with unsubscribe advice, in English. */
export const adviceLettersEn: AdviceWords = {
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
