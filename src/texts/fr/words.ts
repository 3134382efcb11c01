import type { Words } from '../en/words.ts'
import { accountFr, ownAccountFr } from './account.ts'
import { answersFr, consumersFr } from './feedback.ts'
import { helpFr } from './help.ts'
import { listsFr } from './lists.ts'
import {
  problemsFr,
  questionFr,
  reportFr,
  reportsFr,
  retractionFr,
  statisticsFr,
  uploadingFr,
} from './reports.ts'
import { privacyFr, relaysFr, settingsFr, webhooksFr } from './settings.ts'
import { adviceFr, eventsFr, storyFr, toldFr, walkFr } from './story.ts'

/** All texts of the public pages, in French. */
export const fr: Words = {
  languageName: 'Français',
  skip: 'Aller au contenu',
  nav: {
    label: 'Principal',
    report: 'Signaler un message',
    reports: 'Mes signalements',
    relays: 'Mes serveurs de messagerie',
    admin: 'Administration',
    signIn: 'Se connecter',
    signOut: 'Se déconnecter',
    signedInAs: 'Connecté en tant que',
    languages: 'Langue',
  },
  home: {
    title: 'Signalez un spam\u00a0: ceux qui peuvent l’arrêter sont prévenus',
    lead:
      'Envoyez-nous les spams que vous recevez. Signalpost retrouve la machine qui les a ' +
      'vraiment remis à votre fournisseur de messagerie et prévient le réseau de celle-ci.',
    steps: [
      [
        'Vous signalez',
        'Collez la source du message, envoyez le fichier, ou laissez faire votre logiciel.',
      ],
      [
        'Nous cherchons l’origine',
        'Presque tout peut être falsifié dans un message. Nous partons de ce qui ne peut pas ' +
          'l’être, et nous disons pourquoi.',
      ],
      [
        'Le réseau est prévenu',
        'Son service «\u00a0abuse\u00a0» reçoit un rapport lisible par machine, sans votre nom.',
      ],
    ],
    promise: 'Vous pouvez suivre chaque signalement, voir ce qui a été trouvé, et le retirer.',
  },
  signIn: {
    title: 'Connexion',
    email: 'Adresse de messagerie',
    password: 'Mot de passe',
    remember: 'Rester connecté sur cet appareil',
    submit: 'Se connecter',
    wrong: 'L’adresse ou le mot de passe est incorrect.',
    needed: 'Veuillez d’abord vous connecter.',
  },
  report: reportFr,
  uploading: uploadingFr,
  help: helpFr,
  sent: {
    title: 'Votre signalement',
    // Old clients search for exactly this text.
    recorded: 'Votre signalement a été enregistré',
    // Contains the same text.
    before: 'Votre signalement a été enregistré auparavant\u00a0: rien de nouveau',
    partly: 'Certains messages n’ont pas été enregistrés\u00a0: voir ci-dessous.',
    none: 'Rien n’a pu être enregistré',
    results: 'Le résultat pour chaque message',
    pasted: 'Message collé',
    taken: 'enregistré',
    repeated: 'vous aviez déjà signalé ce message',
    changed: 'vous aviez signalé ce message autrement\u00a0: votre dernier choix compte',
    refused: 'non enregistré',
    follow: 'Suivre ce signalement',
    another: 'Signaler un autre message',
  },
  reports: reportsFr,
  states: {
    received: 'En cours d’examen',
    analyzed: 'Examiné',
    forwarded: 'Transmis',
    kept: 'Conservé',
    retracted: 'Retiré',
    failed: 'Bloqué\u00a0: nous nous en occupons',
  },
  story: storyFr,
  retraction: retractionFr,
  statistics: statisticsFr,
  walk: walkFr,
  question: questionFr,
  relays: relaysFr,
  events: eventsFr,
  problems: problemsFr,
  advice: adviceFr,
  lists: listsFr,
  answers: answersFr,
  settings: settingsFr,
  webhooks: webhooksFr,
  account: accountFr,
  ownAccount: ownAccountFr,
  privacy: privacyFr,
  consumers: consumersFr,
  told: toldFr,
  error: { title: 'Cela n’a pas marché', home: 'Retour à l’accueil' },
}
