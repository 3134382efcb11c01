/** What the pages say on which people look after their account, in English. */
export const ownAccountEn = {
  title: 'Your account',
  lead: 'Who can open your account, and what we keep of you.',
  saved: 'Done.',
  nowPassword: 'Your password now',
  nowCode: 'Code of your device, or a recovery code',
  wrongProof: 'The password or the code is not right.',
  back: 'Back to the settings',
  password: {
    title: 'Password and address',
    lead: 'A new password signs out all other browsers.',
    heading: 'Change the password',
    submit: 'Change the password',
    done: 'Your password is changed, and all other browsers are signed out.',
    addressHeading: 'Change the address',
    address: 'Your address is {address}.',
    newAddress: 'New mail address',
    addressHint: 'We write to the new address; it counts once you open the link there.',
    addressSubmit: 'Send me a link',
    moved: 'Your account has its new address.',
  },
  secondStep: {
    title: 'Code when signing in',
    lead:
      'A second step: beside your password, a code that an app on your telephone shows. Whoever ' +
      'learns your password alone cannot sign in.',
    isOff: 'It is off.',
    isOn: 'It is on.',
    left: (count: number) => `Recovery codes left: ${count}.`,
    begin: 'Set it up',
    scan: 'Scan this picture with your app for codes, or type the secret into it:',
    picture: 'Picture for the app, with the secret that stands below it',
    then: 'Then enter the code that it shows:',
    turnOn: 'Switch it on',
    wrong: 'That code does not fit. Perhaps the clock of your telephone is wrong.',
    codesTitle: 'Your recovery codes',
    codes:
      'Each opens your account once, if you lose your device. Write them down now: they are not ' +
      'shown again.',
    turnOff: 'Switch it off',
    renew: 'Make new recovery codes',
    apps: 'Programs that reported with your password need a token from now on.',
  },
  tokens: {
    title: 'Tokens for programs',
    lead:
      'A token lets a program act for you without your password. Each may only do what you allow ' +
      'it, and you can end it at any time.',
    none: 'You have no tokens.',
    name: 'Name',
    nameHint: 'Such as the program that will use it.',
    may: 'It may',
    scopes: {
      report: 'report messages',
      read: 'read your reports',
      retract: 'take reports back',
      account: 'change your account, your webhooks and your mail servers',
      admin: 'do what administrators may',
    },
    made: 'Made',
    used: 'Last used',
    never: 'never',
    end: 'End it',
    endNamed: (name: string) => `End it: the token “${name}”`,
    make: 'Make a token',
    shown: 'This is your new token. It is shown only now:',
    ended: 'The token is ended. It may be a few seconds until everybody knows.',
    noName: 'Give it a name.',
    noScope: 'Allow it at least one thing.',
    full: 'You have as many tokens as there can be. End one first.',
  },
  sessions: {
    title: 'Where you are signed in',
    lead: 'Each line is a browser. End those that you do not know, and change your password.',
    here: 'this browser',
    opened: 'Since',
    seen: 'Last seen',
    device: 'Browser',
    unknown: 'Unknown browser',
    on: (browser: string, system: string) => `${browser} on ${system}`,
    end: 'Sign it out',
    endNamed: (device: string) => `Sign it out: ${device}`,
    endOthers: 'Sign out all others',
    ended: 'Signed out.',
  },
  export: {
    title: 'Take everything with you',
    lead:
      'An archive (ZIP) of all that we keep of you: your account, your settings, your ' +
      'reports with ' +
      'their messages, what we found and whom we told, and all mail between us. It may be large.',
    submit: 'Download everything',
  },
  erase: {
    title: 'Erase your account',
    lead: 'What do you want to happen to the reports you made?',
    keep: 'Keep the reports, without me',
    keepHint:
      'They go on protecting others. Your address, your comments and the messages themselves are ' +
      'erased; what was found stays, under nobody’s name.',
    remove: 'Remove the reports too',
    removeHint:
      'Each is taken back as if you had been wrong: it counts no more, and whoever was told ' +
      'is told ' +
      'so. Then it is erased with all that belongs to it.',
    both:
      'Either way your account ends at once, and there is no way back. Consider downloading ' +
      'everything first.',
    submit: 'Erase my account for good',
    noChoice: 'Choose one of the two.',
    lastAdmin: 'You are the last administrator. Make somebody else one first.',
    progressTitle: 'Your account is being erased',
    progress: (done: string) => `Reports done so far: ${done}.`,
    waiting:
      'Some reports have to be taken back from those who were told of them first. This goes ' +
      'on by ' +
      'itself, and can take some days.',
    safe: 'You need not wait. This page stays at its address if you want to look again.',
    doneTitle: 'Your account is erased',
    done: 'Nothing of you is left here. In backups it fades with them.',
  },
}
