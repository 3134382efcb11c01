import type { uploadingEn } from '../en/uploading.ts'
import { number, plural } from '../plural.ts'

/** What the report form says of files, and of what became of them, in French. */
export const uploadingFr: typeof uploadingEn = {
  filesHelp: (file, upload, messages) =>
    `Messages enregistrés (.eml, .emlx), fichiers Outlook (.msg), boîtes (.mbox), ou archives ` +
    `zip de tout cela. ${number('fr', file)}\u00a0Mo au plus par fichier, ` +
    `${number('fr', upload)}\u00a0Mo et ` +
    plural('fr', messages, {
      one: '# message en tout.',
      many: '# de messages en tout.',
      other: '# messages en tout.',
    }),
  findSource: 'Comment trouver la source dans mon logiciel de messagerie\u00a0?',
  losesFiles:
    'Un formulaire ne peut pas garder les fichiers\u00a0: veuillez les choisir à nouveau.',
  drop: 'Vous pouvez aussi déposer des fichiers ici.',
  chosen: 'Fichiers choisis',
  remove: 'Retirer {name}',
  fileTooBig: '{name} dépasse {limit} Mo et a été laissé de côté.',
  allTooBig:
    'Ensemble, les fichiers dépassent {limit} Mo. Retirez-en quelques-uns et signalez-les ensuite.',
  sending: 'Envoi\u00a0: {percent}\u00a0%',
  reading: 'Envoyé. Nous lisons les messages.',
  cancel: 'Arrêter l’envoi',
  stopped: 'Arrêté. Rien n’a été signalé.',
  failed: 'La connexion a été coupée. Veuillez réessayer.',
  progress: 'Avancement de l’envoi',
  recorded: 'Enregistrés',
  changed: 'Modifiés',
  repeated: 'Déjà signalés',
  refused: 'Non enregistrés',
  rebuilt:
    'Outlook ne garde pas un message tel qu’il a été envoyé, nous l’avons donc reconstitué. ' +
    'Ses signatures ne prouvent rien.',
  howTo: 'Comment enregistrer un message avec ses en-têtes',
}
