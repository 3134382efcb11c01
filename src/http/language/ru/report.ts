import type { reportEn } from '../en/report.ts'
import { number } from '../plural.ts'

/** What the report form says, in Russian. */
export const reportRu: typeof reportEn = {
  title: 'Пожаловаться на письмо',
  lead: 'Нам нужен полный исходный текст письма со всеми строками заголовка.',
  paste: 'Исходный текст письма',
  pasteHelp:
    'В вашей почте это может называться «показать оригинал», «исходный текст» или «свойства ' +
    'письма».',
  files: 'Или файлы писем (.eml), один или несколько',
  filesHelp: (megabytes) => `Каждый не больше ${number('ru', megabytes)}\u00a0МБ.`,
  kind: 'Что это?',
  kinds: { spam: 'Спам', phishing: 'Фишинг', 'not-spam': 'Не спам' },
  kindHelp: {
    spam: 'реклама или другие письма, которых вы не просили',
    phishing: 'кто-то выдаёт себя за банк, магазин или коллегу',
    'not-spam': 'вам это письмо нужно, а другие приняли его за спам',
  },
  comment: 'Комментарий (необязательно)',
  submit: 'Пожаловаться',
  nothing: 'Вставьте исходный текст письма или выберите файл.',
}
