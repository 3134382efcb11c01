/** Texts of the pages for consumers of feedback reports, in English. */
export const consumersEn = {
  enroll: {
    title: 'Get our reports',
    link: 'For abuse desks',
    lead:
      'We tell abuse desks, providers and senders about spam, phishing and malware that people ' +
      'report to us. Say where to and about what; we send a letter there, and whoever reads it ' +
      'confirms.',
    address: 'Abuse address',
    addressHelp: 'Reports go to this address, and so does the letter.',
    scopes: 'What you answer for (optional)',
    scopesHelp:
      'CIDR blocks or ranges, AS numbers (AS64496), and domains whose signed mail is yours. ' +
      'Blocks for which the registries name this address hold at once; a person looks at the rest.',
    submit: 'Send the letter',
    faults: {
      address: 'This is not a mail address.',
      scopes: (words: string) => `Neither a block, an AS number nor a domain: ${words}`,
      telling: 'Choose how you want to be told, and at least one kind.',
    },
    often: 'There were too many requests from you of late. Try again tomorrow.',
  },
  telling: {
    format: 'Format',
    formats: { arf: 'ARF (RFC 5965)', xarf: 'XARF (JSON)' },
    form: 'Of the message',
    forms: { whole: 'All of it, redacted', headers: 'Its header only' },
    pace: 'When',
    paces: {
      'at-once': 'Each report at once',
      campaign: 'One of each campaign and hour',
      digest: 'All in one mail a day',
    },
    takes: 'Which kinds',
    topics: { spam: 'Spam', phishing: 'Phishing', malware: 'Malware' },
  },
  sent: {
    title: 'Look at the mail',
    text:
      'If mail is read at this address, a letter with a link will be there in a few minutes. ' +
      'Open the link within seven days. There is one letter a week to an address at most.',
  },
  confirm: {
    title: 'Confirm',
    lead: (address: string) => `Reports are to go to ${address}.`,
    scopes: 'About',
    noScopes: 'what tables and registries say is yours',
    submit: 'Yes, send us reports',
    no: 'If you do not want them, close this page: nothing changes.',
    over: 'This link is too old, or was used before.',
    overHelp: 'Ask for another letter.',
  },
  own: {
    title: 'Your reports',
    keep: 'Keep this address to yourselves: who has it can change all this.',
    address: 'Address',
    state: 'State',
    states: {
      found: 'Told, as the contact of a network',
      enrolled: 'Enrolled',
      paused: 'Paused',
      stopped: 'Stopped: nothing is sent',
    },
    until: 'until',
    scopes: 'You are told about',
    noScopes: 'What tables and registries say is yours.',
    moreScopes: 'To be told of more, ask for it as you did first.',
    how: 'How you are told',
    save: 'Keep',
    pause: 'Pause',
    pauses: { 1: 'A day', 7: 'A week', 30: 'A month', 0: 'Until you end it here' },
    pauseFor: 'For how long',
    resume: 'Go on',
    stop: 'Stop',
    stopHelp: 'Nothing more is sent, and what is waiting is called back.',
    stopSure: 'Yes, stop all reports',
    done: {
      enrolled: 'You are enrolled. Keep the address of this page.',
      waiting: 'You are enrolled. A person still looks at what you asked for.',
      kept: 'That is kept, and holds from now on.',
      paused: 'Nothing is sent during the pause.',
      resumed: 'Reports are sent again.',
      stopped: 'Nothing more is sent.',
      refused: 'That could not be done. Write to us.',
    },
  },
}

/** The type of every translation. */
export type ConsumerWords = typeof consumersEn

/**
 * Texts of the pages for answers from abuse desks, and of these answers as reporters see them, in
 * English.
 */
export const answersEn = {
  title: 'Your answer to our report',
  lead: 'You came by a link of a feedback report that we sent to you.',
  about: 'The report',
  number: 'Number',
  date: 'Sent',
  to: 'To',
  source: 'Source address',
  network: 'Network',
  before: 'Said so far',
  kinds: {
    resolved: {
      name: 'It is dealt with',
      does: 'We tell who reported the message that you dealt with it. Nothing else changes.',
      submit: 'Say that it is dealt with',
      done: 'Thank you. Who reported the message can read that you dealt with it.',
    },
    'not-ours': {
      name: 'This is not our network',
      does:
        'We note that you do not answer for this address, tell you no more of this network, and ' +
        'look for who does.',
      submit: 'Say that it is not ours',
      done: 'Thank you, and sorry. You are told no more of this network.',
    },
    wrong: {
      name: 'The report is wrong',
      does:
        'We note that you dispute the report. Our operators and the person who reported the ' +
        'message can read that you do, and your reasons.',
      submit: 'Say that it is wrong',
      done: 'Thank you. It is noted, with your reasons.',
    },
    stop: {
      name: 'Stop these reports',
      does:
        'From now on no feedback report is sent to your address. What waits to be sent is called ' +
        'back.',
      submit: 'Stop all reports to us',
      done: 'Done. No feedback report is sent to your address any more.',
    },
  },
  said: 'Anything to add? (if you like)',
  saidHelp: 'At most 2,000 characters. Our operators and who reported the message can read it.',
  repeated: 'You had said so before. Nothing changed.',
  others: 'Something else to say?',
  gone: 'This link is not one of ours, or what it was about is no longer kept.',
  events: {
    'desk-resolved': 'Who was told says that it is dealt with',
    'desk-not-ours': 'Who was told says that it is not theirs',
    'desk-wrong': 'Who was told says that the report is wrong',
    'desk-stop': 'Who was told wants no more reports',
  },
  story: {
    title: 'What those who were told say',
    says: (name: string) => `Who was told at ${name} says:`,
    answers: {
      resolved: 'it has dealt with it',
      'not-ours': 'the address is not in its network',
      wrong: 'the report is wrong',
      stop: 'it wants no more reports',
    },
    words: 'In its own words (written by a stranger, not by us):',
  },
}
