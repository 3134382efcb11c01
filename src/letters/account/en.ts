import type { AccountLetterWords } from './account-words.ts'

const notYou = 'If you did not ask for this, do nothing: without this link nothing happens.'
const wasItYou =
  'If this was not you, somebody else has your password: set a new one at once on the page ' +
  'above, ' +
  'by “Forgotten your password?”.'

/** Letters about accounts, in English. */
export const accountLettersEn: AccountLetterWords = {
  greeting: 'Hello,',
  letters: {
    confirm: {
      subject: 'Please confirm your address',
      before: [
        'somebody, probably you, wants an account at Signalpost with this mail address. To ' +
          'go on, ' +
          'open this page and choose a password:',
      ],
      after: ['The link works for 48 hours, once.', notYou],
    },
    exists: {
      subject: 'You have an account already',
      before: [
        'somebody, probably you, wanted to make an account at Signalpost with this mail address. ' +
          'You have one already: just sign in. If you have forgotten your password, set a ' +
          'new one ' +
          'here:',
      ],
      after: ['The link works for one hour, once.', notYou],
    },
    reset: {
      subject: 'Set a new password',
      before: [
        'somebody, probably you, wants to set a new password for your account at Signalpost. To ' +
          'do so, open this page:',
      ],
      after: ['The link works for one hour, once.', notYou],
    },
    'no-account': {
      subject: 'There is no account with this address',
      before: [
        'somebody, probably you, wanted to set a new password at Signalpost. There is no account ' +
          'with this mail address; perhaps yours has another one. The page is:',
      ],
      after: ['If you did not ask for this, do nothing.'],
    },
    disabled: {
      subject: 'Your account is closed',
      before: [
        'somebody, probably you, wanted to use your account at Signalpost. Its operators have ' +
          'closed it. How to reach them stands here:',
      ],
      after: ['If you did not ask for this, do nothing.'],
    },
    move: {
      subject: 'Please confirm your new address',
      before: [
        'you, or somebody in your name, wants to use this mail address for an account at ' +
          'Signalpost from now on. To confirm, sign in as before and open this page:',
      ],
      after: ['The link works for 48 hours, once.', notYou],
    },
    moved: {
      subject: 'Your account has another address now',
      before: [
        'your account at Signalpost has another mail address from now on, and we will write to ' +
          'that one. This is the last mail to this address.',
      ],
      after: [
        'If this was not you, somebody else is in your account: write to the operators, whom the ' +
          'page above names.',
      ],
    },
    'password-changed': {
      subject: 'Your password has been changed',
      before: [
        'the password of your account at Signalpost has just been changed, and all other ' +
          'browsers ' +
          'are signed out.',
      ],
      after: [wasItYou],
    },
    'second-step-on': {
      subject: 'Signing in now needs a code',
      before: [
        'from now on, signing in to your account at Signalpost needs a code of your device ' +
          'beside ' +
          'the password. Keep the recovery codes where you find them without the device.',
      ],
      after: [wasItYou],
    },
    'second-step-off': {
      subject: 'Signing in needs no code any more',
      before: ['your password alone opens your account at Signalpost again, without a code.'],
      after: [wasItYou],
    },
  },
}
