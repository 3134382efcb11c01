import type { SourceGuide } from '../../en/sources/programs.ts'
import type { webMailEn } from '../../en/sources/web-mail.ts'

const save = 'Enregistrer le message dans un fichier'
const copy = 'Copier la source'
const upload = 'Envoyez le fichier .eml ici.'
const paste = 'Sélectionnez tout, copiez, et collez ici.'
const byVersion = 'Les noms exacts dépendent de la version de la messagerie.'

/** Guides for web mail, in French. */
export const webMailFr: Record<keyof typeof webMailEn, SourceGuide> = {
  gmail: {
    name: 'Gmail',
    ways: [
      {
        title: save,
        steps: [
          'Ouvrez le message dans un navigateur et cliquez sur les trois points en haut à ' +
            'droite («\u00a0Plus\u00a0»).',
          'Choisissez «\u00a0Télécharger le message\u00a0».',
          upload,
        ],
      },
      {
        title: copy,
        steps: [
          'Cliquez sur les trois points et choisissez «\u00a0Afficher l’original\u00a0».',
          'Dans le nouvel onglet, cliquez sur «\u00a0Copier dans le presse-papiers\u00a0», ' +
            'et collez ici.',
        ],
      },
    ],
    note:
      'L’application Gmail pour Android et iPhone ne le peut pas. Ouvrez ' +
      'mail.google.com dans le navigateur, sur un téléphone en «\u00a0version pour ' +
      'ordinateur\u00a0».',
  },
  'outlook-web': {
    name: 'Outlook.com, Hotmail, Outlook sur le web',
    ways: [
      {
        title: save,
        steps: [
          'Ouvrez le message et cliquez sur «\u00a0…\u00a0» (Autres actions) en haut à droite.',
          'Choisissez «\u00a0Télécharger\u00a0», puis «\u00a0Télécharger au format EML\u00a0».',
          upload,
        ],
      },
      {
        title: copy,
        steps: [
          'Cliquez sur «\u00a0…\u00a0», puis «\u00a0Afficher\u00a0», puis «\u00a0Afficher ' +
            'la source du message\u00a0».',
          paste,
        ],
      },
    ],
  },
  yahoo: {
    name: 'Yahoo Mail',
    ways: [
      {
        title: copy,
        steps: [
          'Ouvrez le message et cliquez sur les trois points («\u00a0Plus\u00a0») au-dessus.',
          'Choisissez «\u00a0Afficher le message brut\u00a0».',
          paste,
        ],
      },
    ],
  },
  proton: {
    name: 'Proton Mail',
    ways: [
      {
        title: save,
        steps: [
          'Ouvrez le message et cliquez sur les trois points («\u00a0Plus\u00a0») en haut à ' +
            'droite.',
          'Choisissez «\u00a0Exporter\u00a0».',
          upload,
        ],
      },
    ],
    note:
      '«\u00a0Voir les en-têtes\u00a0» ne montre que les en-têtes\u00a0; il nous faut ' +
      'le message entier.',
  },
  orange: {
    name: 'Orange',
    ways: [
      {
        title: copy,
        steps: [
          'Ouvrez le message dans la messagerie web, puis le menu des autres actions ' +
            '(«\u00a0plus\u00a0»).',
          'Choisissez la ligne qui montre le code source ou l’en-tête.',
          paste,
        ],
      },
    ],
    note: byVersion,
  },
  free: {
    name: 'Free',
    ways: [
      {
        title: 'Dans Zimbra',
        steps: [
          'Cliquez avec le bouton droit sur le message dans la liste et choisissez ' +
            '«\u00a0Afficher l’original\u00a0».',
          paste,
        ],
      },
      {
        title: 'Dans Roundcube',
        steps: [
          'Ouvrez le message, puis «\u00a0Plus\u00a0», puis «\u00a0Télécharger (.eml)\u00a0».',
          upload,
        ],
      },
    ],
    note: byVersion,
  },
  sfr: {
    name: 'SFR',
    ways: [
      {
        title: copy,
        steps: [
          'Ouvrez le message dans la messagerie web, puis le menu des autres actions.',
          'Choisissez la ligne qui montre la source ou l’en-tête.',
          paste,
        ],
      },
    ],
    note: byVersion,
  },
  laposte: {
    name: 'La Poste',
    ways: [
      {
        title: copy,
        steps: [
          'Ouvrez le message dans la messagerie web, puis le menu des autres actions (trois ' +
            'points).',
          'Choisissez la ligne qui montre la source ou l’en-tête.',
          paste,
        ],
      },
    ],
    note: byVersion,
  },
  mailru: {
    name: 'Mail.ru',
    ways: [
      {
        title: save,
        steps: [
          'Ouvrez le message et cliquez sur «\u00a0More\u00a0» («\u00a0Ещё\u00a0») au-dessus.',
          'Choisissez «\u00a0Download\u00a0» («\u00a0Скачать\u00a0»).',
          upload,
        ],
      },
      {
        title: copy,
        steps: [
          'Cliquez sur «\u00a0More\u00a0», puis «\u00a0Service headers\u00a0» («\u00a0Служебные ' +
            'заголовки\u00a0»).',
          paste,
        ],
      },
    ],
  },
  yandex: {
    name: 'Yandex Mail',
    ways: [
      {
        title: copy,
        steps: [
          'Ouvrez le message et cliquez sur les trois points.',
          'Choisissez «\u00a0Email properties\u00a0» («\u00a0Свойства письма\u00a0»).',
          paste,
        ],
      },
    ],
  },
  gmx: {
    name: 'GMX et Web.de',
    ways: [
      {
        title: save,
        steps: [
          'Ouvrez le message et cliquez sur «\u00a0Plus\u00a0» («\u00a0Mehr\u00a0»).',
          'Choisissez la ligne qui l’enregistre dans un fichier («\u00a0Speichern\u00a0»).',
          upload,
        ],
      },
      {
        title: copy,
        steps: [
          'Cliquez sur le petit «\u00a0i\u00a0» («\u00a0Info\u00a0») à côté de la date, ' +
            'puis «\u00a0En-tête étendu\u00a0» («\u00a0Erweiterter Header\u00a0»).',
          paste,
        ],
      },
    ],
    note: 'L’en-tête étendu seul ne contient pas le texte\u00a0: enregistrez plutôt le message.',
  },
  roundcube: {
    name: 'Roundcube',
    ways: [
      {
        title: save,
        steps: [
          'Ouvrez le message, puis «\u00a0Plus\u00a0», «\u00a0Télécharger\u00a0», ' +
            '«\u00a0Source (.eml)\u00a0».',
          upload,
        ],
      },
      {
        title: copy,
        steps: ['Cliquez sur «\u00a0Plus\u00a0», puis «\u00a0Afficher la source\u00a0».', paste],
      },
    ],
  },
  zimbra: {
    name: 'Zimbra',
    ways: [
      {
        title: copy,
        steps: [
          'Cliquez avec le bouton droit sur le message dans la liste et choisissez ' +
            '«\u00a0Afficher l’original\u00a0».',
          paste,
        ],
      },
    ],
  },
}
