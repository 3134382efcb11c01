import type {
  questionEn,
  reportEn,
  reportsEn,
  retractionEn,
  statisticsEn,
  uploadingEn,
} from '../en/reports.ts'
import type { Words } from '../en/words.ts'
import { number, plural } from '../wording.ts'

/** Texts of the question about the relays of a message, in French. */
export const questionFr: typeof questionEn = {
  title: 'Laquelle de ces machines appartient à votre fournisseur (ou à vous)\u00a0?',
  help:
    'Nous ne sommes pas assez sûrs pour prévenir quelqu’un. Choisissez toutes les machines qui ' +
    'sont à vous, à partir de la première\u00a0: le message a dû passer par toutes pour vous ' +
    'atteindre. Votre réponse servira aussi à vos prochains signalements.',
  legend: 'Les machines, en commençant par la plus proche de votre boîte',
  seen: 'a remis le message',
  claimed: 'est nommée plus bas\u00a0; un inconnu a pu l’inventer',
  callsItself: 'se nomme elle-même',
  internal:
    'Son adresse est interne\u00a0: elle n’est à vous que si aucune passerelle ni aucun tunnel ' +
    'ne se trouve entre cette machine et Internet.',
  mine: 'Celles que j’ai choisies sont à moi',
  none: 'Aucune de celles-ci',
  unknown: 'Je ne sais pas',
  again: 'Vous ne saviez pas. Vous pouvez encore nous le dire\u00a0:',
  nothing: 'Choisissez au moins une machine, ou l’une des autres réponses.',
  gap: (picked, between) =>
    `${between} se trouve entre votre boîte et ${picked}\u00a0: choisissez les deux, ou aucune.`,
  full: (most) =>
    plural('fr', most, {
      one: 'Vous avez nommé # serveur, et nous ne pouvons pas en garder plus.',
      many: 'Vous avez nommé # de serveurs, et nous ne pouvons pas en garder plus.',
      other: 'Vous avez nommé # serveurs, et nous ne pouvons pas en garder plus.',
    }),
}

/** Texts of the confirmation before a report is retracted, in French. */
export const retractionFr: typeof retractionEn = {
  title: 'Retirer ce signalement\u00a0?',
  back: 'Retour au signalement',
  lead: 'Si vous vous êtes trompé sur ce message, dites-le. Cela aide\u00a0:',
  what: 'Ce qui se passe alors',
  counters: 'Le message ne compte plus comme signalé par vous, ni ici ni dans sa campagne.',
  reputations: 'Ce qu’il nous a fait penser de l’expéditeur et du réseau est retiré.',
  told: (told) =>
    plural('fr', told, {
      one: 'Le service qui a été prévenu reçoit une correction.',
      many: 'Les # de services qui ont été prévenus reçoivent une correction.',
      other: 'Les # services qui ont été prévenus reçoivent une correction.',
    }),
  waiting: 'Ce qui n’est pas encore parti ne partira pas.',
  nobody: 'Personne n’a été prévenu\u00a0: il n’y a personne à détromper.',
  yours: 'Le signalement reste dans votre liste, marqué comme retiré.',
  forGood: 'Pour revenir en arrière, signalez le message de nouveau.',
  submit: 'Je me suis trompé\u00a0: retirer',
  cancel: 'Non, le laisser tel quel',
}

/** Texts of the report form, in French. */
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

/** Texts of the list of one's own reports, in French. */
export const reportsFr: typeof reportsEn = {
  title: 'Mes signalements',
  none: 'Vous n’avez encore rien signalé.',
  nothing: 'Aucun de vos signalements ne correspond. Essayez d’autres mots, ou une autre période.',
  nothingYet: (day) =>
    `Aucun de vos signalements ne correspond jusqu’au ${day}. Il y en a de plus anciens\u00a0: ` +
    'cherchez plus loin.',
  lookedAtTo: (day) => `Pour l’instant, nous avons cherché jusqu’au ${day}.`,
  end: 'Il n’y a rien de plus de ce côté.',
  subject: 'Objet',
  received: 'Signalé le',
  kind: 'Signalé comme',
  state: 'Ce qu’il est devenu',
  find: 'Chercher un signalement',
  words: 'Objet ou auteur',
  outcome: 'Ce qu’il est devenu',
  any: 'tous',
  outcomes: {
    asking: 'nous avons une question',
    waiting: 'pas encore terminé',
    told: 'quelqu’un a été prévenu',
    answered: 'quelqu’un a répondu',
    kept: 'personne n’a été prévenu',
    'taken-back': 'retiré',
  },
  from: 'Du (jour)',
  to: 'Au (jour)',
  show: 'Afficher',
  showAll: 'Tout afficher de nouveau',
  told: (n) =>
    plural('fr', n, {
      one: '# service a été prévenu.',
      many: '# de services ont été prévenus.',
      other: '# services ont été prévenus.',
    }),
  toldNobody: 'Personne n’a été prévenu.',
  answers: {
    resolved: 'Le problème est traité.',
    'not-ours': 'On nous dit que ce n’est pas leur réseau.',
    wrong: 'Le signalement est contesté.',
    stop: 'On ne veut plus de signalements.',
  },
  pages: 'Plus de signalements',
  older: 'Signalements plus anciens',
  newer: 'Signalements plus récents',
  lookFurther: 'Chercher plus loin',
  newest: 'Revenir aux plus récents',
  noSubject: '(sans objet)',
  asks: 'Une question pour vous',
}

const n = (value: number) => number('fr', value)

/** Texts of the page with one's own statistics, in French. */
export const statisticsFr: typeof statisticsEn = {
  title: 'Mes statistiques',
  lead:
    'Ce que donnent vos signalements. Les jours sont ceux du temps universel (UTC). Les ' +
    'dernières minutes peuvent manquer, jusqu’à une heure les jours de très nombreux signalements.',
  none: 'Il n’y a encore rien à compter.',
  howMany: 'Combien vous avez signalé',
  charts: { day: 'Les 30 derniers jours, par jour', week: 'Les 12 derniers mois, par semaine' },
  whatBecame: 'Ce qu’ils sont devenus',
  periods: ['Les 30 derniers jours', 'Les 12 derniers mois'],
  reports: (total) =>
    plural('fr', total, {
      one: '# signalement',
      many: '# de signalements',
      other: '# signalements',
    }),
  became: {
    told: 'Quelqu’un a été prévenu',
    kept: 'Personne n’a été prévenu',
    asked: 'Nous avons une question',
    waiting: 'Pas encore terminé',
    retracted: 'Retirés par vous',
  },
  mails: (mails) =>
    plural('fr', mails, {
      one: 'En tout, # de nos rapports est parvenu à un service abuse.',
      many: 'En tout, # de nos rapports sont parvenus à des services abuse.',
      other: 'En tout, # de nos rapports sont parvenus à des services abuse.',
    }),
  answered: (answered, told) =>
    `Signalements dont quelqu’un a été prévenu\u00a0: ${n(told)}\u00a0; ayant reçu une ` +
    `réponse\u00a0: ${n(answered)}.`,
  whereFrom: 'D’où ils viennent',
  whereFromHelp:
    'Ces 30 derniers jours, là où nous avons pu l’établir, sans ce que vous avez retiré.',
  noOrigins: 'Ces 30 derniers jours, nous n’avons pu l’établir pour aucun d’eux.',
  countries: 'Pays des réseaux',
  networks: 'Réseaux',
  together: 'Combien d’autres ont signalé le même',
  campaigns: (large, latest, reportsMin) =>
    `Sur vos ${n(latest)} derniers signalements, ${n(large)} font partie de campagnes signalées ` +
    `au moins ${n(reportsMin)} fois.`,
}

/** Texts of the report form about files and the results of their upload, in French. */
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

/** Error messages, in French. */
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
