import type { privacyEn } from '../en/privacy.ts'

/** The page on what we keep, in French. */
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
