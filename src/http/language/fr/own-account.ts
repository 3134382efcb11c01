import type { ownAccountEn } from '../en/own-account.ts'

/** What the pages say on which people look after their account, in French. */
export const ownAccountFr: typeof ownAccountEn = {
  title: 'Votre compte',
  lead: 'Qui peut ouvrir votre compte, et ce que nous gardons de vous.',
  saved: 'C’est fait.',
  nowPassword: 'Votre mot de passe actuel',
  nowCode: 'Code de votre appareil, ou un code de secours',
  wrongProof: 'Le mot de passe ou le code n’est pas le bon.',
  back: 'Retour aux réglages',
  password: {
    title: 'Mot de passe et adresse',
    lead: 'Un nouveau mot de passe déconnecte tous les autres navigateurs.',
    heading: 'Changer le mot de passe',
    submit: 'Changer le mot de passe',
    done: 'Votre mot de passe est changé, et les autres navigateurs sont déconnectés.',
    addressHeading: 'Changer l’adresse',
    address: 'Votre adresse est {address}.',
    newAddress: 'Nouvelle adresse de courriel',
    addressHint:
      'Nous écrivons à la nouvelle adresse\u00a0; elle compte dès que vous y ouvrez le lien.',
    addressSubmit: 'Envoyez-moi un lien',
    moved: 'Votre compte a sa nouvelle adresse.',
  },
  secondStep: {
    title: 'Code à la connexion',
    lead:
      'Une seconde étape\u00a0: en plus du mot de passe, un code qu’une application montre ' +
      'sur votre ' +
      'téléphone. Qui n’apprend que votre mot de passe ne peut pas se connecter.',
    isOff: 'Elle est désactivée.',
    isOn: 'Elle est activée.',
    left: (count) => `Codes de secours restants\u00a0: ${count}.`,
    begin: 'La préparer',
    scan: 'Photographiez cette image avec votre application, ou tapez-y le secret\u00a0:',
    picture: 'Image pour l’application, avec le secret écrit dessous',
    then: 'Entrez ensuite le code qu’elle montre\u00a0:',
    turnOn: 'L’activer',
    wrong: 'Ce code ne convient pas. L’horloge du téléphone est peut-être fausse.',
    codesTitle: 'Vos codes de secours',
    codes:
      'Chacun ouvre une fois votre compte, si vous perdez votre appareil. Notez-les ' +
      'maintenant\u00a0: ils ne seront plus montrés.',
    turnOff: 'La désactiver',
    renew: 'Créer de nouveaux codes de secours',
    apps: 'Les programmes qui signalaient avec votre mot de passe ont besoin d’un jeton désormais.',
  },
  tokens: {
    title: 'Jetons pour programmes',
    lead:
      'Un jeton laisse un programme agir pour vous sans votre mot de passe. Chacun ne peut ' +
      'que ce ' +
      'que vous lui permettez, et vous pouvez y mettre fin à tout moment.',
    none: 'Vous n’avez pas de jeton.',
    name: 'Nom',
    nameHint: 'Par exemple le programme qui s’en servira.',
    may: 'Il peut',
    scopes: {
      report: 'signaler des messages',
      read: 'lire vos signalements',
      retract: 'retirer des signalements',
      account: 'modifier votre compte, vos webhooks et vos serveurs de messagerie',
      admin: 'agir en administrateur',
    },
    made: 'Créé',
    used: 'Dernier usage',
    never: 'jamais',
    end: 'Y mettre fin',
    endNamed: (name) => `Y mettre fin\u00a0: jeton «\u00a0${name}\u00a0»`,
    make: 'Créer un jeton',
    shown: 'Voici votre nouveau jeton. Il n’est montré que maintenant\u00a0:',
    ended: 'Le jeton ne sert plus. Il faut quelques secondes pour que tous le sachent.',
    noName: 'Donnez-lui un nom.',
    noScope: 'Permettez-lui au moins une chose.',
    full: 'Vous avez autant de jetons que possible. Mettez d’abord fin à l’un d’eux.',
  },
  sessions: {
    title: 'Où vous êtes connecté',
    lead:
      'Chaque ligne est un navigateur. Déconnectez ceux que vous ne connaissez pas, et changez ' +
      'votre mot de passe.',
    here: 'ce navigateur',
    opened: 'Depuis',
    seen: 'Vu dernièrement',
    device: 'Navigateur',
    unknown: 'Navigateur inconnu',
    on: (browser, system) => `${browser} sous ${system}`,
    end: 'Déconnecter',
    endNamed: (device) => `Déconnecter\u00a0: ${device}`,
    endOthers: 'Déconnecter tous les autres',
    ended: 'Déconnecté.',
  },
  export: {
    title: 'Tout emporter',
    lead:
      'Une archive (ZIP) de tout ce que nous gardons de vous\u00a0: votre compte, vos ' +
      'réglages, vos ' +
      'signalements avec leurs messages, ce que nous avons trouvé et qui nous avons informé, et ' +
      'tous nos courriels. Elle peut être grande.',
    submit: 'Tout télécharger',
  },
  erase: {
    title: 'Effacer votre compte',
    lead: 'Que doivent devenir les signalements que vous avez faits\u00a0?',
    keep: 'Garder les signalements, sans moi',
    keepHint:
      'Ils continuent de protéger d’autres gens. Votre adresse, vos commentaires et les messages ' +
      'mêmes sont effacés\u00a0; ce qui fut trouvé reste, au nom de personne.',
    remove: 'Effacer aussi les signalements',
    removeHint:
      'Chacun est retiré comme si vous vous étiez trompé\u00a0: il ne compte plus, et qui fut ' +
      'informé l’apprend. Puis il est effacé avec tout ce qui en dépend.',
    both:
      'Dans les deux cas votre compte prend fin aussitôt, sans retour. Pensez à tout télécharger ' +
      'd’abord.',
    submit: 'Effacer mon compte pour de bon',
    noChoice: 'Choisissez l’un des deux.',
    lastAdmin: 'Vous êtes le dernier administrateur. Nommez-en d’abord un autre.',
    progressTitle: 'Votre compte est en cours d’effacement',
    progress: (done) => `Signalements traités jusqu’ici\u00a0: ${done}.`,
    waiting:
      'Des signalements doivent d’abord être retirés auprès de ceux qui en furent informés. ' +
      'Cela se ' +
      'fait tout seul et peut durer quelques jours.',
    safe: 'Inutile d’attendre. Cette page reste à son adresse si vous voulez y revenir.',
    doneTitle: 'Votre compte est effacé',
    done: 'Rien de vous ne reste ici. Dans les sauvegardes, cela s’éteint avec elles.',
  },
}
