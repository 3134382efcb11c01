import type { programsEn, SourceGuide } from '../../en/sources/programs.ts'

const save = 'Enregistrer le message dans un fichier'
const copy = 'Copier la source'
const upload = 'Envoyez le fichier .eml ici.'
const paste = 'Sélectionnez tout, copiez, et collez ici.'

/** Guides for mail programs, in French. */
export const programsFr: Record<keyof typeof programsEn, SourceGuide> = {
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
