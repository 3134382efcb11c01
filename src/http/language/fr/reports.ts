import type { reportsEn } from '../en/reports.ts'
import { plural } from '../plural.ts'

/** What the list of one's own reports says, in French. */
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
