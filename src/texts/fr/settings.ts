import type { privacyEn, relaysEn, settingsEn, webhooksEn } from '../en/settings.ts'
import { plural } from '../wording.ts'

/** Texts of the privacy page, in French. */
export const privacyFr: typeof privacyEn = {
  title: 'Ce que nous gardons, et qui nous informons',
  link: 'Vie privée',
  version: 'Version',
  operator: 'Qui tient ce site',
  nobody: 'Le responsable de ce site n’a pas encore dit qui il est.',
  contact: 'Comment le joindre',
  sections: [
    {
      title: 'Ce que nous gardons',
      lines: [
        'Votre adresse, votre mot de passe sous une forme que personne ne peut relire, et ' +
          'vos réglages.',
        'Les messages que vous signalez, quand, ce que vous en avez dit et ce que nous avons ' +
          'trouvé.',
        'Vos connexions\u00a0: quel navigateur, depuis quand, vu dernièrement. Vos ' +
          'jetons\u00a0: leurs ' +
          'noms, ce qu’ils peuvent, leur dernier usage.',
        'Les courriels que nous vous avons écrits et ceux qui nous sont venus de vous.',
        'Que vous avez accepté ce texte, et quand.',
      ],
    },
    {
      title: 'Combien de temps',
      lines: [
        'Signalements, messages et courriels\u00a0: {days} jours, puis ils sont effacés par ' +
          'semaines.',
        'Votre compte\u00a0: jusqu’à ce que vous l’effaciez. Une demande de compte que ' +
          'personne ne ' +
          'confirme\u00a0: 48 heures.',
        'Combien de fois une chose fut signalée, sans noms, tant que cela sert à d’autres.',
      ],
    },
    {
      title: 'Qui nous informons',
      lines: [
        'Celui qui peut arrêter un expéditeur\u00a0: le service d’abus du réseau d’où vient ' +
          'le message, ' +
          'celui d’un envoi qui demande les plaintes. Ils reçoivent le message sans votre ' +
          'adresse\u00a0: elle est remplacée partout.',
        'Chacun peut demander combien de fois une adresse, un lien ou un fichier fut ' +
          'signalé, mais ' +
          'pas par qui.',
        'Personne d’autre. Nous ne vendons rien, et nos pages ne chargent rien d’ailleurs.',
      ],
    },
    {
      title: 'Ce que vous pouvez faire',
      lines: [
        'Tout voir et tout emporter\u00a0: dans vos réglages, en une archive.',
        'Corriger\u00a0: votre adresse, vos réglages, et tout signalement en le retirant.',
        'Effacer\u00a0: votre compte avec vos signalements, ou votre compte seul.',
        'Vous plaindre\u00a0: à nous, ou à l’autorité de protection des données de votre pays.',
      ],
    },
    {
      title: 'Cookies',
      lines: [
        'Un qui vous garde connecté, un qui retient la langue que vous avez choisie. Pas d’autre.',
      ],
    },
  ],
}

/** Texts of the page about mail servers, in French. */
export const relaysFr: typeof relaysEn = {
  title: 'Mes serveurs de messagerie',
  lead:
    'Les machines par lesquelles votre courrier passe avant de vous atteindre\u00a0: celles de ' +
    'votre fournisseur, d’un service de redirection, ou les vôtres. Nous n’en prenons jamais ' +
    'une pour l’origine d’un spam.',
  help: 'Nous connaissons déjà les grands fournisseurs. Inutile de les nommer.',
  none: 'Vous n’en avez nommé aucun, et vos signalements ne nous en ont appris aucun.',
  address: 'Adresse ou bloc',
  how: 'Comment nous le savons',
  since: 'Depuis',
  hows: {
    set: 'Vous l’avez nommé',
    learned: (n) =>
      plural('fr', n, {
        one: 'Appris de # de vos signalements',
        many: 'Appris de # de vos signalements',
        other: 'Appris de # de vos signalements',
      }),
    refused: 'Pas à vous\u00a0: vous l’avez dit',
  },
  proposal: (name) => `Tout votre courrier semble passer par ${name}. Est-ce à vous\u00a0?`,
  evidence: (n) =>
    plural('fr', n, {
      one: '# de vos derniers signalements est passé par là.',
      many: '# de vos derniers signalements sont passés par là.',
      other: '# de vos derniers signalements sont passés par là.',
    }),
  yes: 'Oui, c’est à moi',
  no: 'Pas à moi',
  remove: 'Supprimer',
  removeOf: (cidr) => `Supprimer ${cidr}`,
  refuseOf: (cidr) => `${cidr} n’est pas à moi`,
  add: 'Ajouter un serveur',
  addHelp:
    'Une adresse, ou un bloc comme 192.0.2.0/24. Une adresse interne, comme 10.0.0.5 ' +
    'ou 127.0.0.1, seulement si aucune passerelle ni aucun tunnel ne se trouve entre cette ' +
    'machine et Internet\u00a0: sinon, des inconnus viennent aussi de cette adresse.',
  addSubmit: 'Ajouter',
  refusals: {
    unreadable: 'Ce n’est ni une adresse ni un bloc d’adresses.',
    'too-wide': 'Ce bloc est trop large\u00a0: au plus /16, ou /32 en IPv6.',
    'link-local':
      'Cette adresse désigne une autre machine sur chaque câble\u00a0: elle ne dit rien.',
    reserved: 'Aucune machine ne peut avoir cette adresse.',
  },
}

/** Texts of the settings page of a reporter, in French. */
export const settingsFr: typeof settingsEn = {
  link: 'Réglages',
  title: 'Réglages',
  saved: 'Enregistré.',
  mailIn: {
    title: 'Signaler par courriel',
    lead:
      'Transférez les messages indésirables à cette adresse en pièces jointes, un ou plusieurs ' +
      'par courriel\u00a0: chacun devient un signalement.',
    address: 'Votre adresse',
    since: 'depuis le',
    secret:
      'Elle n’est qu’à vous\u00a0: qui la connaît peut signaler en votre nom. Si elle est ' +
      'connue, créez-en une nouvelle\u00a0; l’ancienne cesse aussitôt.',
    none: 'Vous n’avez pas encore d’adresse de signalement.',
    make: 'Créer une adresse',
    renew: 'En créer une nouvelle',
    made: 'Voici votre nouvelle adresse. Celle que vous aviez avant ne fonctionne plus.',
    howTo: 'Comment transférer un message en pièce jointe',
    why:
      'Un message transféré de la façon habituelle a perdu son en-tête, qui dit d’où il ' +
      'vient\u00a0: nous ne pouvons pas le prendre, et nous vous l’écrirons.',
  },
  letters: {
    title: 'Nos courriels',
    language: 'Langue des pages et de nos courriels',
    languages: { en: 'English', fr: 'Français', ru: 'Русский' },
    wantsAnswers: 'M’écrire quand un service abuse répond à l’un de mes signalements',
    wantsAdvice:
      'M’écrire comment me désabonner, quand le message signalé vient d’une liste connue',
    save: 'Enregistrer',
    unknown: 'Choisissez l’une des langues.',
  },
  programs: {
    title: 'Pour les programmes',
    lead: 'Si vous en écrivez, ou si l’un d’eux signale pour vous.',
    docs: 'Comment les programmes nous parlent (en anglais)',
  },
}

/** Texts of the webhooks page, in French. */
export const webhooksFr: typeof webhooksEn = {
  title: 'Webhooks',
  lead:
    'Si vous programmez\u00a0: nous pouvons dire à votre propre logiciel ce que deviennent vos ' +
    'signalements. Nous envoyons un court message signé à votre adresse\u00a0; jamais rien du ' +
    'courriel que vous avez signalé.',
  docs: 'Comment vérifier et lire ces messages (en anglais)',
  none: 'Vous n’avez aucun webhook.',
  address: 'Adresse',
  addressHelp: 'Elle commence par https:// et mène à une machine sur Internet.',
  events: 'Ce qu’il faut dire',
  eventNames: {
    'report.analyzed': 'Un signalement a été examiné',
    'report.asked': 'Nous avons une question sur un signalement',
    'report.told': 'Quelqu’un a été averti d’un signalement',
    'report.answered': 'Un service d’abus a répondu',
    'report.retracted': 'Un signalement a été retiré',
    'webhook.test': 'Un essai',
  },
  states: {
    enabled: 'Actif',
    disabled: 'Inactif',
    failed: 'Arrêté\u00a0: depuis des jours, rien n’y a été accepté',
  },
  failing: 'Il n’a pas accepté nos envois depuis',
  pausedUntil: 'Prochain essai',
  secretShown: 'Voici son secret. Copiez-le maintenant\u00a0: il ne sera plus montré.',
  add: 'Ajouter un webhook',
  addSubmit: 'Ajouter',
  renew: 'Créer un nouveau secret',
  renewHelp: 'Après un nouveau secret, l’ancien signe encore pendant un jour.',
  disable: 'Désactiver',
  enable: 'Activer',
  remove: 'Supprimer',
  test: 'Envoyer un essai',
  of: (action, address) => `${action}\u00a0: ${address}`,
  done: {
    removed: 'Le webhook est supprimé.',
    changed: 'Enregistré.',
    tested: 'Un essai est en route. Rechargez cette page dans un instant pour voir le résultat.',
  },
  log: 'Nos derniers envois',
  logNone: 'Rien n’a été envoyé la semaine passée.',
  when: 'Quand',
  what: 'Quoi',
  how: 'Résultat',
  tries: 'Essais',
  deliveryStates: {
    waiting: 'En attente',
    delivered: 'Accepté',
    'given-up': 'Abandonné',
    dropped: 'Non envoyé',
  },
  refusals: {
    address: 'Nous ne pouvons pas y envoyer. Donnez une adresse https d’une machine publique.',
    taken: 'Vous avez déjà un webhook à cette adresse.',
    full: 'Vous avez déjà autant de webhooks que possible.',
    events: 'Choisissez au moins une chose à dire.',
    off: 'Ce webhook est inactif\u00a0: activez-le d’abord.',
    'too-often': 'Assez d’essais pour le moment. Réessayez dans une heure.',
    gone: 'Ce webhook n’existe plus.',
  },
}
