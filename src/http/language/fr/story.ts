import type { storyEn } from '../en/story.ts'
import { plural } from '../plural.ts'

/** What the story of a report says, in French. */
export const storyFr: typeof storyEn = {
  title: 'Ce qu’est devenu votre signalement',
  back: 'Tous mes signalements',
  from: 'Il dit venir de',
  kind: 'Vous l’avez signalé comme',
  comment: 'Votre commentaire',
  whatHappened: 'Tout ce qui s’est passé, étape par étape',
  whereFrom: 'D’où il vient',
  waiting: 'Nous examinons ce message. Revenez dans un instant.',
  noOrigin: 'Nous n’avons pas pu établir avec certitude d’où vient ce message.',
  origin: (ip) => `La machine ${ip} a remis ce message à votre fournisseur de messagerie.`,
  network: (name) => `Elle appartient au réseau ${name}.`,
  path: 'Le chemin du message',
  pathHelp:
    'De votre boîte vers l’extérieur\u00a0: chaque machine se trouve sous celle qui dit avoir ' +
    'reçu d’elle le message.',
  found: 'Ce que nous avons trouvé',
  verdicts: {
    spam: 'Nous le tenons pour un spam.',
    phishing:
      'Nous le tenons pour un hameçonnage\u00a0: ne suivez pas ses liens, ' +
      'ne donnez aucun mot de passe.',
    malware:
      'Nous le tenons pour un logiciel malveillant\u00a0: n’ouvrez pas ses fichiers ' +
      'et ne suivez pas ses liens.',
    marketing: 'Nous le tenons pour une publicité dont vous pouvez vous désabonner.',
    legitimate: 'Ce n’est pas un spam.',
    undecided: 'Nous ne pouvons pas dire ce que c’est.',
  },
  others: 'Combien d’autres ont signalé le même',
  otherPeople: (atLeast) =>
    atLeast === undefined
      ? 'Moins de cinq autres personnes ont signalé ce message pour l’instant.'
      : plural('fr', atLeast, {
          one: 'Au moins # autre personne l’a aussi signalé.',
          many: 'Au moins # d’autres personnes l’ont aussi signalé.',
          other: 'Au moins # autres personnes l’ont aussi signalé.',
        }),
  sameReports: (first, last) =>
    first === last
      ? `Il a toujours été signalé le ${first}.`
      : `Il a été signalé d’abord le ${first} et en dernier le ${last}.`,
  links: 'Adresses web qu’il contient',
  attachments: 'Fichiers joints',
  told: 'Qui a été prévenu',
  toldNobody: 'Personne n’a été prévenu.',
  notYet: 'Personne n’a encore été prévenu.',
  feedback: {
    waiting: 'un rapport partira bientôt',
    merged: 'signalé avec d’autres de la même campagne',
    queued: 'un rapport va partir',
    held: 'un rapport est prêt\u00a0; l’exploitant n’a pas activé l’envoi',
    sent: 'un rapport a été envoyé',
    bounced: 'un rapport a été envoyé, mais il est revenu',
    refused: 'notre propre serveur de messagerie a refusé le rapport\u00a0; il peut être renvoyé',
    withdrawn: 'le rapport a été rappelé avant son départ',
  },
  source: 'Télécharger le message d’origine',
  corrections: 'Correction à',
  correction: {
    waiting: 'partira bientôt',
    merged: 'envoyée avec d’autres',
    queued: 'va partir',
    held: 'est prête\u00a0; l’exploitant n’a pas activé l’envoi',
    sent: 'envoyée\u00a0: votre signalement a été retiré',
    bounced: 'envoyée, mais revenue',
    refused: 'refusée par notre propre serveur de messagerie\u00a0; elle peut être renvoyée',
    withdrawn: 'rappelée avant son départ',
  },
  noAnswers: 'Personne n’a répondu pour l’instant.',
  retract: 'Je me suis trompé',
  retractHelp:
    'Vous pouvez retirer ce signalement. Nous vous montrons d’abord ce qui se passe alors.',
}
