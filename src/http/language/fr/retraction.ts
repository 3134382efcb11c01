import type { retractionEn } from '../en/retraction.ts'
import { plural } from '../plural.ts'

/** What is asked before a report is taken back, in French. */
export const retractionFr: typeof retractionEn = {
  title: 'Retirer ce signalement\u00a0?',
  back: 'Retour au signalement',
  lead: 'Si vous vous êtes trompé sur ce message, dites-le. Cela aide\u00a0:',
  what: 'Ce qui se passe alors',
  counters: 'Le message ne compte plus comme signalé par vous, ni ici ni dans sa campagne.',
  reputations: 'Ce qu’il nous a fait penser de l’expéditeur et du réseau est retiré.',
  told: (told) =>
    plural('fr', told, {
      one: 'Le service qui a été prévenu reçoit une correction.',
      many: 'Les # de services qui ont été prévenus reçoivent une correction.',
      other: 'Les # services qui ont été prévenus reçoivent une correction.',
    }),
  waiting: 'Ce qui n’est pas encore parti ne partira pas.',
  nobody: 'Personne n’a été prévenu\u00a0: il n’y a personne à détromper.',
  yours: 'Le signalement reste dans votre liste, marqué comme retiré.',
  forGood: 'Pour revenir en arrière, signalez le message de nouveau.',
  submit: 'Je me suis trompé\u00a0: retirer',
  cancel: 'Non, le laisser tel quel',
}
