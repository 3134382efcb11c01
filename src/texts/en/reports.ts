import { number, plural } from '../wording.ts'

/** Texts of the question about the relays of a message, in English. */
export const questionEn = {
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
    'Its address is internal: it is yours only if no gateway or tunnel stands between that ' +
    'machine and the Internet.',
  mine: 'The chosen ones are mine',
  none: 'None of these',
  unknown: 'I do not know',
  again: 'You did not know. You can still tell us:',
  nothing: 'Choose at least one machine, or one of the other answers.',
  gap: (picked: string, between: string) =>
    `${between} stands between your mailbox and ${picked}: choose both, or neither.`,
  full: (most: number) =>
    plural('en', most, {
      one: 'You have named # mail server, and more cannot be kept.',
      other: 'You have named # mail servers, and more cannot be kept.',
    }),
}

/** Texts of the confirmation before a report is retracted, in English. */
export const retractionEn = {
  title: 'Take this report back?',
  back: 'Back to the report',
  lead: 'If you were wrong about this message, say so. That is no shame, and it helps:',
  what: 'What happens then',
  counters: 'The message no longer counts as reported by you, here and in its campaign.',
  reputations: 'What it made us think of the sender and the network is taken back.',
  told: (told: number) =>
    plural('en', told, {
      one: 'The desk that was told gets a correction.',
      other: 'The # desks that were told get a correction.',
    }),
  waiting: 'What has not left yet will not leave.',
  nobody: 'Nobody was told, so nobody has to be told of it.',
  yours: 'The report stays in your list, marked as taken back.',
  forGood: 'To undo this, report the message again.',
  submit: 'I was wrong: take it back',
  cancel: 'No, leave it as it is',
}

/** Texts of the report form, in English. */
export const reportEn = {
  title: 'Report a message',
  lead: 'We need the complete source of the message, with all its header lines.',
  paste: 'Source of the message',
  pasteHelp: 'In your mail program it is called “show source”, “show original” or “view headers”.',
  files: 'Or message files, one or several',
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
}

/** Texts of the list of one's own reports, in English. */
export const reportsEn = {
  title: 'My reports',
  none: 'You have not reported anything yet.',
  nothing: 'None of your reports matches. Try other words, or a longer time.',
  nothingYet: (day: string) =>
    `None of your reports back to ${day} matches. There are older ones: look further.`,
  lookedAtTo: (day: string) => `We have looked back to ${day} so far.`,
  end: 'There is nothing further this way.',
  subject: 'Subject',
  received: 'Reported',
  kind: 'Reported as',
  state: 'What became of it',
  find: 'Find a report',
  words: 'Subject or author',
  outcome: 'What became of it',
  any: 'all',
  outcomes: {
    asking: 'we have a question',
    waiting: 'not finished yet',
    told: 'somebody was told',
    answered: 'somebody answered',
    kept: 'nobody was told',
    'taken-back': 'taken back',
  },
  from: 'From (day)',
  to: 'To (day)',
  show: 'Show',
  showAll: 'Show all again',
  told: (n: number) => plural('en', n, { one: '# desk was told.', other: '# desks were told.' }),
  toldNobody: 'Nobody was told.',
  answers: {
    resolved: 'It has been dealt with.',
    'not-ours': 'They say it is not their network.',
    wrong: 'They dispute the report.',
    stop: 'They want no more reports.',
  },
  pages: 'More reports',
  older: 'Older reports',
  newer: 'Newer reports',
  lookFurther: 'Look further back',
  newest: 'Back to the newest',
  noSubject: '(no subject)',
  asks: 'We have a question',
}

const n = (value: number) => number('en', value)

/** Texts of the page with one's own statistics, in English. */
export const statisticsEn = {
  title: 'My statistics',
  lead:
    'What your reports come to. Days are days in UTC. What happened in the last minutes may be ' +
    'missing, on days with very many reports up to an hour.',
  none: 'There is nothing to count yet.',
  howMany: 'How much you reported',
  charts: { day: 'The last 30 days, by day', week: 'The last 12 months, by week' },
  whatBecame: 'What became of it',
  periods: ['The last 30 days', 'The last 12 months'] as [string, string],
  reports: (total: number) => plural('en', total, { one: '# report', other: '# reports' }),
  became: {
    told: 'Somebody was told',
    kept: 'Nobody was told',
    asked: 'We have a question',
    waiting: 'Not finished yet',
    retracted: 'You took it back',
  },
  mails: (mails: number) =>
    plural('en', mails, {
      one: 'In all, # report of ours reached an abuse desk.',
      other: 'In all, # reports of ours reached abuse desks.',
    }),
  answered: (answered: number, told: number) =>
    `Of the ${n(told)} that somebody was told, ${n(answered)} were answered.`,
  whereFrom: 'Where it came from',
  whereFromHelp: 'In the last 30 days, where we could tell, without what you took back.',
  noOrigins: 'In the last 30 days we could not tell of any of them.',
  countries: 'Countries of the networks',
  networks: 'Networks',
  together: 'How many others reported the same',
  campaigns: (large: number, latest: number, reportsMin: number) =>
    `Of your latest ${n(latest)} reports, ${n(large)} belong to campaigns that were reported at ` +
    `least ${n(reportsMin)} times.`,
}

/** Texts of the report form about files and the results of their upload, in English. */
export const uploadingEn = {
  filesHelp: (file: number, upload: number, messages: number) =>
    `Saved messages (.eml, .emlx), Outlook files (.msg), mailboxes (.mbox), or zip archives of ` +
    `these. At most ${number('en', file)} MB each, ${number('en', upload)} MB and ` +
    plural('en', messages, { one: '# message in all.', other: '# messages in all.' }),
  findSource: 'How do I find the source in my mail program?',
  losesFiles: 'Files cannot be kept by a form: please choose them again.',
  drop: 'You can also drop files here.',
  chosen: 'Chosen files',
  remove: 'Remove {name}',
  fileTooBig: '{name} is bigger than {limit} MB and was left out.',
  allTooBig:
    'Together the files are bigger than {limit} MB. Please remove some and report them ' +
    'after these.',
  sending: 'Sending: {percent}%',
  reading: 'Sent. We are reading the messages.',
  cancel: 'Stop sending',
  stopped: 'Stopped. Nothing was reported.',
  failed: 'The connection broke off. Please try again.',
  progress: 'Progress of sending',
  recorded: 'Recorded',
  changed: 'Changed',
  repeated: 'Reported before',
  refused: 'Not recorded',
  rebuilt:
    'Outlook does not keep a message as it was sent, so we put it together again. ' +
    'Its signatures can prove nothing.',
  howTo: 'How to save a message with its header lines',
}

/** Error messages, in English. */
export const problemsEn = {
  'bad-request': 'The request cannot be understood.',
  'not-a-message': 'This is not the source of a mail message: its header lines are missing.',
  'bad-base64': 'The message is damaged.',
  'no-message': 'There is no message in it.',
  'sign-in-needed': 'Please sign in first.',
  'not-allowed': 'This account may not do that.',
  'stale-form': 'This form is from before you signed in, or from elsewhere. Load the page again.',
  'not-found': 'There is nothing here.',
  'wrong-method': 'This address cannot do that.',
  'too-slow': 'The request took too long.',
  'too-big': 'It is too big.',
  'wrong-type': 'This kind of content is not taken.',
  'bad-field': 'Something in the form is not right.',
  'too-many-headers': 'It has too many header lines to be a real message.',
  'too-many-parts': 'It has too many parts to be a real message.',
  'nested-too-deep': 'It is nested too deep to be a real message.',
  'nothing-accepted': 'None of the messages could be recorded.',
  'key-used': 'This request was made before with another content.',
  'no-header':
    'This Outlook file does not hold the header lines with which the message was received, ' +
    'so nobody can tell where it came from.',
  'damaged-archive': 'It is damaged, or made in a way that we cannot read.',
  'encrypted-archive': 'It is locked with a password. Please pack it without one.',
  'nested-archive': 'It is an archive inside an archive. Please upload it by itself.',
  'too-many-messages': 'There are more messages in it than we take at once; the rest was left out.',
  'unpacks-too-big': 'It is too big when unpacked. Please send it in several parts.',
  'too-often': 'That was asked too often. Please try again later.',
  'header-too-big': 'The request is too big.',
  internal: 'Something failed on our side. Please try again.',
  unavailable: 'We cannot take this just now. Please try again in a minute.',
}
