import type { SourceGuide } from '../../en/sources/programs.ts'
import type { webMailEn } from '../../en/sources/web-mail.ts'

const save = 'Сохранить письмо в файл'
const copy = 'Скопировать исходный текст'
const upload = 'Загрузите файл .eml сюда.'
const paste = 'Выделите всё, скопируйте и вставьте сюда.'
const byName = 'Меню этого сайта — на его языке; мы приводим их так, как они там написаны.'

/** Guides for web mail, in Russian. */
export const webMailRu: Record<keyof typeof webMailEn, SourceGuide> = {
  gmail: {
    name: 'Gmail',
    ways: [
      {
        title: save,
        steps: [
          'Откройте письмо в браузере и нажмите три точки справа вверху («Ещё»).',
          'Выберите «Скачать сообщение».',
          upload,
        ],
      },
      {
        title: copy,
        steps: [
          'Нажмите три точки и выберите «Показать оригинал».',
          'В новой вкладке нажмите «Скопировать в буфер обмена» и вставьте сюда.',
        ],
      },
    ],
    note:
      'Приложение Gmail для Android и iPhone этого не умеет. Откройте mail.google.com в ' +
      'браузере, на телефоне — в «версии для ПК».',
  },
  'outlook-web': {
    name: 'Outlook.com, Hotmail, Outlook в Интернете',
    ways: [
      {
        title: save,
        steps: [
          'Откройте письмо и нажмите «…» (Дополнительные действия) справа вверху.',
          'Выберите «Скачать», затем «Скачать как EML».',
          upload,
        ],
      },
      {
        title: copy,
        steps: ['Нажмите «…», затем «Просмотр», затем «Просмотреть источник сообщения».', paste],
      },
    ],
  },
  yahoo: {
    name: 'Yahoo Mail',
    ways: [
      {
        title: copy,
        steps: [
          'Откройте письмо и нажмите над ним три точки («More»).',
          'Выберите «View raw message».',
          paste,
        ],
      },
    ],
  },
  proton: {
    name: 'Proton Mail',
    ways: [
      {
        title: save,
        steps: [
          'Откройте письмо и нажмите три точки («Ещё») справа вверху.',
          'Выберите «Экспорт».',
          upload,
        ],
      },
    ],
    note: '«Просмотреть заголовки» показывает одни заголовки; нам нужно письмо целиком.',
  },
  orange: {
    name: 'Orange',
    ways: [
      {
        title: copy,
        steps: [
          'Откройте письмо на сайте почты и меню других действий («plus»).',
          'Выберите пункт, который показывает исходный текст («code source») или ' +
            'заголовки («en-tête»).',
          paste,
        ],
      },
    ],
    note: byName,
  },
  free: {
    name: 'Free',
    ways: [
      {
        title: 'В Zimbra',
        steps: ['Щёлкните письмо в списке правой кнопкой и выберите «Afficher l’original».', paste],
      },
      {
        title: 'В Roundcube',
        steps: ['Откройте письмо, затем «Plus», затем «Télécharger (.eml)».', upload],
      },
    ],
    note: byName,
  },
  sfr: {
    name: 'SFR',
    ways: [
      {
        title: copy,
        steps: [
          'Откройте письмо на сайте почты и меню других действий.',
          'Выберите пункт, который показывает исходный текст («source») или заголовки («' +
            'en-tête»).',
          paste,
        ],
      },
    ],
    note: byName,
  },
  laposte: {
    name: 'La Poste',
    ways: [
      {
        title: copy,
        steps: [
          'Откройте письмо на сайте почты и меню других действий (три точки).',
          'Выберите пункт, который показывает исходный текст («source») или заголовки («' +
            'en-tête»).',
          paste,
        ],
      },
    ],
    note: byName,
  },
  mailru: {
    name: 'Почта Mail.ru',
    ways: [
      {
        title: save,
        steps: ['Откройте письмо и нажмите над ним «Ещё».', 'Выберите «Скачать».', upload],
      },
      { title: copy, steps: ['Нажмите «Ещё», затем «Служебные заголовки».', paste] },
    ],
  },
  yandex: {
    name: 'Яндекс Почта',
    ways: [
      {
        title: copy,
        steps: ['Откройте письмо и нажмите три точки.', 'Выберите «Свойства письма».', paste],
      },
    ],
  },
  gmx: {
    name: 'GMX и Web.de',
    ways: [
      {
        title: save,
        steps: [
          'Откройте письмо и нажмите «Mehr» («More»).',
          'Выберите пункт, который сохраняет его в файл («Speichern»).',
          upload,
        ],
      },
      {
        title: copy,
        steps: ['Нажмите маленькую «i» («Info») рядом с датой, затем «Erweiterter Header».', paste],
      },
    ],
    note: 'В одних заголовках нет текста письма: лучше сохраните его в файл.',
  },
  roundcube: {
    name: 'Roundcube',
    ways: [
      {
        title: save,
        steps: ['Откройте письмо, затем «Ещё», «Скачать», «Исходный код (.eml)».', upload],
      },
      { title: copy, steps: ['Нажмите «Ещё», затем «Показать исходный код».', paste] },
    ],
  },
  zimbra: {
    name: 'Zimbra',
    ways: [
      {
        title: copy,
        steps: ['Щёлкните письмо в списке правой кнопкой и выберите «Показать оригинал».', paste],
      },
    ],
  },
}
