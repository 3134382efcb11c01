import { plural } from '../plural.ts'

/** What the question about a way says, in English. */
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
