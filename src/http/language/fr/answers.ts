import type { answersEn } from '../en/answers.ts'

/** The same in French. */
export const answersFr: typeof answersEn = {
  title: 'Votre réponse à notre signalement',
  lead: 'Vous avez suivi un lien d’un signalement que nous vous avons envoyé.',
  about: 'Le signalement',
  number: 'Numéro',
  date: 'Envoyé',
  to: 'À',
  source: 'Adresse d’origine',
  network: 'Réseau',
  before: 'Déjà répondu',
  kinds: {
    resolved: {
      name: 'Le problème est traité',
      does:
        'Nous disons à la personne qui a signalé le message que vous avez traité le problème. ' +
        'Rien d’autre ne change.',
      submit: 'Dire que c’est traité',
      done: 'Merci. La personne qui a signalé le message peut lire que vous l’avez traité.',
    },
    'not-ours': {
      name: 'Ce n’est pas notre réseau',
      does:
        'Nous notons que vous ne répondez pas de cette adresse, ne vous écrivons plus au sujet ' +
        'de ce réseau et cherchons qui en répond.',
      submit: 'Dire que ce n’est pas à nous',
      done: 'Merci, et pardon. Nous ne vous écrivons plus au sujet de ce réseau.',
    },
    wrong: {
      name: 'Le signalement est erroné',
      does:
        'Nous notons que vous contestez le signalement. Nos opérateurs et la personne qui a ' +
        'signalé le message peuvent lire cela et vos raisons.',
      submit: 'Dire que c’est une erreur',
      done: 'Merci. C’est noté, avec vos raisons.',
    },
    stop: {
      name: 'Arrêter ces signalements',
      does:
        'Dès maintenant, aucun signalement n’est envoyé à votre adresse. Ce qui attend d’être ' +
        'envoyé est rappelé.',
      submit: 'Arrêter tous les signalements',
      done: 'C’est fait. Aucun signalement n’est plus envoyé à votre adresse.',
    },
  },
  said: 'Quelque chose à ajouter\u00a0? (si vous voulez)',
  saidHelp:
    'Au plus 2\u00a0000 caractères. Nos opérateurs et la personne qui a signalé le message ' +
    'peuvent les lire.',
  repeated: 'Vous l’aviez déjà dit. Rien n’a changé.',
  others: 'Autre chose à dire\u00a0?',
  gone: 'Ce lien n’est pas de nous, ou ce dont il parle n’est plus conservé.',
  events: {
    'desk-resolved': 'Le destinataire dit avoir traité le problème',
    'desk-not-ours': 'Le destinataire dit que cela ne le concerne pas',
    'desk-wrong': 'Le destinataire dit que le signalement est erroné',
    'desk-stop': 'Le destinataire ne veut plus de signalements',
  },
  story: {
    title: 'Ce que disent les destinataires',
    says: (name: string) => `Le destinataire chez ${name} dit\u00a0:`,
    answers: {
      resolved: 'le problème est traité',
      'not-ours': 'l’adresse n’est pas dans son réseau',
      wrong: 'le signalement est erroné',
      stop: 'il ne veut plus de signalements',
    },
    words: 'En ses propres mots (écrits par un inconnu, pas par nous)\u00a0:',
  },
}
