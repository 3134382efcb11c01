import { plural } from '../wording.ts'

const people = (n: number): string => plural('en', n, { one: '# person', other: '# people' })

/** Texts of the pages about our lists, in English. */
export const listsEn = {
  lookup: {
    title: 'Is it on our lists?',
    link: 'Look up',
    lead:
      'We list addresses that send spam, and domains and hosts that spam leads to. Mail servers ' +
      'that use our lists may refuse mail because of them.',
    field: 'Address, domain, host or link',
    fieldHelp: 'As you have it: 192.0.2.7, bad.example, hxxps://www.bad[.]example/path …',
    submit: 'Look up',
    unreadable: 'This is no address, domain, host or link that could be on a list.',
    notListed: (name: string) => `${name} is not listed.`,
    notListedHelp:
      'If mail was refused in our name all the same, try again in an hour: name servers remember ' +
      'answers for a while.',
    listed: (name: string) => `${name} is listed.`,
    since: 'Listed since',
    until: 'Until',
    untilHelp: 'if nothing more is reported',
    why: 'Why',
    reasons: {
      spam: (n: number) => `At least ${people(n)} reported it for spam.`,
      phishing: (n: number) => `At least ${people(n)} reported it for phishing.`,
      malware: (n: number) => `At least ${people(n)} reported it for spreading malware.`,
      last: (day: string) => `The last report came on ${day}.`,
      times: (n: number) =>
        `It has been listed ${plural('en', n, { one: 'once', other: '# times' })}.`,
    },
    stop: 'How to stop it',
    advice: {
      addresses: [
        'Find what sends from this address: an account with a stolen password, a form or a ' +
          'program on a web server, a machine that was broken into.',
        'Mend it, change the passwords, and look through what waits to be sent.',
      ],
      domains: [
        'Find the pages that spam leads to; often somebody broke into the site and put them there.',
        'Remove them, update the software and change the passwords.',
      ],
      hosts: [
        'Find the pages under this name that spam leads to; often strangers put them there.',
        'Remove them, update the software and change the passwords.',
      ],
    },
    then: 'An entry goes by itself when nothing more is reported. Once it is mended, you can ask.',
    ask: (name: string) => `Ask for ${name} to be taken off`,
  },
  names: { addresses: 'Addresses', domains: 'Domains', hosts: 'Hosts in links' },
  delist: {
    title: (name: string) => `Ask for ${name} to be taken off`,
    lead:
      'Say what was wrong and what was done, so that it does not come back. Where little or ' +
      'nothing recent is known the entry goes at once; otherwise a person reads this.',
    asker: 'Who asks: your name, and your part in it',
    contact: 'Your mail address',
    contactHelp: 'For questions only. It is shown to nobody but our administrators.',
    done: 'What was wrong, and what was done',
    submit: 'Send',
    faults: {
      asker: 'Say who you are.',
      contact: 'This is not a mail address.',
      done: 'Say in a sentence or two what was done.',
    },
    often: 'There were too many requests of late, for this name or from you. Try again tomorrow.',
  },
  status: {
    title: 'Your request',
    about: 'About',
    asked: 'Sent',
    keep: 'Keep this address: only who knows it can see what becomes of the request.',
    states: {
      open: 'A person will read it.',
      automatic: 'It was taken off.',
      accepted: 'It was taken off.',
      refused: 'It stays on the list.',
    },
    spread:
      'The lists are written every ten minutes, and name servers remember answers for a while: ' +
      'allow an hour.',
    again: 'It comes back if it is reported again.',
    answer: 'Our answer',
  },
  downloads: {
    title: 'Our lists',
    lead: 'For mail servers and name servers: zone files for rbldnsd, JSON with reasons, text.',
    none: 'No list has been written yet. Come back in ten minutes.',
    made: 'Written',
    expires: 'Good until',
    list: 'List',
    zone: 'Zone',
    entries: 'Entries',
    files: 'Files',
    codes: 'What answers mean',
    code: 'Answer',
    meaning: 'Meaning',
    meanings: { spam: 'Spam', phishing: 'Phishing', malware: 'Malware' },
    test:
      'For tests, 127.0.0.2, ::ffff:7f00:2 and TEST are always listed, and 127.0.0.1 and INVALID ' +
      'never (RFC 5782).',
    below: 'In the list of domains every name below a domain is listed too; a host is itself only.',
  },
}

/** The type of every translation. */
export type ListWords = typeof listsEn
