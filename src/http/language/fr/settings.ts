import type { settingsEn } from '../en/settings.ts'

/** The same in French. */
export const settingsFr: typeof settingsEn = {
  link: 'Réglages',
  title: 'Réglages',
  saved: 'Enregistré.',
  mailIn: {
    title: 'Signaler par courriel',
    lead:
      'Transférez les messages indésirables à cette adresse en pièces jointes, un ou plusieurs ' +
      'par courriel\u00a0: chacun devient un signalement.',
    address: 'Votre adresse',
    since: 'depuis le',
    secret:
      'Elle n’est qu’à vous\u00a0: qui la connaît peut signaler en votre nom. Si elle est ' +
      'connue, créez-en une nouvelle\u00a0; l’ancienne cesse aussitôt.',
    none: 'Vous n’avez pas encore d’adresse de signalement.',
    make: 'Créer une adresse',
    renew: 'En créer une nouvelle',
    made: 'Voici votre nouvelle adresse. Celle que vous aviez avant ne fonctionne plus.',
    howTo: 'Comment transférer un message en pièce jointe',
    why:
      'Un message transféré de la façon habituelle a perdu son en-tête, qui dit d’où il ' +
      'vient\u00a0: nous ne pouvons pas le prendre, et nous vous l’écrirons.',
  },
  letters: {
    title: 'Nos courriels',
    language: 'Langue des pages et de nos courriels',
    languages: { en: 'English', fr: 'Français', ru: 'Русский' },
    wantsAnswers: 'M’écrire quand un service abuse répond à l’un de mes signalements',
    wantsAdvice:
      'M’écrire comment me désabonner, quand le message signalé vient d’une liste connue',
    save: 'Enregistrer',
    unknown: 'Choisissez l’une des langues.',
  },
  programs: {
    title: 'Pour les programmes',
    lead: 'Si vous en écrivez, ou si l’un d’eux signale pour vous.',
    docs: 'Comment les programmes nous parlent (en anglais)',
  },
}
