import type { webhooksEn } from '../en/webhooks.ts'

/** The same in French. */
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
