import type { walkEn } from '../en/walk.ts'
import { number } from '../plural.ts'

/** What the drawn way of a message says, in French. */
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
