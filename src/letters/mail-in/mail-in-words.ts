import { wrappedLines } from '../wrapped-lines.ts'
import { howToForward } from './how-to-forward.ts'

/** What came of a mail that a reporter sent in. */
export type MailInResult = {
  /** Messages that are reports now. */
  taken: number
  /** Attached messages that were refused for what they are. */
  refused: number
  /** Messages past the most that one mail may carry. */
  beyond: number
  messagesMax: number
  /** Archives and files of Outlook's own kind. */
  unreadable: number
}

type Language = 'en' | 'fr' | 'ru'

type Words = {
  greeting: string
  subjects: { confirmed: string; mixed: string; nothing: string }
  confirmed: (taken: number) => string
  taken: (taken: number) => string
  nothing: string
  refused: (refused: number) => string
  beyond: (beyond: number, most: number) => string
  unreadable: string
  howTo: string
  page: (reports: string) => string
  why: (settings: string) => string
}

/**
 * Says to a reporter what came of a mail with messages to report: that the first one arrived, what
 * of it was not taken, or how to forward so that it can be. Nothing that a stranger wrote is in it.
 */
export function composeMailInAnswer(
  result: MailInResult,
  language: Language,
  publicUrl: string,
): { subject: string; text: string } {
  const words = catalogs[language]
  const { taken, refused, beyond, unreadable } = result
  const isWhole = refused === 0 && beyond === 0 && unreadable === 0
  const needsHelp = taken === 0 || unreadable > 0
  const kind = taken === 0 ? 'nothing' : isWhole ? 'confirmed' : 'mixed'
  const said = [
    words.greeting,
    taken === 0 ? words.nothing : isWhole ? words.confirmed(taken) : words.taken(taken),
    refused > 0 && words.refused(refused),
    beyond > 0 && words.beyond(beyond, result.messagesMax),
    unreadable > 0 && words.unreadable,
    needsHelp && words.howTo,
    ...(needsHelp ? howToForward[language].map(([name, steps]) => `- ${name}: ${steps}`) : []),
    taken > 0 && words.page(`${publicUrl}/reports`),
    words.why(`${publicUrl}/settings`),
  ]
  const paragraphs = said.filter((one) => typeof one === 'string')
  return { subject: words.subjects[kind], text: paragraphs.map(wrappedLines).join('\n\n') }
}

const en: Words = {
  greeting: 'Hello,',
  subjects: {
    confirmed: 'Your report by mail has arrived',
    mixed: 'Not all of your report by mail could be taken',
    nothing: 'Your report by mail could not be taken',
  },
  confirmed: (taken) =>
    (taken === 1
      ? 'The message that you forwarded to us is reported. '
      : `The ${taken} messages that you forwarded to us are reported. `) +
    'From now on we are silent when all goes well.',
  taken: (taken) =>
    `Of what you forwarded to us, ${taken === 1 ? 'one message is' : `${taken} messages are`} ` +
    'reported. The rest is not:',
  nothing:
    'The mail that you sent to your address for reports carried no message that we can read. ' +
    'When a message is forwarded the usual way, its header is lost, and with it where it came ' +
    'from. Please forward it as an attachment.',
  refused: (refused) =>
    refused === 1
      ? 'One attached message is too big, nested too deeply, or no message with its header.'
      : `${refused} attached messages are too big, nested too deeply, or no messages with their ` +
        'header.',
  beyond: (beyond, most) =>
    `At most ${most} messages are taken from one mail; ${beyond} more were attached. Please send ` +
    'them once more, in smaller mails.',
  unreadable:
    'Archives (.zip and the like) and files of Outlook (.msg, winmail.dat) are not opened, ' +
    'nor are forwards in your name that others may have written. Please attach the messages ' +
    'themselves.',
  howTo: 'How to forward a message as an attachment:',
  page: (reports) => `All your reports: ${reports}`,
  why: (settings) =>
    `You get this because a mail came to your secret address for reports. If you sent none, make ` +
    `yourself a new address; the old one ends at once: ${settings}`,
}

const fr: Words = {
  greeting: 'Bonjour,',
  subjects: {
    confirmed: 'Votre signalement par courriel est arrivé',
    mixed: 'Une partie de votre signalement par courriel n’a pas été prise',
    nothing: 'Votre signalement par courriel n’a pas pu être pris',
  },
  confirmed: (taken) =>
    (taken === 1
      ? 'Le message que vous nous avez transféré est signalé. '
      : `Les ${taken} messages que vous nous avez transférés sont signalés. `) +
    'Désormais, nous nous tairons quand tout va bien.',
  taken: (taken) =>
    'De ce que vous nous avez transféré, ' +
    `${taken === 1 ? 'un message est signalé' : `${taken} messages sont signalés`}. ` +
    'Le reste ne l’est pas\u00a0:',
  nothing:
    'Le courriel envoyé à votre adresse de signalement ne portait aucun message lisible pour ' +
    'nous. Transféré de la façon habituelle, un message perd son en-tête, qui dit d’où il vient. ' +
    'Transférez-le en pièce jointe, s’il vous plaît.',
  refused: (refused) =>
    refused === 1
      ? 'Un message joint est trop grand, trop imbriqué, ou n’est pas un message avec son en-tête.'
      : `${refused} messages joints sont trop grands, trop imbriqués, ou ne sont pas des ` +
        'messages avec leur en-tête.',
  beyond: (beyond, most) =>
    `Au plus ${most} messages sont pris d’un même courriel\u00a0; ${beyond} autres étaient ` +
    'joints. Renvoyez-les en plusieurs courriels, s’il vous plaît.',
  unreadable:
    'Les archives (.zip et autres) et les fichiers d’Outlook (.msg, winmail.dat) ne sont pas ' +
    'ouverts, ni les transferts à votre nom que d’autres ont pu écrire. Joignez les messages ' +
    'eux-mêmes, s’il vous plaît.',
  howTo: 'Comment transférer un message en pièce jointe\u00a0:',
  page: (reports) => `Tous vos signalements\u00a0: ${reports}`,
  why: (settings) =>
    'Vous recevez ceci parce qu’un courriel est arrivé à votre adresse secrète de signalement. ' +
    'Si vous n’en avez pas envoyé, créez une nouvelle adresse\u00a0; l’ancienne cesse ' +
    `aussitôt\u00a0: ${settings}`,
}

const ru: Words = {
  greeting: 'Здравствуйте!',
  subjects: {
    confirmed: 'Ваша жалоба по почте получена',
    mixed: 'Приняты не все письма из вашей жалобы',
    nothing: 'Вашу жалобу по почте принять не удалось',
  },
  confirmed: (taken) =>
    `Принято пересланных вами писем: ${taken}. Впредь мы будем молчать, когда всё в порядке.`,
  taken: (taken) => `Принято пересланных вами писем: ${taken}. Остальное не принято:`,
  nothing:
    'В письме, которое вы послали на свой адрес для жалоб, нет ни одного письма, ' +
    'которое мы можем прочитать. При обычной пересылке заголовок теряется, а с ним и то, откуда ' +
    'письмо пришло. Пожалуйста, пересылайте письма как вложения.',
  refused: (refused) =>
    `Отклонено вложенных писем: ${refused}. Они слишком велики, слишком глубоко вложены или это ` +
    'не письма с заголовком.',
  beyond: (beyond, most) =>
    `Из одного письма принимается не более ${most} писем; вложено больше на ${beyond}. Пошлите ` +
    'их, пожалуйста, ещё раз, меньшими частями.',
  unreadable:
    'Архивы (.zip и другие) и файлы Outlook (.msg, winmail.dat) не открываются, как и ' +
    'пересланные от вашего имени письма, которые мог написать кто-то другой. Пожалуйста, ' +
    'вкладывайте сами письма.',
  howTo: 'Как переслать письмо как вложение:',
  page: (reports) => `Все ваши жалобы: ${reports}`,
  why: (settings) =>
    'Вы получили это, потому что на ваш секретный адрес для жалоб пришло письмо. ' +
    `Если вы его не посылали, создайте новый адрес, старый сразу перестанет ` +
    `действовать: ${settings}`,
}

const catalogs: Record<Language, Words> = { en, fr, ru }
