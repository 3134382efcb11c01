import type { HelpWords } from '../en/help.ts'
import { programsFr } from './sources/programs.ts'
import { webMailFr } from './sources/web-mail.ts'

/** The help pages, in French. */
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
