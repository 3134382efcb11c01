import type { accountEn, ownAccountEn } from '../en/account.ts'

/** Texts of the pages for sign-up and sign-in, in French. */
export const accountFr: typeof accountEn = {
  email: 'Adresse de courriel',
  password: 'Mot de passe',
  newPassword: 'Nouveau mot de passe',
  passwordHint:
    'Au moins 10 caractères. Quelques mots sans rapport entre eux en font un bon mot de passe.',
  passwordFaults: {
    short: 'Ce mot de passe est trop court\u00a0: il lui faut au moins 10 caractères.',
    long: 'Ce mot de passe est trop long.',
    common:
      'Beaucoup de gens ont ce mot de passe\u00a0: c’est un des premiers que d’autres essaient.',
    'own-name': 'C’est votre adresse ou notre nom, que d’autres essaient en premier.',
  },
  badEmail: 'Ce n’est pas une adresse de courriel.',
  wrongPassword: 'Le mot de passe n’est pas le bon.',
  code: 'Code',
  signUp: {
    title: 'Créer un compte',
    link: 'Créer un compte',
    lead:
      'Avec un compte, vous pouvez signaler des messages, suivre ce qu’ils deviennent et les ' +
      'retirer.',
    language: 'Langue de nos courriels',
    consentTitle: 'Ce que vous acceptez',
    consent: [
      'Nous gardons votre adresse, vos signalements et leurs messages, {days} jours au plus.',
      'Celui qui peut arrêter un expéditeur est informé du message\u00a0: un service d’abus, ' +
        'jamais ' +
        'avec votre adresse.',
      'Vous pouvez tout emporter et tout effacer, à tout moment.',
    ],
    more: 'Tout sur ce que nous gardons',
    agree: 'J’accepte',
    agreeMissing: 'Nous ne pouvons créer un compte qu’avec votre accord.',
    submit: 'Envoyez-moi un lien',
    have: 'J’ai déjà un compte',
    closed: 'Les comptes sont créés par les responsables de ce site. Demandez-leur-en un.',
  },
  written: {
    title: 'Regardez votre boîte aux lettres',
    lead: 'Nous avons écrit à {address}. Ouvrez le lien de ce courriel pour continuer.',
    wait: 'Rien après quelques minutes\u00a0? Regardez parmi les indésirables, ou recommencez.',
  },
  confirm: {
    title: 'Choisissez un mot de passe',
    lead: 'Votre adresse est {address}. Avec un mot de passe, votre compte est prêt.',
    submit: 'Créer mon compte',
  },
  badLink: {
    title: 'Ce lien ne sert plus',
    lead:
      'Les liens de nos courriels servent une fois et peu de temps, et un nouveau lien remplace ' +
      'l’ancien.',
    again: 'En demander un nouveau',
  },
  forgotten: {
    title: 'Mot de passe oublié\u00a0?',
    link: 'Mot de passe oublié\u00a0?',
    lead:
      'Dites votre adresse, et nous vous envoyons un lien pour choisir un nouveau mot de ' +
      'passe.',
    submit: 'Envoyez-moi un lien',
  },
  reset: {
    title: 'Choisissez un nouveau mot de passe',
    lead: 'Pour le compte {address}. Tous les navigateurs seront déconnectés.',
    submit: 'Changer le mot de passe',
    done: 'Votre mot de passe est changé. Connectez-vous avec lui.',
  },
  move: {
    title: 'Utiliser désormais cette adresse',
    lead: 'Votre compte aura l’adresse {address}.',
    submit: 'Utiliser cette adresse',
    otherAccount:
      'Connectez-vous avec le compte qui doit avoir cette adresse, puis rouvrez le lien.',
    taken: 'Un autre compte a cette adresse.',
  },
  secondStep: {
    title: 'Entrez votre code',
    lead:
      'Votre appareil montre six chiffres. Si vous l’avez perdu, entrez un de vos codes de ' +
      'secours.',
    submit: 'Continuer',
    wrong: 'Le code n’est pas le bon, ou il a déjà servi.',
    over: 'C’était trop long, ou trop souvent faux. Connectez-vous de nouveau.',
  },
}

/** Texts of the pages for managing one's account, in French. */
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
