import type { ListWords } from '../en/lists.ts'
import { number, plural } from '../wording.ts'

/** A minimum number of people, with the verb that agrees with it. */
const haveReported = (n: number): string =>
  plural('fr', n, {
    one: '# personne l’a signalé',
    many: '# de personnes l’ont signalé',
    other: '# personnes l’ont signalé',
  })

/** Texts of the pages about our lists, in French. */
export const listsFr: ListWords = {
  lookup: {
    title: 'Est-ce sur nos listes\u00a0?',
    link: 'Consulter les listes',
    lead:
      'Nous listons les adresses qui envoient du spam, ainsi que les domaines et les hôtes où ' +
      'mène le spam. Les serveurs de messagerie qui utilisent nos listes peuvent refuser des ' +
      'messages pour cette raison.',
    field: 'Adresse IP, domaine, hôte ou lien',
    fieldHelp:
      'Tel que vous l’avez\u00a0: 192.0.2.7, bad.example, hxxps://www.bad[.]example/chemin …',
    submit: 'Chercher',
    unreadable: 'Ce n’est ni une adresse, ni un domaine, ni un hôte, ni un lien.',
    notListed: (name) => `${name} n’est pas listé.`,
    notListedHelp:
      'Si un message a tout de même été refusé en notre nom, réessayez dans une heure\u00a0: les ' +
      'serveurs de noms gardent les réponses un moment.',
    listed: (name) => `${name} est listé.`,
    since: 'Listé depuis le',
    until: 'Jusqu’au',
    untilHelp: 'si rien d’autre n’est signalé',
    why: 'Pourquoi',
    reasons: {
      spam: (n) => `Au moins ${haveReported(n)} pour spam.`,
      phishing: (n) => `Au moins ${haveReported(n)} pour hameçonnage.`,
      malware: (n) => `Au moins ${haveReported(n)} pour diffusion de logiciels malveillants.`,
      last: (day) => `Le dernier signalement date du ${day}.`,
      times: (n) => `Il a été listé ${number('fr', n)} fois.`,
    },
    stop: 'Comment y mettre fin',
    advice: {
      addresses: [
        'Trouvez ce qui envoie depuis cette adresse\u00a0: un compte au mot de passe volé, un ' +
          'formulaire ou un programme sur un serveur web, une machine piratée.',
        'Réparez, changez les mots de passe et videz la file d’attente.',
      ],
      domains: [
        'Trouvez les pages où mène le spam\u00a0; souvent quelqu’un a piraté le site pour les y ' +
          'mettre.',
        'Supprimez-les, mettez le logiciel à jour et changez les mots de passe.',
      ],
      hosts: [
        'Trouvez sous ce nom les pages où mène le spam\u00a0; souvent des inconnus les y ' +
          'ont mises.',
        'Supprimez-les, mettez le logiciel à jour et changez les mots de passe.',
      ],
    },
    then:
      'Une inscription disparaît d’elle-même quand rien n’est plus signalé. Une fois le problème ' +
      'réglé, vous pouvez demander le retrait.',
    ask: (name) => `Demander le retrait de ${name}`,
  },
  names: { addresses: 'Adresses', domains: 'Domaines', hosts: 'Hôtes des liens' },
  delist: {
    title: (name) => `Demander le retrait de ${name}`,
    lead:
      'Dites ce qui n’allait pas et ce qui a été fait pour que cela ne revienne pas. Quand on ' +
      'sait peu de choses, ou rien de récent, le retrait est immédiat\u00a0; sinon une personne ' +
      'lira ceci.',
    asker: 'Qui demande\u00a0: votre nom et votre rôle',
    contact: 'Votre adresse électronique',
    contactHelp: 'Pour des questions seulement. Seuls nos administrateurs la voient.',
    done: 'Ce qui n’allait pas, et ce qui a été fait',
    submit: 'Envoyer',
    faults: {
      asker: 'Dites qui vous êtes.',
      contact: 'Ce n’est pas une adresse électronique.',
      done: 'Dites en une phrase ou deux ce qui a été fait.',
    },
    often: 'Il y a eu trop de demandes récemment, pour ce nom ou de votre part. Réessayez demain.',
  },
  status: {
    title: 'Votre demande',
    about: 'À propos de',
    asked: 'Envoyée',
    keep: 'Gardez cette adresse\u00a0: elle seule permet de suivre la demande.',
    states: {
      open: 'Une personne la lira.',
      automatic: 'Le retrait est fait.',
      accepted: 'Le retrait est fait.',
      refused: 'L’inscription reste.',
    },
    spread:
      'Les listes sont écrites toutes les dix minutes, et les serveurs de noms gardent les ' +
      'réponses un moment\u00a0: comptez une heure.',
    again: 'L’inscription revient en cas de nouveaux signalements.',
    answer: 'Notre réponse',
  },
  downloads: {
    title: 'Nos listes',
    lead:
      'Pour les serveurs de messagerie et de noms\u00a0: zones pour rbldnsd, JSON avec les ' +
      'raisons, texte.',
    none: 'Aucune liste n’a encore été écrite. Revenez dans dix minutes.',
    made: 'Écrite',
    expires: 'Valable jusqu’au',
    list: 'Liste',
    zone: 'Zone',
    entries: 'Inscriptions',
    files: 'Fichiers',
    codes: 'Ce que disent les réponses',
    code: 'Réponse',
    meaning: 'Sens',
    meanings: { spam: 'Spam', phishing: 'Hameçonnage', malware: 'Logiciel malveillant' },
    test:
      'Pour les essais, 127.0.0.2, ::ffff:7f00:2 et TEST sont toujours listés, 127.0.0.1 et ' +
      'INVALID jamais (RFC 5782).',
    below:
      'Dans la liste des domaines, tout nom sous un domaine est listé aussi\u00a0; un hôte ne ' +
      'vaut que pour lui-même.',
  },
}
