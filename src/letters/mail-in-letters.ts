import { wrappedLines } from '../texts/wording.ts'

/** How to forward a message as an attachment, by mail program, in the languages of letters. */
export const howToForward: Readonly<
  Record<'en' | 'fr' | 'ru', readonly (readonly [program: string, steps: string])[]>
> = {
  en: [
    ['Gmail', 'tick the message in the list, open ⋮ at the top, choose “Forward as attachment”.'],
    [
      'Outlook on the web, new Outlook',
      'begin a new message and drag the unwanted one from the list into it; or open ⋯ in the ' +
        'message and choose Forward, “Forward as attachment”.',
    ],
    [
      'Outlook for Windows (classic)',
      'mark the message and press Ctrl+Alt+F. If we cannot read it, save it on the web as .eml ' +
        'and attach that file.',
    ],
    ['Apple Mail', 'mark the message, then Message, “Forward as Attachment”.'],
    ['Thunderbird', 'mark the messages, right click, “Forward As”, “Attachment”.'],
    [
      'Yahoo',
      'open ⋯ in the message, “View raw message”, save the page as a file that ends in .eml, and ' +
        'attach it to a new message.',
    ],
    ['Proton', 'open ⋯ in the message, “Export”, and attach the .eml file to a new message.'],
    ['Phones', 'most mail apps cannot do it: report from a computer.'],
  ],
  fr: [
    [
      'Gmail',
      'cochez le message dans la liste, ouvrez ⋮ en haut, puis «\u00a0Transférer en tant que ' +
        'pièce jointe\u00a0».',
    ],
    [
      'Outlook sur le web, nouvel Outlook',
      'commencez un nouveau message et glissez-y le message indésirable depuis la ' +
        'liste\u00a0; ou ouvrez ⋯ dans le message, Transférer, «\u00a0Transférer en tant que ' +
        'pièce jointe\u00a0».',
    ],
    [
      'Outlook pour Windows (classique)',
      'sélectionnez le message et appuyez sur Ctrl+Alt+F. Si nous ne pouvons pas le lire, ' +
        'enregistrez-le sur le web en .eml et joignez ce fichier.',
    ],
    [
      'Apple Mail',
      'sélectionnez le message, puis Message, «\u00a0Réexpédier en pièce jointe\u00a0».',
    ],
    [
      'Thunderbird',
      'sélectionnez les messages, clic droit, «\u00a0Transférer en\u00a0», ' +
        '«\u00a0Pièce jointe\u00a0».',
    ],
    [
      'Yahoo',
      'ouvrez ⋯ dans le message, «\u00a0Afficher le message brut\u00a0», enregistrez la page ' +
        'dans un fichier finissant par .eml et joignez-le à un nouveau message.',
    ],
    [
      'Proton',
      'ouvrez ⋯ dans le message, «\u00a0Exporter\u00a0», et joignez le fichier .eml à un ' +
        'nouveau message.',
    ],
    [
      'Téléphones',
      'la plupart des applications ne le permettent pas\u00a0: signalez d’un ordinateur.',
    ],
  ],
  ru: [
    [
      'Gmail',
      'отметьте письмо в списке, откройте ⋮ вверху и выберите «Переслать как прикрепленный файл».',
    ],
    [
      'Outlook в браузере, новый Outlook',
      'начните новое письмо и перетащите в него нежелательное из списка; или откройте ⋯ в ' +
        'письме: «Переслать», «Переслать как вложение».',
    ],
    [
      'Outlook для Windows (классический)',
      'выделите письмо и нажмите Ctrl+Alt+F. Если мы не сможем его прочитать, сохраните письмо в ' +
        'браузере как .eml и приложите этот файл.',
    ],
    ['Apple Mail', 'выделите письмо, затем «Сообщение», «Переслать как вложение».'],
    ['Thunderbird', 'выделите письма, правая кнопка мыши, «Переслать как», «Вложение».'],
    [
      'Yahoo',
      'откройте ⋯ в письме, «Просмотр исходного сообщения», сохраните страницу в файл с ' +
        'окончанием .eml и приложите его к новому письму.',
    ],
    ['Proton', 'откройте ⋯ в письме, «Экспорт», и приложите файл .eml к новому письму.'],
    ['Телефоны', 'большинство приложений этого не умеет: сообщайте с компьютера.'],
  ],
}

/** The result of a mail that a reporter sent in. */
export type MailInResult = {
  /** Messages that became reports. */
  taken: number
  /** Attached messages that were refused because of their content. */
  refused: number
  /** Messages above the maximum for one mail. */
  beyond: number
  messagesMax: number
  /** Archives, and files in a format of Outlook. */
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
 * Composes the answer to a mail with messages to report: that the first one arrived, what was not
 * accepted, or how to forward messages correctly. It contains no untrusted text.
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
