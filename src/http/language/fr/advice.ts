import type { adviceEn } from '../en/advice.ts'
import { deName } from '../../../letters/advice/french-name.ts'

/** What the page of a report says of unsubscribing, in French. */
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
