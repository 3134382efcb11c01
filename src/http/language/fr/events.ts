import type { eventsEn } from '../en/events.ts'
import { answersFr } from './answers.ts'

/** What the lines of a timeline says, in French. */
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
