import { answersEn } from './answers-en.ts'
import { consumersEn } from './consumers-en.ts'
import { adviceEn } from './advice-en.ts'
import { listsEn } from './lists-en.ts'
import { problemsEn } from './problems-en.ts'
import { settingsEn } from './settings-en.ts'
import { toldEn } from './told-en.ts'

const { format: n } = new Intl.NumberFormat('en-GB')

/** Everything the public pages say, in English: the catalog the others are held against. */
export const en = {
  languageName: 'English',
  skip: 'Skip to the content',
  nav: {
    label: 'Main',
    report: 'Report a message',
    reports: 'My reports',
    relays: 'My mail servers',
    admin: 'Administration',
    signIn: 'Sign in',
    signOut: 'Sign out',
    signedInAs: 'Signed in as',
    languages: 'Language',
  },
  home: {
    title: 'Report spam, and those who can stop it are told',
    lead:
      'Send us the spam you receive. Signalpost works out which machine really handed it to your ' +
      'mail provider, and tells the network that machine belongs to.',
    steps: [
      ['You report', 'Paste the source of a message, upload it, or let your mail program do it.'],
      [
        'We find the origin',
        'Most lines of a message can be forged. We keep to those that cannot, and say why.',
      ],
      [
        'The network is told',
        'Its abuse desk gets a report that machines read, without your name in it.',
      ],
    ],
    promise: 'You can follow each report, see what was found, and take it back.',
  },
  signIn: {
    title: 'Sign in',
    email: 'Mail address',
    password: 'Password',
    remember: 'Stay signed in on this device',
    submit: 'Sign in',
    wrong: 'The address or the password is not right.',
    needed: 'Please sign in first.',
  },
  report: {
    title: 'Report a message',
    lead: 'We need the complete source of the message, with all its header lines.',
    paste: 'Source of the message',
    pasteHelp:
      'In your mail program it is called “show source”, “show original” or “view headers”.',
    files: 'Or message files (.eml), one or several',
    filesHelp: (megabytes: number) => `At most ${megabytes} MB each.`,
    kind: 'What is it?',
    kinds: { spam: 'Spam', phishing: 'Phishing', 'not-spam': 'Not spam' },
    kindHelp: {
      spam: 'advertising or other mail you never asked for',
      phishing: 'somebody poses as a bank, a shop or a colleague',
      'not-spam': 'you want this mail, and others took it for spam',
    },
    comment: 'Comment (you need not write one)',
    submit: 'Report',
    nothing: 'Paste the source of a message, or choose a file.',
  },
  sent: {
    title: 'Your report',
    recorded: 'Your report has been recorded',
    none: 'Nothing could be recorded',
    results: 'What became of each message',
    pasted: 'Pasted message',
    taken: 'recorded',
    repeat: 'you had reported this message before',
    refused: 'not recorded',
    follow: 'Follow this report',
    another: 'Report another message',
  },
  reports: {
    title: 'My reports',
    none: 'You have not reported anything yet.',
    subject: 'Subject',
    received: 'Reported',
    state: 'Where it stands',
    older: 'Older reports',
    newest: 'Back to the newest',
    noSubject: '(no subject)',
    asks: 'We have a question',
  },
  states: {
    received: 'Being looked at',
    analyzed: 'Looked at',
    forwarded: 'Passed on',
    kept: 'Kept for the record',
    retracted: 'Taken back',
    failed: 'Stuck: we are on it',
  },
  story: {
    back: 'All my reports',
    from: 'It says it is from',
    kind: 'You reported it as',
    whatHappened: 'What happened',
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
        : `At least ${n(atLeast)} other people reported the same message.`,
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
      refused: 'their mail server refused the report',
      withdrawn: 'the report was called back before it left',
    },
    source: 'Download the original message',
    retract: 'Take this report back',
    retractHelp: 'If you were wrong: it will not count, and what has not left will not leave.',
  },
  walk: {
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
    line: (index: number) => `Received line ${index}`,
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
    percent: (percent: number) => `${percent} %`,
    why: 'Why we think so:',
    behind: (name: string) => `Behind it, according to ${name}:`,
    isSubmitter: 'This is the machine from which the message was submitted.',
    border: 'Strangers begin here.',
    borderHelp: 'Below this line anybody may have written anything.',
  },
  question: {
    title: 'Which of these machines belongs to your mail provider (or to you)?',
    help:
      'We are not sure enough to tell anybody. Choose every machine that is yours, from the ' +
      'first on: the message must have come through all of them to reach you. Your answer also ' +
      'helps with your next reports.',
    legend: 'Machines, the nearest to your mailbox first',
    seen: 'handed the message over',
    claimed: 'is named further down; a stranger may have invented it',
    callsItself: 'calls itself',
    internal:
      'Its address is of an internal network: it is yours only if no gateway stands between that ' +
      'machine and the Internet.',
    mine: 'The chosen ones are mine',
    none: 'None of these',
    unknown: 'I do not know',
    again: 'You did not know. You can still tell us:',
    nothing: 'Choose at least one machine, or one of the other answers.',
    gap: (picked: string, between: string) =>
      `${between} stands between your mailbox and ${picked}: choose both, or neither.`,
    full: (most: number) => `You have named ${most} mail servers, and more cannot be kept.`,
  },
  relays: {
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
      learned: (reports: number) => `Learned from ${reports} of your reports`,
      refused: 'Not yours: you said so',
    },
    proposal: (name: string) => `All your mail seems to come through ${name}. Is it yours?`,
    evidence: (reports: number) => `${reports} of your latest reports came through it.`,
    yes: 'Yes, it is mine',
    no: 'Not mine',
    remove: 'Remove',
    removeOf: (cidr: string) => `Remove ${cidr}`,
    refuseOf: (cidr: string) => `${cidr} is not mine`,
    add: 'Add a mail server',
    addHelp:
      'An address, or a block such as 192.0.2.0/24. An address of an internal network, such as ' +
      '10.0.0.5, only if no gateway stands between that machine and the Internet: otherwise ' +
      'strangers come from that address too.',
    addSubmit: 'Add',
    refusals: {
      unreadable: 'This is neither an address nor a block of addresses.',
      'too-wide': 'This block is too wide: at most /16, or /32 for IPv6.',
      loopback: 'Every machine calls itself by this address: it says nothing.',
      'link-local': 'This address means another machine on every cable: it says nothing.',
      reserved: 'No machine can have this address.',
    },
  },
  events: {
    received: 'You reported it',
    analyzed: 'We looked at it',
    'looked-up': 'We asked who answers for the network',
    held: 'Our report was made ready',
    sent: 'We passed it on',
    refused: 'Their mail server refused our report',
    bounced: 'Our report came back',
    retracted: 'You took it back',
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
  },
  problems: problemsEn,
  chart: {
    nothing: 'Nothing was counted in this time.',
    figures: 'The figures as a table',
    when: 'When (UTC)',
    highest: (value: string, when: string) => `The highest bar is ${value} (${when}).`,
  },
  advice: adviceEn,
  lists: listsEn,
  answers: answersEn,
  settings: settingsEn,
  consumers: consumersEn,
  told: toldEn,
  error: { title: 'That did not work', home: 'Back to the start' },
}

/** The form of every catalog. */
export type Words = typeof en
