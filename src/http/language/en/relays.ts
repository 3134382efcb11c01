import { plural } from '../plural.ts'

/** What the page of mail servers says, in English. */
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
