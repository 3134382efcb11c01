import type { HelpWords, programsEn, SourceGuide, webMailEn } from '../en/help.ts'

const save = 'Enregistrer le message dans un fichier'
const copy = 'Copier la source'
const upload = 'Envoyez le fichier .eml ici.'
const paste = 'Sélectionnez tout, copiez, et collez ici.'

/** Guides for mail programs, in French. */
const programsFr: Record<keyof typeof programsEn, SourceGuide> = {
  'outlook-new': {
    name: 'Outlook pour Windows (nouveau)',
    ways: [
      {
        title: save,
        steps: [
          'Ouvrez le message et cliquez sur «\u00a0…\u00a0» (Autres actions) en haut à droite.',
          'Choisissez «\u00a0Enregistrer sous\u00a0», ou «\u00a0Télécharger\u00a0» puis ' +
            '«\u00a0Télécharger au format EML\u00a0».',
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
  'outlook-classic': {
    name: 'Outlook pour Windows (classique)',
    ways: [
      {
        title: save,
        steps: [
          'Sélectionnez le message et choisissez «\u00a0Fichier\u00a0», puis ' +
            '«\u00a0Enregistrer sous\u00a0».',
          'Choisissez le type «\u00a0Format de message Outlook - Unicode (*.msg)\u00a0». Ni ' +
            '«\u00a0HTML\u00a0» ni «\u00a0Texte seul\u00a0»\u00a0: ils omettent les en-têtes.',
          'Envoyez le fichier .msg ici. Vous pouvez aussi faire glisser des messages de la ' +
            'liste vers le bureau, puis de là vers le formulaire.',
        ],
      },
    ],
    note:
      'Un fichier .msg ne contient des en-têtes que si le message est venu par ' +
      'Internet\u00a0: ceux que vous avez envoyés, les brouillons et bien des messages ' +
      'internes à une entreprise n’en ont pas. ' +
      'Pour le savoir, ouvrez le message et choisissez «\u00a0Fichier\u00a0», puis ' +
      '«\u00a0Propriétés\u00a0»\u00a0: ils sont sous «\u00a0En-têtes Internet\u00a0». ' +
      'Si c’est vide, consultez le message dans la messagerie web de votre fournisseur.',
  },
  'outlook-mac': {
    name: 'Outlook pour Mac',
    ways: [
      {
        title: save,
        steps: [
          'Faites glisser le message de la liste vers le bureau\u00a0: il devient un fichier .eml.',
          'Envoyez ce fichier ici.',
        ],
      },
      {
        title: copy,
        steps: [
          'Maintenez Contrôle, cliquez sur le message dans la liste et choisissez ' +
            '«\u00a0Afficher la source\u00a0».',
          paste,
        ],
      },
    ],
  },
  'apple-mail': {
    name: 'Mail d’Apple sur un Mac',
    ways: [
      {
        title: save,
        steps: [
          'Sélectionnez le message et choisissez «\u00a0Fichier\u00a0», puis ' +
            '«\u00a0Enregistrer sous…\u00a0».',
          'Choisissez le format «\u00a0Source brute du message\u00a0», et enregistrez.',
          'Envoyez le fichier ici. Faire glisser le message vers le bureau marche aussi.',
        ],
      },
      {
        title: copy,
        steps: [
          'Choisissez «\u00a0Présentation\u00a0», «\u00a0Message\u00a0», «\u00a0Source ' +
            'brute\u00a0» (ou Option, Commande et U).',
          paste,
        ],
      },
    ],
  },
  iphone: {
    name: 'Mail sur iPhone et iPad',
    ways: [
      {
        title: 'Depuis un ordinateur',
        steps: [
          'Laissez le message où il est, ne le supprimez pas.',
          'Ouvrez la messagerie web de votre fournisseur sur un ordinateur, et suivez son guide.',
        ],
      },
      {
        title: 'Sur un iPad',
        steps: [
          'Ouvrez «\u00a0Mail\u00a0» et «\u00a0Fichiers\u00a0» côte à côte.',
          'Faites glisser le message de la liste vers un dossier de ' +
            '«\u00a0Fichiers\u00a0»\u00a0: il devient un fichier .eml.',
          'Envoyez ce fichier ici.',
        ],
      },
    ],
    note:
      'Mail sur iPhone ne sait pas montrer la source, et ce qu’il transfère a perdu ses ' +
      'en-têtes.',
  },
  thunderbird: {
    name: 'Thunderbird',
    ways: [
      {
        title: save,
        steps: [
          'Sélectionnez un ou plusieurs messages.',
          'Choisissez «\u00a0Fichier\u00a0», «\u00a0Enregistrer comme\u00a0», ' +
            '«\u00a0Fichier…\u00a0» (ou Ctrl et S).',
          'Envoyez les fichiers .eml ici. Les faire glisser hors de la liste marche aussi.',
        ],
      },
      {
        title: copy,
        steps: [
          'Ouvrez le message et choisissez «\u00a0Autres\u00a0», puis «\u00a0Afficher la ' +
            'source\u00a0» (ou Ctrl et U).',
          paste,
        ],
      },
    ],
  },
  android: {
    name: 'Messagerie sur Android (Samsung et autres)',
    ways: [
      {
        title: 'Depuis un ordinateur',
        steps: [
          'Laissez le message où il est, ne le supprimez pas.',
          'Ouvrez la messagerie web de votre fournisseur sur un ordinateur, et suivez son guide.',
        ],
      },
    ],
    note:
      'Les messageries livrées avec les téléphones ne savent pas montrer la source. ' +
      'Certaines que l’on peut installer le savent\u00a0: FairEmail enregistre les messages ' +
      'en fichiers .eml.',
  },
}

const byVersion = 'Les noms exacts dépendent de la version de la messagerie.'

/** Guides for web mail, in French. */
const webMailFr: Record<keyof typeof webMailEn, SourceGuide> = {
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

/** Texts of the help pages, in French. */
export const helpFr: HelpWords = {
  link: 'Aide',
  title: 'Comment trouver la source d’un message',
  lead:
    'Chaque message porte des en-têtes que votre logiciel cache d’ordinaire. Ils disent ' +
    'par quelles machines il est venu\u00a0; sans eux, personne ne peut dire qui l’a envoyé.',
  forwarding:
    'Un transfert ordinaire, une capture d’écran, un PDF ou une impression ne les ont pas. ' +
    'Enregistrez le message dans un fichier, ou copiez toute sa source.',
  web: 'Messagerie dans le navigateur',
  programs: 'Logiciels pour ordinateur et téléphone',
  otherTitle: 'Un autre logiciel',
  other:
    'Cherchez dans le menu du message des mots comme «\u00a0source\u00a0», ' +
    '«\u00a0original\u00a0», «\u00a0en-têtes\u00a0», «\u00a0brut\u00a0», ' +
    '«\u00a0télécharger\u00a0», «\u00a0exporter\u00a0» ou «\u00a0enregistrer sous\u00a0». ' +
    'Le mieux est un fichier .eml.',
  attachedTitle: 'Par courriel',
  attached:
    'Si votre logiciel sait transférer un message en pièce jointe, vous pouvez l’envoyer à ' +
    'l’adresse personnelle indiquée dans vos réglages. Les en-têtes restent intacts.',
  settings: 'Vers les réglages',
  names: 'Les noms des menus changent parfois et peuvent différer un peu de ceux-ci.',
  pageTitle: (name) => `La source d’un message dans ${name}`,
  all: 'Tous les logiciels de messagerie',
  report: 'Signaler un message',
  sources: { ...webMailFr, ...programsFr },
}
