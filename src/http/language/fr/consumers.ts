import type { ConsumerWords } from '../en/consumers.ts'

/** The same in French. */
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
