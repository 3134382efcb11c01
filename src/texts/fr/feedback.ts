import type { answersEn, ConsumerWords } from '../en/feedback.ts'

/** Texts of the pages for consumers of feedback reports, in French. */
export const consumersFr: ConsumerWords = {
  enroll: {
    title: 'Recevoir nos signalements',
    link: 'Pour les services abuse',
    lead:
      'Nous prévenons les services abuse, les fournisseurs et les expéditeurs du spam, de ' +
      'l’hameçonnage et des logiciels malveillants qu’on nous signale. Dites à quelle adresse et ' +
      'à quel sujet\u00a0; une lettre y part, et qui la lit confirme.',
    address: 'Adresse abuse',
    addressHelp: 'Les signalements vont à cette adresse, et la lettre aussi.',
    scopes: 'Ce dont vous répondez (facultatif)',
    scopesHelp:
      'Blocs CIDR ou plages, numéros d’AS (AS64496), et domaines dont le courrier signé est à ' +
      'vous. Les blocs pour lesquels les registres nomment cette adresse valent aussitôt\u00a0; ' +
      'une personne regarde le reste.',
    submit: 'Envoyer la lettre',
    faults: {
      address: 'Ce n’est pas une adresse électronique.',
      scopes: (words) => `Ni un bloc, ni un numéro d’AS, ni un domaine\u00a0: ${words}`,
      telling: 'Choisissez comment être prévenus, et au moins une sorte.',
    },
    often: 'Il y a eu trop de demandes de votre part récemment. Réessayez demain.',
  },
  telling: {
    format: 'Format',
    formats: { arf: 'ARF (RFC 5965)', xarf: 'XARF (JSON)' },
    form: 'Du message',
    forms: { whole: 'En entier, expurgé', headers: 'L’en-tête seulement' },
    pace: 'Quand',
    paces: {
      'at-once': 'Chaque signalement aussitôt',
      campaign: 'Un par campagne et par heure',
      digest: 'Tous en un message par jour',
    },
    takes: 'Quelles sortes',
    topics: { spam: 'Spam', phishing: 'Hameçonnage', malware: 'Logiciels malveillants' },
  },
  sent: {
    title: 'Regardez le courrier',
    text:
      'Si le courrier de cette adresse est lu, une lettre avec un lien y sera dans quelques ' +
      'minutes. Ouvrez le lien dans les sept jours. Il part au plus une lettre par semaine et ' +
      'par adresse.',
  },
  confirm: {
    title: 'Confirmer',
    lead: (address) => `Les signalements iront à ${address}.`,
    scopes: 'Au sujet de',
    noScopes: 'ce que les tables et les registres disent être à vous',
    submit: 'Oui, envoyez-nous les signalements',
    no: 'Si vous n’en voulez pas, fermez cette page\u00a0: rien ne change.',
    over: 'Ce lien est trop ancien, ou a déjà servi.',
    overHelp: 'Demander une autre lettre.',
  },
  own: {
    title: 'Vos signalements',
    keep: 'Gardez l’adresse de cette page pour vous\u00a0: qui l’a peut tout changer.',
    address: 'Adresse',
    state: 'État',
    states: {
      found: 'Prévenue, comme contact d’un réseau',
      enrolled: 'Inscrite',
      paused: 'En pause',
      stopped: 'Arrêtée\u00a0: rien n’est envoyé',
    },
    until: 'jusqu’au',
    scopes: 'Vous êtes prévenus au sujet de',
    noScopes: 'Ce que les tables et les registres disent être à vous.',
    moreScopes: 'Pour en ajouter, demandez-le comme la première fois.',
    how: 'Comment vous êtes prévenus',
    save: 'Garder',
    pause: 'Faire une pause',
    pauses: {
      1: 'Un jour',
      7: 'Une semaine',
      30: 'Un mois',
      0: 'Jusqu’à ce que vous y mettiez fin',
    },
    pauseFor: 'Combien de temps',
    resume: 'Reprendre',
    stop: 'Arrêter',
    stopHelp: 'Plus rien n’est envoyé, et ce qui attend est rappelé.',
    stopSure: 'Oui, arrêter tous les signalements',
    done: {
      enrolled: 'Vous êtes inscrits. Gardez l’adresse de cette page.',
      waiting: 'Vous êtes inscrits. Une personne regarde encore ce que vous avez demandé.',
      kept: 'C’est gardé, et vaut dès maintenant.',
      paused: 'Rien n’est envoyé pendant la pause.',
      resumed: 'Les signalements sont envoyés de nouveau.',
      stopped: 'Plus rien n’est envoyé.',
      refused: 'Cela n’a pas pu être fait. Écrivez-nous.',
    },
  },
}

/** Texts of the pages for answers from abuse desks, in French. */
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
