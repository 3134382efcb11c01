/** What the pages say on which accounts are made and opened, in English. */
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
