import type { Words } from './en.ts'
import { answersFr } from './answers-fr.ts'
import { consumersFr } from './consumers-fr.ts'
import { adviceFr } from './advice-fr.ts'
import { listsFr } from './lists-fr.ts'
import { toldFr } from './told-fr.ts'
import { problemsFr } from './problems-fr.ts'
import { settingsFr } from './settings-fr.ts'

const { format: n } = new Intl.NumberFormat('fr')

/** Everything the public pages say, in French. */
export const fr: Words = {
  languageName: 'Français',
  skip: 'Aller au contenu',
  nav: {
    label: 'Principal',
    report: 'Signaler un message',
    reports: 'Mes signalements',
    relays: 'Mes serveurs de messagerie',
    admin: 'Administration',
    signIn: 'Se connecter',
    signOut: 'Se déconnecter',
    signedInAs: 'Connecté en tant que',
    languages: 'Langue',
  },
  home: {
    title: 'Signalez un spam\u00a0: ceux qui peuvent l’arrêter sont prévenus',
    lead:
      'Envoyez-nous les spams que vous recevez. Signalpost retrouve la machine qui les a ' +
      'vraiment remis à votre fournisseur de messagerie et prévient le réseau de celle-ci.',
    steps: [
      [
        'Vous signalez',
        'Collez la source du message, envoyez le fichier, ou laissez faire votre logiciel.',
      ],
      [
        'Nous cherchons l’origine',
        'Presque tout peut être falsifié dans un message. Nous partons de ce qui ne peut pas ' +
          'l’être, et nous disons pourquoi.',
      ],
      [
        'Le réseau est prévenu',
        'Son service «\u00a0abuse\u00a0» reçoit un rapport lisible par machine, sans votre nom.',
      ],
    ],
    promise: 'Vous pouvez suivre chaque signalement, voir ce qui a été trouvé, et le retirer.',
  },
  signIn: {
    title: 'Connexion',
    email: 'Adresse de messagerie',
    password: 'Mot de passe',
    remember: 'Rester connecté sur cet appareil',
    submit: 'Se connecter',
    wrong: 'L’adresse ou le mot de passe est incorrect.',
    needed: 'Veuillez d’abord vous connecter.',
  },
  report: {
    title: 'Signaler un message',
    lead: 'Il nous faut la source complète du message, avec toutes ses lignes d’en-tête.',
    paste: 'Source du message',
    pasteHelp:
      'Dans votre logiciel\u00a0: «\u00a0afficher la source\u00a0», ' +
      '«\u00a0afficher l’original\u00a0» ou «\u00a0voir les en-têtes\u00a0».',
    files: 'Ou des fichiers de message (.eml), un ou plusieurs',
    filesHelp: (megabytes) => `${megabytes} Mo au plus par fichier.`,
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
  },
  sent: {
    title: 'Votre signalement',
    // Old clients look for exactly these words.
    recorded: 'Votre signalement a été enregistré',
    none: 'Rien n’a pu être enregistré',
    results: 'Le résultat pour chaque message',
    pasted: 'Message collé',
    taken: 'enregistré',
    repeat: 'vous aviez déjà signalé ce message',
    refused: 'non enregistré',
    follow: 'Suivre ce signalement',
    another: 'Signaler un autre message',
  },
  reports: {
    title: 'Mes signalements',
    none: 'Vous n’avez encore rien signalé.',
    subject: 'Objet',
    received: 'Signalé le',
    state: 'Où il en est',
    older: 'Signalements plus anciens',
    newest: 'Revenir aux plus récents',
    noSubject: '(sans objet)',
    asks: 'Une question pour vous',
  },
  states: {
    received: 'En cours d’examen',
    analyzed: 'Examiné',
    forwarded: 'Transmis',
    kept: 'Conservé',
    retracted: 'Retiré',
    failed: 'Bloqué\u00a0: nous nous en occupons',
  },
  story: {
    back: 'Tous mes signalements',
    from: 'Il dit venir de',
    kind: 'Vous l’avez signalé comme',
    whatHappened: 'Ce qui s’est passé',
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
        : `Au moins ${n(atLeast)} autres personnes l’ont aussi signalé.`,
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
      refused: 'leur serveur de messagerie a refusé le rapport',
      withdrawn: 'le rapport a été rappelé avant son départ',
    },
    source: 'Télécharger le message d’origine',
    retract: 'Retirer ce signalement',
    retractHelp:
      'Si vous vous êtes trompé\u00a0: il ne comptera pas, et ce qui n’est pas parti ' +
      'ne partira pas.',
  },
  walk: {
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
    line: (index) => `ligne Received ${index}`,
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
    percent: (percent) => `${percent}\u00a0%`,
    why: 'Pourquoi nous le pensons\u00a0:',
    behind: (name) => `Derrière elle, selon ${name}\u00a0:`,
    isSubmitter: 'C’est la machine depuis laquelle le message a été soumis.',
    border: 'Ici commencent les inconnus.',
    borderHelp: 'Sous cette ligne, n’importe qui a pu écrire n’importe quoi.',
  },
  question: {
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
      'Son adresse est celle d’un réseau interne\u00a0: elle n’est à vous que si aucune ' +
      'passerelle ne se trouve entre cette machine et Internet.',
    mine: 'Celles que j’ai choisies sont à moi',
    none: 'Aucune de celles-ci',
    unknown: 'Je ne sais pas',
    again: 'Vous ne saviez pas. Vous pouvez encore nous le dire\u00a0:',
    nothing: 'Choisissez au moins une machine, ou l’une des autres réponses.',
    gap: (picked, between) =>
      `${between} se trouve entre votre boîte et ${picked}\u00a0: choisissez les deux, ou aucune.`,
    full: (most) => `Vous avez nommé ${most} serveurs, et nous ne pouvons pas en garder plus.`,
  },
  relays: {
    title: 'Mes serveurs de messagerie',
    lead:
      'Les machines par lesquelles votre courrier passe avant de vous atteindre\u00a0: celles de ' +
      'votre fournisseur, d’un service de redirection, ou les vôtres. Nous n’en prenons jamais ' +
      'une pour l’origine d’un spam.',
    help: 'Nous connaissons déjà les grands fournisseurs. Inutile de les nommer.',
    none: 'Vous n’en avez nommé aucun, et vos signalements ne nous en ont appris aucun.',
    address: 'Adresse ou bloc',
    how: 'Comment nous le savons',
    since: 'Depuis',
    hows: {
      set: 'Vous l’avez nommé',
      learned: (reports) => `Appris de ${reports} de vos signalements`,
      refused: 'Pas à vous\u00a0: vous l’avez dit',
    },
    proposal: (name) => `Tout votre courrier semble passer par ${name}. Est-ce à vous\u00a0?`,
    evidence: (reports) => `${reports} de vos derniers signalements sont passés par là.`,
    yes: 'Oui, c’est à moi',
    no: 'Pas à moi',
    remove: 'Supprimer',
    removeOf: (cidr) => `Supprimer ${cidr}`,
    refuseOf: (cidr) => `${cidr} n’est pas à moi`,
    add: 'Ajouter un serveur',
    addHelp:
      'Une adresse, ou un bloc comme 192.0.2.0/24. Une adresse de réseau interne, comme ' +
      '10.0.0.5, seulement si aucune passerelle ne se trouve entre cette machine et ' +
      'Internet\u00a0: sinon, des inconnus viennent aussi de cette adresse.',
    addSubmit: 'Ajouter',
    refusals: {
      unreadable: 'Ce n’est ni une adresse ni un bloc d’adresses.',
      'too-wide': 'Ce bloc est trop large\u00a0: au plus /16, ou /32 en IPv6.',
      loopback: 'Toute machine se donne cette adresse\u00a0: elle ne dit rien.',
      'link-local':
        'Cette adresse désigne une autre machine sur chaque câble\u00a0: elle ne dit rien.',
      reserved: 'Aucune machine ne peut avoir cette adresse.',
    },
  },
  events: {
    received: 'Vous l’avez signalé',
    analyzed: 'Nous l’avons examiné',
    'looked-up': 'Nous avons demandé qui répond du réseau',
    held: 'Notre rapport a été préparé',
    sent: 'Nous l’avons transmis',
    refused: 'Leur serveur de messagerie a refusé notre rapport',
    bounced: 'Notre rapport est revenu',
    retracted: 'Vous l’avez retiré',
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
  },
  problems: problemsFr,
  chart: {
    nothing: 'Rien n’a été compté pendant ce temps.',
    figures: 'Les chiffres en tableau',
    when: 'Quand (UTC)',
    highest: (value: string, when: string) => `La plus haute barre est ${value} (${when}).`,
  },
  advice: adviceFr,
  lists: listsFr,
  answers: answersFr,
  settings: settingsFr,
  consumers: consumersFr,
  told: toldFr,
  error: { title: 'Cela n’a pas marché', home: 'Retour à l’accueil' },
}
