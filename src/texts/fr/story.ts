import type { adviceEn, eventsEn, storyEn, ToldWords, walkEn } from '../en/story.ts'
import { deName, number, plural } from '../wording.ts'
import { answersFr } from './feedback.ts'

/** Texts of the page that shows one mail to an abuse desk, in French. */
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

/** Texts of the lines of a timeline, in French. */
export const eventsFr: typeof eventsEn = {
  received: 'Vous l’avez signalé',
  analyzed: 'Nous l’avons examiné',
  'looked-up': 'Nous avons demandé qui répond du réseau',
  held: 'Notre rapport a été préparé',
  sent: 'Nous l’avons transmis',
  refused: 'Notre serveur de messagerie a refusé notre rapport',
  bounced: 'Notre rapport est revenu',
  retracted: 'Vous l’avez retiré',
  changed: 'Vous avez modifié votre signalement',
  withdrawn: 'Un rapport qui n’était pas parti a été rappelé',
  merged: 'Un rapport sur d’autres messages le signale aussi',
  failed: 'Quelque chose s’est mal passé',
  redriven: 'Nous avons essayé encore une fois',
  answered: 'Vous avez répondu à notre question',
  reopened: 'Nous l’examinons de nouveau',
  ...answersFr.events,
  advised: 'Nous vous avons écrit comment vous désabonner',
  unsubscribing: 'Vous nous avez demandé de vous désabonner',
  unsubscribed: 'Ce qu’il est advenu de la demande de désabonnement',
}

/** Texts of the story of a report, in French. */
export const storyFr: typeof storyEn = {
  title: 'Ce qu’est devenu votre signalement',
  back: 'Tous mes signalements',
  from: 'Il dit venir de',
  kind: 'Vous l’avez signalé comme',
  comment: 'Votre commentaire',
  whatHappened: 'Tout ce qui s’est passé, étape par étape',
  whereFrom: 'D’où il vient',
  waiting: 'Nous examinons ce message. Revenez dans un instant.',
  noOrigin: 'Nous n’avons pas pu établir avec certitude d’où vient ce message.',
  origin: (ip) => `La machine ${ip} a remis ce message à votre fournisseur de messagerie.`,
  network: (name) => `Elle appartient au réseau ${name}.`,
  path: 'Le chemin du message',
  pathHelp:
    'De votre boîte vers l’extérieur\u00a0: chaque machine se trouve sous celle qui dit avoir ' +
    'reçu d’elle le message.',
  found: 'Ce que nous avons trouvé',
  verdicts: {
    spam: 'Nous le tenons pour un spam.',
    phishing:
      'Nous le tenons pour un hameçonnage\u00a0: ne suivez pas ses liens, ' +
      'ne donnez aucun mot de passe.',
    malware:
      'Nous le tenons pour un logiciel malveillant\u00a0: n’ouvrez pas ses fichiers ' +
      'et ne suivez pas ses liens.',
    marketing: 'Nous le tenons pour une publicité dont vous pouvez vous désabonner.',
    legitimate: 'Ce n’est pas un spam.',
    undecided: 'Nous ne pouvons pas dire ce que c’est.',
  },
  others: 'Combien d’autres ont signalé le même',
  otherPeople: (atLeast) =>
    atLeast === undefined
      ? 'Moins de cinq autres personnes ont signalé ce message pour l’instant.'
      : plural('fr', atLeast, {
          one: 'Au moins # autre personne l’a aussi signalé.',
          many: 'Au moins # d’autres personnes l’ont aussi signalé.',
          other: 'Au moins # autres personnes l’ont aussi signalé.',
        }),
  sameReports: (first, last) =>
    first === last
      ? `Il a toujours été signalé le ${first}.`
      : `Il a été signalé d’abord le ${first} et en dernier le ${last}.`,
  links: 'Adresses web qu’il contient',
  attachments: 'Fichiers joints',
  told: 'Qui a été prévenu',
  toldNobody: 'Personne n’a été prévenu.',
  notYet: 'Personne n’a encore été prévenu.',
  feedback: {
    waiting: 'un rapport partira bientôt',
    merged: 'signalé avec d’autres de la même campagne',
    queued: 'un rapport va partir',
    held: 'un rapport est prêt\u00a0; l’exploitant n’a pas activé l’envoi',
    sent: 'un rapport a été envoyé',
    bounced: 'un rapport a été envoyé, mais il est revenu',
    refused: 'notre propre serveur de messagerie a refusé le rapport\u00a0; il peut être renvoyé',
    withdrawn: 'le rapport a été rappelé avant son départ',
  },
  source: 'Télécharger le message d’origine',
  corrections: 'Correction à',
  correction: {
    waiting: 'partira bientôt',
    merged: 'envoyée avec d’autres',
    queued: 'va partir',
    held: 'est prête\u00a0; l’exploitant n’a pas activé l’envoi',
    sent: 'envoyée\u00a0: votre signalement a été retiré',
    bounced: 'envoyée, mais revenue',
    refused: 'refusée par notre propre serveur de messagerie\u00a0; elle peut être renvoyée',
    withdrawn: 'rappelée avant son départ',
  },
  noAnswers: 'Personne n’a répondu pour l’instant.',
  retract: 'Je me suis trompé',
  retractHelp:
    'Vous pouvez retirer ce signalement. Nous vous montrons d’abord ce qui se passe alors.',
}

/** Texts of the picture of a message's route, in French. */
export const walkFr: typeof walkEn = {
  label: 'Le chemin du message, de votre boîte vers l’extérieur',
  mailbox: 'Votre boîte aux lettres',
  holds: 'a reçu le message de',
  seen: {
    trusted: 'l’a reçu de cette machine',
    injection: 'l’a reçu de l’extérieur, et a vu cette machine elle-même',
    believed: 'dit, et nous le croyons, l’avoir reçu de cette machine',
    claimed: 'l’aurait reçu de cette machine',
    forged: 'une ligne inventée affirme',
  },
  unlinked: 'rien au-dessus ne nomme la machine qui suit',
  line: (index) => `ligne Received ${number('fr', index + 1)}`,
  roles: {
    ours: 'Une machine de votre fournisseur',
    origin: 'L’origine\u00a0: le message est entré ici',
    unclear: 'Ici, nous ne pouvons pas aller plus loin',
    believed: 'Nommée par un fournisseur que nous connaissons\u00a0: probablement vrai',
    claimed: 'Simple affirmation',
    forged: 'Ne peut pas être vrai',
  },
  unnamed: 'une machine sans nom',
  alias: 'Elle se nomme',
  network: 'Son réseau\u00a0:',
  sure: {
    very: 'Nous en sommes très sûrs',
    fairly: 'Nous en sommes assez sûrs',
    not: 'Nous n’en sommes pas sûrs',
  },
  percent: (percent) => `${number('fr', percent)}\u00a0%`,
  why: 'Pourquoi nous le pensons\u00a0:',
  behind: (name) => `Derrière elle, selon ${name}\u00a0:`,
  isSubmitter: 'C’est la machine depuis laquelle le message a été soumis.',
  border: 'Ici commencent les inconnus.',
  borderHelp: 'Sous cette ligne, n’importe qui a pu écrire n’importe quoi.',
}

/** Unsubscribe advice on the page of a report, in French. */
export const adviceFr: typeof adviceEn = {
  title: 'Comment ne plus recevoir de tels messages',
  known: (name) => `C’est un envoi ${deName(name)}. Vous pouvez vous désabonner sans risque.`,
  cautious: (signer) =>
    `Cet envoi vient bien ${deName(signer)}, mais nous ne connaissons pas autrement cet ` +
    'expéditeur.',
  signature: (domain) =>
    `Nous le pensons parce que le message porte une signature numérique valable ${deName(domain)}.`,
  range: (range, name) =>
    `Nous le pensons parce qu’il vient des adresses ${range}, depuis lesquelles seul ${name} ` +
    'envoie du courrier.',
  careful: [
    'Ne vous désabonnez que si vous vous souvenez d’avoir donné votre adresse à cet expéditeur.',
    'Sinon, ne cliquez pas et ne répondez pas\u00a0: marquez le message comme indésirable dans ' +
      'votre logiciel de messagerie.',
  ],
  said: (name) => `${name} indique\u00a0:`,
  byLink: (host) => `Par le lien du message, qui mène à ${host}\u00a0:`,
  byMail: (address, subject) =>
    subject === undefined
      ? `Par un message à ${address}.`
      : `Par un message à ${address} avec l’objet «\u00a0${subject}\u00a0».`,
  website: 'Site\u00a0:',
  click: 'Me désabonner',
  clickHelp: (host) =>
    `Nous demandons à ${host}, une seule fois et pour vous, de vous retirer de la liste. Le lien ` +
    'du message dit à l’expéditeur de quelle adresse il s’agit\u00a0; rien d’autre n’est envoyé.',
  states: {
    queued: 'Vous nous avez demandé de vous désabonner. Nous le faisons dans un instant.',
    'under-way': 'Nous demandons à l’expéditeur de vous désabonner.',
    done:
      'L’expéditeur a pris la demande. Des messages peuvent encore arriver pendant quelques ' +
      'jours.',
    doubtful:
      'L’expéditeur nous a renvoyés vers une autre page, où nous n’allons pas. Il se peut que ' +
      'cela n’ait pas marché.',
    refused: 'Nous n’avons pas fait la demande\u00a0: nous ne suivons pas un lien de cette sorte.',
    failed: 'L’expéditeur n’a pas pu être joint, ou il a refusé.',
    unknown:
      'Nous avons fait la demande, mais nous ne savons pas ce qu’elle est devenue. Nous ne la ' +
      'faisons pas deux fois.',
  },
  doNotClick:
    'Ne cliquez sur rien dans ce message et n’y répondez pas, même pour vous désabonner\u00a0: ' +
    'personne que nous connaissions ne s’en porte garant.',
  off: {
    title: 'Plus de conseils',
    lead:
      'Nous vous écrivons comment vous désabonner quand vous signalez un envoi dont ' +
      'l’expéditeur est certain.',
    ask: 'Voulez-vous que nous cessions de vous écrire à ce sujet\u00a0?',
    submit: 'Ne plus m’écrire',
    done: 'Vous ne recevrez plus de conseils. Vos signalements sont traités comme auparavant.',
    unknown: 'Ce lien n’est pas l’un des nôtres, ou il n’est plus valable.',
  },
}
