import type { AccountLetterWords, AdviceWords } from '../letters.ts'
import { deName } from '../wording.ts'

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

const days = new Intl.DateTimeFormat('fr', { dateStyle: 'long', timeZone: 'UTC' })

/** Letters with unsubscribe advice, in French. */
export const adviceLettersFr: AdviceWords = {
  day: (at) => days.format(at),
  subjectKnown: (name) => `Se désabonner des messages ${deName(name)}`,
  subjectCautious: (signer) => `À propos de l’envoi ${deName(signer)} que vous avez signalé`,
  hello: 'Bonjour,',
  reported: (subject, day) => `Le ${day}, vous avez signalé le message «\u00a0${subject}\u00a0».`,
  reportedUntitled: (day) => `Le ${day}, vous avez signalé un message sans objet.`,
  isKnown: (name) =>
    `Il s’agit d’un envoi ${deName(name)}. Vous pouvez vous désabonner\u00a0; voici ` +
    'comment le faire sans risque.',
  isCautious: (signer) =>
    `Il s’agit d’un envoi qui vient bien ${deName(signer)}, mais nous ne connaissons pas ` +
    'autrement cet expéditeur.',
  whyTitle: 'Pourquoi nous le pensons',
  whySignature: (domain) =>
    `Le message porte une signature numérique ${deName(domain)}. Nous l’avons vérifiée à ` +
    'l’arrivée de votre signalement, et elle est valable\u00a0: personne d’autre n’a pu la faire.',
  whyRange: (range, name) =>
    `Le message vient des adresses ${range}, depuis lesquelles seul ${name} envoie du courrier.`,
  cautiousTitle: 'Avant toute chose',
  cautious: (signer) => [
    `Demandez-vous si vous avez donné votre adresse à ${signer}\u00a0: pour une commande, un ` +
      'compte, un jeu-concours.',
    'Si vous vous en souvenez, vous pouvez vous désabonner de la manière indiquée plus bas.',
    'Sinon, ne cliquez pas et ne répondez pas\u00a0: cela montrerait seulement que votre adresse ' +
      'est lue. Marquez plutôt le message comme indésirable dans votre logiciel de messagerie.',
    'Dans tous les cas, ne saisissez aucun mot de passe et ne payez rien pour être retiré ' +
      'd’une liste.',
  ],
  howTitle: 'Comment se désabonner',
  inLanguage: { en: 'en anglais', fr: 'en français', ru: 'en russe' },
  said: (name) => `${name} indique\u00a0:`,
  byLink: (host) => `Par le lien que donne le message\u00a0; il mène à ${host}\u00a0:`,
  byMail: (address, subject) =>
    subject === undefined
      ? `Par un message à ${address}\u00a0; il peut être vide.`
      : `Par un message à ${address} avec l’objet «\u00a0${subject}\u00a0».`,
  byClick:
    'En un clic sur la page de votre signalement\u00a0: nous demandons alors à l’expéditeur, une ' +
    'seule fois et pour vous, de vous retirer de la liste.',
  byPage: 'Tout sur votre signalement\u00a0:',
  website: 'Site\u00a0:',
  noWay: (name) => `Le message n’indique aucun moyen sûr. Adressez-vous à ${name} sur son site.`,
  nextTitle: 'Et ensuite',
  next: [
    'Après un désabonnement, des messages peuvent encore arriver pendant quelques jours. S’il en ' +
      'vient toujours après deux semaines, signalez le prochain\u00a0: nous saurons alors que le ' +
      'désabonnement ne sert à rien.',
  ],
  nobodyAccused: 'Personne n’a été mis en cause à la suite de votre signalement.',
  networkTold: 'Le réseau d’où vient le message en a été informé, sans votre nom.',
  senderTold:
    'L’expéditeur demande à connaître les plaintes, et la vôtre lui est transmise\u00a0: sans ' +
    'votre nom ni votre adresse, mais ses propres codes peuvent lui dire à qui il avait écrit.',
  weekly: 'Nous vous écrivons au plus une fois par semaine au sujet du même expéditeur.',
  off: 'Si vous ne voulez plus recevoir de tels conseils\u00a0:',
}
