/** Texts of the pages for sign-up and sign-in, in English. */
export const accountEn = {
  email: 'Mail address',
  password: 'Password',
  newPassword: 'New password',
  passwordHint: 'At least 10 characters. A few words that do not belong together are a good one.',
  passwordFaults: {
    short: 'This password is too short: it needs at least 10 characters.',
    long: 'This password is too long.',
    common: 'Many people use this password, so it is among the first that others try.',
    'own-name': 'This password is your address or our name, which others try first.',
  },
  badEmail: 'This is not a mail address.',
  wrongPassword: 'The password is not right.',
  code: 'Code',
  signUp: {
    title: 'Make an account',
    link: 'Make an account',
    lead:
      'With an account you can report messages, follow what becomes of them, and take them ' +
      'back.',
    language: 'Language of our mail to you',
    consentTitle: 'What you agree to',
    consent: [
      'We keep your address, your reports and the messages in them, for {days} days at most.',
      'Who can stop a sender is told of a message: an abuse desk, never with your address in it.',
      'You can take everything with you, and erase it, at any time.',
    ],
    more: 'All about what we keep',
    agree: 'I agree',
    agreeMissing: 'We can make an account only for who agrees.',
    submit: 'Send me a link',
    have: 'I have an account',
    closed: 'Accounts are made by the operators of this site. Please ask them for one.',
  },
  written: {
    title: 'Look into your mailbox',
    lead: 'We have written to {address}. Open the link in that mail to go on.',
    wait: 'Nothing there after some minutes? Look among the unwanted mail, or try again.',
  },
  confirm: {
    title: 'Choose a password',
    lead: 'Your address is {address}. With a password your account is ready.',
    submit: 'Make my account',
  },
  badLink: {
    title: 'This link does not work any more',
    lead: 'Links in our mails work once and for a short time, and a newer one ends the older.',
    again: 'Ask for a new one',
  },
  forgotten: {
    title: 'Forgotten your password?',
    link: 'Forgotten your password?',
    lead: 'Say your address, and we send you a link with which you set a new password.',
    submit: 'Send me a link',
  },
  reset: {
    title: 'Set a new password',
    lead: 'For the account {address}. All browsers are signed out.',
    submit: 'Set the password',
    done: 'Your password is set. Sign in with it.',
  },
  move: {
    title: 'Use this address from now on',
    lead: 'Your account will have the address {address}.',
    submit: 'Use this address',
    otherAccount: 'Sign in with the account that is to have this address, and open the link again.',
    taken: 'Another account has this address.',
  },
  secondStep: {
    title: 'Enter your code',
    lead: 'Your device shows six digits. If you have lost it, enter one of your recovery codes.',
    submit: 'Go on',
    wrong: 'The code is not right, or was used before.',
    over: 'That took too long, or was wrong too often. Please sign in anew.',
  },
}

/** Texts of the pages for managing one's account, in English. */
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
