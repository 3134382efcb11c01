import type { statisticsEn } from '../en/statistics.ts'
import { number, plural } from '../plural.ts'

const n = (value: number) => number('fr', value)

/** What the page of one's own statistics says, in French. */
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
