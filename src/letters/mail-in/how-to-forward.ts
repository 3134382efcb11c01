/** How to forward a message as an attachment, program by program, in the languages of letters. */
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
