import { accountEn, ownAccountEn } from './account.ts'
import { answersEn, consumersEn } from './feedback.ts'
import { helpEn } from './help.ts'
import { listsEn } from './lists.ts'
import {
  problemsEn,
  questionEn,
  reportEn,
  reportsEn,
  retractionEn,
  statisticsEn,
  uploadingEn,
} from './reports.ts'
import { privacyEn, relaysEn, settingsEn, webhooksEn } from './settings.ts'
import { adviceEn, eventsEn, storyEn, toldEn, walkEn } from './story.ts'

/** All texts of the public pages, in English. Other catalogs must have the same type. */
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
  report: reportEn,
  uploading: uploadingEn,
  help: helpEn,
  sent: {
    title: 'Your report',
    recorded: 'Your report has been recorded',
    before: 'Your report was recorded before: there is nothing new',
    partly: 'Some messages were not recorded: see below.',
    none: 'Nothing could be recorded',
    results: 'What became of each message',
    pasted: 'Pasted message',
    taken: 'recorded',
    repeated: 'you had reported this message before',
    changed: 'you had reported this message differently before: what you say now counts',
    refused: 'not recorded',
    follow: 'Follow this report',
    another: 'Report another message',
  },
  reports: reportsEn,
  states: {
    received: 'Being looked at',
    analyzed: 'Looked at',
    forwarded: 'Passed on',
    kept: 'Kept for the record',
    retracted: 'Taken back',
    failed: 'Stuck: we are on it',
  },
  story: storyEn,
  retraction: retractionEn,
  statistics: statisticsEn,
  walk: walkEn,
  question: questionEn,
  relays: relaysEn,
  events: eventsEn,
  problems: problemsEn,
  advice: adviceEn,
  lists: listsEn,
  answers: answersEn,
  settings: settingsEn,
  webhooks: webhooksEn,
  account: accountEn,
  ownAccount: ownAccountEn,
  privacy: privacyEn,
  consumers: consumersEn,
  told: toldEn,
  error: { title: 'That did not work', home: 'Back to the start' },
}

/** The type of every catalog. */
export type Words = typeof en
