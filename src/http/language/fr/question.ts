import type { questionEn } from '../en/question.ts'
import { plural } from '../plural.ts'

/** What the question about a way says, in French. */
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
