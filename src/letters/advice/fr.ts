import type { AdviceWords } from './advice-words.ts'
import { deName } from './french-name.ts'

const days = new Intl.DateTimeFormat('fr', { dateStyle: 'long', timeZone: 'UTC' })

/** Letters of advice in French. */
export const fr: AdviceWords = {
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
