import type { AccountLetterWords } from './account-words.ts'

const notYou =
  'Si vous n’avez rien demandé, ne faites rien\u00a0: sans ce lien, il ne se passe rien.'
const wasItYou =
  'Si ce n’était pas vous, quelqu’un d’autre a votre mot de passe\u00a0: changez-le tout de ' +
  'suite ' +
  'sur la page ci-dessus, par «\u00a0Mot de passe oublié\u00a0?\u00a0».'

/** Letters about accounts, in French. */
export const accountLettersFr: AccountLetterWords = {
  greeting: 'Bonjour,',
  letters: {
    confirm: {
      subject: 'Confirmez votre adresse',
      before: [
        'quelqu’un, sans doute vous, veut créer un compte Signalpost avec cette adresse. Pour ' +
          'continuer, ouvrez cette page et choisissez un mot de passe\u00a0:',
      ],
      after: ['Le lien sert une seule fois, pendant 48 heures.', notYou],
    },
    exists: {
      subject: 'Vous avez déjà un compte',
      before: [
        'quelqu’un, sans doute vous, a voulu créer un compte Signalpost avec cette adresse. Vous ' +
          'en avez déjà un\u00a0: connectez-vous. Si vous avez oublié votre mot de passe, ' +
          'choisissez-en un nouveau ici\u00a0:',
      ],
      after: ['Le lien sert une seule fois, pendant une heure.', notYou],
    },
    reset: {
      subject: 'Choisissez un nouveau mot de passe',
      before: [
        'quelqu’un, sans doute vous, veut changer le mot de passe de votre compte ' +
          'Signalpost. Pour ' +
          'cela, ouvrez cette page\u00a0:',
      ],
      after: ['Le lien sert une seule fois, pendant une heure.', notYou],
    },
    'no-account': {
      subject: 'Aucun compte n’a cette adresse',
      before: [
        'quelqu’un, sans doute vous, a voulu changer un mot de passe Signalpost. Aucun ' +
          'compte n’a ' +
          'cette adresse\u00a0; le vôtre en a peut-être une autre. Voici la page\u00a0:',
      ],
      after: ['Si vous n’avez rien demandé, ne faites rien.'],
    },
    disabled: {
      subject: 'Votre compte est fermé',
      before: [
        'quelqu’un, sans doute vous, a voulu se servir de votre compte Signalpost. Ses ' +
          'responsables l’ont fermé. Cette page dit comment les joindre\u00a0:',
      ],
      after: ['Si vous n’avez rien demandé, ne faites rien.'],
    },
    move: {
      subject: 'Confirmez votre nouvelle adresse',
      before: [
        'vous, ou quelqu’un en votre nom, veut désormais utiliser cette adresse pour un compte ' +
          'Signalpost. Pour confirmer, connectez-vous comme avant et ouvrez cette page\u00a0:',
      ],
      after: ['Le lien sert une seule fois, pendant 48 heures.', notYou],
    },
    moved: {
      subject: 'Votre compte a maintenant une autre adresse',
      before: [
        'votre compte Signalpost a désormais une autre adresse, à laquelle nous écrirons. ' +
          'Ceci est ' +
          'le dernier courriel à cette adresse-ci.',
      ],
      after: [
        'Si ce n’était pas vous, quelqu’un d’autre est dans votre compte\u00a0: écrivez aux ' +
          'responsables, que la page ci-dessus nomme.',
      ],
    },
    'password-changed': {
      subject: 'Votre mot de passe a été changé',
      before: [
        'le mot de passe de votre compte Signalpost vient d’être changé, et tous les autres ' +
          'navigateurs sont déconnectés.',
      ],
      after: [wasItYou],
    },
    'second-step-on': {
      subject: 'La connexion demande maintenant un code',
      before: [
        'désormais, la connexion à votre compte Signalpost demande un code de votre appareil, en ' +
          'plus du mot de passe. Gardez les codes de secours là où vous les trouverez sans lui.',
      ],
      after: [wasItYou],
    },
    'second-step-off': {
      subject: 'La connexion ne demande plus de code',
      before: ['votre mot de passe seul ouvre de nouveau votre compte Signalpost, sans code.'],
      after: [wasItYou],
    },
  },
}
