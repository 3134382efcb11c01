import { plural } from '../wording.ts'

/** Texts of the privacy page, in English. People accept this text when they sign up. */
export const privacyEn = {
  title: 'What we keep, and whom we tell',
  link: 'Privacy',
  version: 'Version',
  operator: 'Who runs this',
  nobody: 'The operator of this site has not yet said who that is.',
  contact: 'How to reach them',
  sections: [
    {
      title: 'What we keep',
      lines: [
        'Your mail address, your password as a hash from which nobody can read it, and your ' +
          'settings.',
        'The messages that you report, when you reported them, what you said about them, and ' +
          'what ' +
          'we found out.',
        'Your sessions: which browser, since when, last seen. Your tokens: their names, what ' +
          'they ' +
          'may do, last used.',
        'The mail that we wrote to you and that came to us from you.',
        'That you agreed to this text, and when.',
      ],
    },
    {
      title: 'For how long',
      lines: [
        'Reports, messages and mail: {days} days, then they are dropped week by week.',
        'Your account: until you erase it. A request for an account that nobody confirms: 48 ' +
          'hours.',
        'Counts of how often something was reported, without names, as long as they help others.',
      ],
    },
    {
      title: 'Whom we tell',
      lines: [
        'Who can stop a sender: the abuse desk of the network the message came from, the ' +
          'desk of a ' +
          'mailing that asks for complaints. They get the message without your address: it is ' +
          'replaced wherever it stands.',
        'Anybody may ask how often an address, a link or a file was reported, and not by whom.',
        'Nobody else. We sell nothing, and no page of ours loads anything from elsewhere.',
      ],
    },
    {
      title: 'What you can do',
      lines: [
        'See all of it and take it with you: in your settings, as an archive.',
        'Correct it: your address, your settings, and any report by taking it back.',
        'Erase it: your account with your reports, or your account alone.',
        'Complain: to us, or to the authority for data protection where you live.',
      ],
    },
    {
      title: 'Cookies',
      lines: [
        'One that keeps you signed in, and one that remembers the language you chose. No others.',
      ],
    },
  ],
}

/** Texts of the page about mail servers, in English. */
export const relaysEn = {
  title: 'My mail servers',
  lead:
    'The machines your mail comes through before it reaches you: those of your mail provider, ' +
    'of a forwarding service, or your own. We never take one of them for the origin of spam.',
  help: 'Large providers we know by ourselves. You need not name those.',
  none: 'You have not named any, and your reports have not taught us any.',
  address: 'Address or block',
  how: 'How we know it',
  since: 'Since',
  hows: {
    set: 'You named it',
    learned: (n: number) =>
      plural('en', n, {
        one: 'Learned from # of your reports',
        other: 'Learned from # of your reports',
      }),
    refused: 'Not yours: you said so',
  },
  proposal: (name: string) => `All your mail seems to come through ${name}. Is it yours?`,
  evidence: (n: number) =>
    plural('en', n, {
      one: '# of your latest reports came through it.',
      other: '# of your latest reports came through it.',
    }),
  yes: 'Yes, it is mine',
  no: 'Not mine',
  remove: 'Remove',
  removeOf: (cidr: string) => `Remove ${cidr}`,
  refuseOf: (cidr: string) => `${cidr} is not mine`,
  add: 'Add a mail server',
  addHelp:
    'An address, or a block such as 192.0.2.0/24. An internal address, such as 10.0.0.5 or ' +
    '127.0.0.1, only if no gateway or tunnel stands between that machine and the Internet: ' +
    'otherwise strangers come from that address too.',
  addSubmit: 'Add',
  refusals: {
    unreadable: 'This is neither an address nor a block of addresses.',
    'too-wide': 'This block is too wide: at most /16, or /32 for IPv6.',
    'link-local': 'This address means another machine on every cable: it says nothing.',
    reserved: 'No machine can have this address.',
  },
}

/** Texts of the settings page of a reporter, in English. */
export const settingsEn = {
  link: 'Settings',
  title: 'Settings',
  saved: 'Saved.',
  mailIn: {
    title: 'Report by mail',
    lead:
      'Forward unwanted messages to this address as attachments, one or many in a mail, and each ' +
      'becomes a report.',
    address: 'Your address',
    since: 'since',
    secret:
      'It is yours alone: whoever knows it can report in your name. If it has become known, ' +
      'make a new one; the old one ends at once.',
    none: 'You have no address for reports by mail yet.',
    make: 'Make an address',
    renew: 'Make a new one',
    made: 'This is your new address. Any you had before it no longer works.',
    howTo: 'How to forward a message as an attachment',
    why:
      'A message that is forwarded the usual way has lost its header, and with it where it came ' +
      'from: we cannot take it, and will write to you.',
  },
  letters: {
    title: 'Mail from us',
    language: 'Language of these pages and of mail from us',
    languages: { en: 'English', fr: 'Français', ru: 'Русский' },
    wantsAnswers: 'Write to me when an abuse desk answers about a report of mine',
    wantsAdvice: 'Write to me how to unsubscribe, where what I reported is a known mailing',
    save: 'Save',
    unknown: 'Choose one of the languages.',
  },
  programs: {
    title: 'For programs',
    lead: 'If you write programs or use some that report for you.',
    docs: 'How programs talk to us',
  },
}

/** Texts of the webhooks page, in English. */
export const webhooksEn = {
  title: 'Webhooks',
  lead:
    'If you write programs: we can tell your own software what becomes of your reports. We send ' +
    'a short signed message to an address of yours; never anything of the mail you reported.',
  docs: 'How to check and read these messages (in English)',
  none: 'You have no webhooks.',
  address: 'Address',
  addressHelp: 'It begins with https:// and leads to a machine on the Internet.',
  events: 'What to tell',
  eventNames: {
    'report.analyzed': 'A report was looked at',
    'report.asked': 'We have a question about a report',
    'report.told': 'Somebody was told of a report',
    'report.answered': 'An abuse desk answered',
    'report.retracted': 'A report was taken back',
    'webhook.test': 'A test',
  },
  states: {
    enabled: 'On',
    disabled: 'Off',
    failed: 'Stopped: for days nothing was taken there',
  },
  failing: 'It has not taken what we sent since',
  pausedUntil: 'We try again at',
  secretShown: 'This is its secret. Copy it now: it will not be shown again.',
  add: 'Add a webhook',
  addSubmit: 'Add',
  renew: 'Make a new secret',
  renewHelp: 'After a new secret the old one still signs for a day.',
  disable: 'Turn off',
  enable: 'Turn on',
  remove: 'Remove',
  test: 'Send a test',
  of: (action: string, address: string) => `${action}: ${address}`,
  done: {
    removed: 'The webhook is gone.',
    changed: 'Saved.',
    tested: 'A test is on its way. Load this page again in a moment to see how it went.',
  },
  log: 'What we sent last',
  logNone: 'Nothing was sent in the last week.',
  when: 'When',
  what: 'What',
  how: 'How it went',
  tries: 'Attempts',
  deliveryStates: {
    waiting: 'Waiting',
    delivered: 'Taken',
    'given-up': 'Given up',
    dropped: 'Not sent',
  },
  refusals: {
    address: 'We cannot send there. Give an https address of a public machine.',
    taken: 'You have a webhook with this address already.',
    full: 'You have as many webhooks as one can have.',
    events: 'Choose at least one thing to tell.',
    off: 'This webhook is off: turn it on first.',
    'too-often': 'That was tried often enough for now. Try again in an hour.',
    gone: 'This webhook is not there any more.',
  },
}
