import type { relaysEn } from '../en/relays.ts'
import { plural } from '../plural.ts'

/** What the page of mail servers says, in French. */
export const relaysFr: typeof relaysEn = {
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
    learned: (n) =>
      plural('fr', n, {
        one: 'Appris de # de vos signalements',
        many: 'Appris de # de vos signalements',
        other: 'Appris de # de vos signalements',
      }),
    refused: 'Pas à vous\u00a0: vous l’avez dit',
  },
  proposal: (name) => `Tout votre courrier semble passer par ${name}. Est-ce à vous\u00a0?`,
  evidence: (n) =>
    plural('fr', n, {
      one: '# de vos derniers signalements est passé par là.',
      many: '# de vos derniers signalements sont passés par là.',
      other: '# de vos derniers signalements sont passés par là.',
    }),
  yes: 'Oui, c’est à moi',
  no: 'Pas à moi',
  remove: 'Supprimer',
  removeOf: (cidr) => `Supprimer ${cidr}`,
  refuseOf: (cidr) => `${cidr} n’est pas à moi`,
  add: 'Ajouter un serveur',
  addHelp:
    'Une adresse, ou un bloc comme 192.0.2.0/24. Une adresse interne, comme 10.0.0.5 ' +
    'ou 127.0.0.1, seulement si aucune passerelle ni aucun tunnel ne se trouve entre cette ' +
    'machine et Internet\u00a0: sinon, des inconnus viennent aussi de cette adresse.',
  addSubmit: 'Ajouter',
  refusals: {
    unreadable: 'Ce n’est ni une adresse ni un bloc d’adresses.',
    'too-wide': 'Ce bloc est trop large\u00a0: au plus /16, ou /32 en IPv6.',
    'link-local':
      'Cette adresse désigne une autre machine sur chaque câble\u00a0: elle ne dit rien.',
    reserved: 'Aucune machine ne peut avoir cette adresse.',
  },
}
