import type { accountEn } from '../en/account.ts'

/** What the pages say on which accounts are made and opened, in French. */
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
