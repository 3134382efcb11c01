import { number } from '../plural.ts'

/** What the drawn way of a message says, in English. */
export const walkEn = {
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
  line: (index: number) => `Received line ${number('en', index + 1)}`,
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
  percent: (percent: number) => `${number('en', percent)}%`,
  why: 'Why we think so:',
  behind: (name: string) => `Behind it, according to ${name}:`,
  isSubmitter: 'This is the machine from which the message was submitted.',
  border: 'Strangers begin here.',
  borderHelp: 'Below this line anybody may have written anything.',
}
