import type { Words } from '../en/words.ts'

/** What went wrong, in French. */
export const problemsFr: Words['problems'] = {
  'bad-request': 'La demande est incompréhensible.',
  'not-a-message': 'Ce n’est pas la source d’un message\u00a0: ses lignes d’en-tête manquent.',
  'bad-base64': 'Le message est abîmé.',
  'no-message': 'Il n’y a pas de message dedans.',
  'sign-in-needed': 'Veuillez d’abord vous connecter.',
  'not-allowed': 'Ce compte n’a pas ce droit.',
  'stale-form':
    'Ce formulaire date d’avant votre connexion, ou vient d’ailleurs. Rechargez la page.',
  'not-found': 'Il n’y a rien ici.',
  'wrong-method': 'Cette adresse ne sait pas faire cela.',
  'too-slow': 'La demande a pris trop de temps.',
  'too-big': 'C’est trop gros.',
  'wrong-type': 'Ce type de contenu n’est pas accepté.',
  'bad-field': 'Quelque chose ne va pas dans le formulaire.',
  'too-many-headers': 'Il a trop de lignes d’en-tête pour un vrai message.',
  'too-many-parts': 'Il a trop de parties pour un vrai message.',
  'nested-too-deep': 'Il est trop imbriqué pour un vrai message.',
  'nothing-accepted': 'Aucun des messages n’a pu être enregistré.',
  'key-used': 'Cette demande a déjà été faite avec un autre contenu.',
  'no-header':
    'Ce fichier Outlook ne contient pas les en-têtes avec lesquels le message a été reçu\u00a0: ' +
    'personne ne peut donc dire d’où il vient.',
  'damaged-archive': 'Il est endommagé, ou fait d’une manière que nous ne savons pas lire.',
  'encrypted-archive': 'Il est protégé par un mot de passe. Recréez-le sans mot de passe.',
  'nested-archive': 'C’est une archive dans une archive. Envoyez-la séparément.',
  'too-many-messages':
    'Il contient plus de messages que nous n’en prenons en une fois\u00a0; le reste a été laissé ' +
    'de côté.',
  'unpacks-too-big': 'Il est trop gros une fois décompressé. Envoyez-le en plusieurs parties.',
  'too-often': 'Trop de demandes en peu de temps. Réessayez plus tard.',
  'header-too-big': 'La demande est trop grosse.',
  internal: 'Une erreur s’est produite chez nous. Veuillez réessayer.',
  unavailable: 'Nous ne pouvons pas le prendre maintenant. Réessayez dans une minute.',
}
