import type { uploadingEn } from '../en/uploading.ts'
import { number, plural } from '../plural.ts'

/** What the report form says of files, and of what became of them, in Russian. */
export const uploadingRu: typeof uploadingEn = {
  filesHelp: (file, upload, messages) =>
    `Сохранённые письма (.eml, .emlx), файлы Outlook (.msg), почтовые ящики (.mbox) или ` +
    `zip-архивы из них. Не больше ${number('ru', file)}\u00a0МБ каждый, ` +
    `${number('ru', upload)}\u00a0МБ и ` +
    plural('ru', messages, {
      one: '# письма всего.',
      few: '# писем всего.',
      many: '# писем всего.',
      other: '# письма всего.',
    }),
  findSource: 'Как найти исходный текст письма в моей почтовой программе?',
  losesFiles: 'Форма не может сохранить файлы: выберите их, пожалуйста, снова.',
  drop: 'Файлы можно также перетащить сюда.',
  chosen: 'Выбранные файлы',
  remove: 'Убрать {name}',
  fileTooBig: '{name} больше {limit} МБ и не взят.',
  allTooBig: 'Вместе файлы больше {limit} МБ. Уберите часть и отправьте её потом.',
  sending: 'Отправка: {percent}\u00a0%',
  reading: 'Отправлено. Мы читаем письма.',
  cancel: 'Прервать отправку',
  stopped: 'Отправка прервана. Ничего не записано.',
  failed: 'Соединение прервалось. Попробуйте ещё раз.',
  progress: 'Ход отправки',
  recorded: 'Записано',
  changed: 'Изменено',
  repeated: 'Уже было',
  refused: 'Не записано',
  rebuilt:
    'Outlook хранит письмо не таким, каким оно было отправлено, поэтому мы собрали его заново. ' +
    'Его подписи ничего не доказывают.',
  howTo: 'Как сохранить письмо вместе с заголовками',
}
