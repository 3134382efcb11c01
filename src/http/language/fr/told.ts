import type { ToldWords } from '../en/told.ts'

/** What the page of one mail to an abuse desk says, in French. */
export const toldFr: ToldWords = {
  title: 'Ce que nous transmettons',
  open: 'Lire',
  to: 'À',
  left: 'Voici le message tel qu’il est parti, octet pour octet.',
  leaves: 'Voici le message tel qu’il partirait maintenant.',
  concealed:
    'Par certaines adresses qui s’y trouvent, le service répond. Leur fin est masquée ici ' +
    '(****), car qui les possède parle en son nom\u00a0; tout le reste est tel quel.',
  none: 'Aucun message n’est consacré au vôtre seul.',
  text: 'Ce qu’il dit',
  source: 'Le message entier',
  download: 'Télécharger (.eml)',
  back: 'Retour à votre signalement',
}
