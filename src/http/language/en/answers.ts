/** What the pages on which abuse desks answer say, in English; and what reporters read of it. */
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
