import type { reportEn } from '../en/report.ts'
/** What the report form says, in French. */
export const reportFr: typeof reportEn = {
  title: 'Signaler un message',
  lead: 'Il nous faut la source complète du message, avec toutes ses lignes d’en-tête.',
  paste: 'Source du message',
  pasteHelp:
    'Dans votre logiciel\u00a0: «\u00a0afficher la source\u00a0», ' +
    '«\u00a0afficher l’original\u00a0» ou «\u00a0voir les en-têtes\u00a0».',
  files: 'Ou des fichiers de message, un ou plusieurs',
  kind: 'De quoi s’agit-il\u00a0?',
  kinds: { spam: 'Spam', phishing: 'Hameçonnage', 'not-spam': 'Pas un spam' },
  kindHelp: {
    spam: 'publicité ou autre message que vous n’avez jamais demandé',
    phishing: 'quelqu’un se fait passer pour une banque, un magasin, un collègue',
    'not-spam': 'vous voulez ce message, d’autres l’ont pris pour un spam',
  },
  comment: 'Commentaire (facultatif)',
  submit: 'Signaler',
  nothing: 'Collez la source d’un message ou choisissez un fichier.',
}
