import type { Words } from '../en/words.ts'
import { accountRu, ownAccountRu } from './account.ts'
import { answersRu, consumersRu } from './feedback.ts'
import { helpRu } from './help.ts'
import { listsRu } from './lists.ts'
import {
  problemsRu,
  questionRu,
  reportRu,
  reportsRu,
  retractionRu,
  statisticsRu,
  uploadingRu,
} from './reports.ts'
import { privacyRu, relaysRu, settingsRu, webhooksRu } from './settings.ts'
import { adviceRu, eventsRu, storyRu, toldRu, walkRu } from './story.ts'

/** All texts of the public pages, in Russian. */
export const ru: Words = {
  languageName: 'Русский',
  skip: 'Перейти к содержанию',
  nav: {
    label: 'Основное меню',
    report: 'Пожаловаться на письмо',
    reports: 'Мои жалобы',
    relays: 'Мои почтовые серверы',
    admin: 'Администрирование',
    signIn: 'Войти',
    signOut: 'Выйти',
    signedInAs: 'Вы вошли как',
    languages: 'Язык',
  },
  home: {
    title: 'Пожалуйтесь на спам, и о нём узнают те, кто может его остановить',
    lead:
      'Присылайте нам спам, который вам приходит. Signalpost выяснит, какая машина на самом деле ' +
      'передала его вашему почтовому провайдеру, и сообщит сети, которой она принадлежит.',
    steps: [
      [
        'Вы жалуетесь',
        'Вставьте исходный текст письма, загрузите файл или поручите это почтовой программе.',
      ],
      [
        'Мы находим источник',
        'Почти всё в письме можно подделать. Мы опираемся на то, что подделать нельзя, и ' +
          'объясняем почему.',
      ],
      [
        'О письме узнаёт сеть',
        'Её служба безопасности получает отчёт, который читают программы. Вашего имени в нём нет.',
      ],
    ],
    promise: 'За каждой жалобой можно следить, видеть, что мы выяснили, и отозвать её.',
  },
  signIn: {
    title: 'Вход',
    email: 'Адрес электронной почты',
    password: 'Пароль',
    remember: 'Оставаться в системе на этом устройстве',
    submit: 'Войти',
    wrong: 'Неверный адрес или пароль.',
    needed: 'Сначала войдите, пожалуйста.',
  },
  report: reportRu,
  uploading: uploadingRu,
  help: helpRu,
  sent: {
    title: 'Ваша жалоба',
    recorded: 'Ваша жалоба принята',
    before: 'Ваша жалоба была принята раньше: нового ничего нет',
    partly: 'Некоторые письма не приняты: смотрите ниже.',
    none: 'Ничего не удалось принять',
    results: 'Что стало с каждым письмом',
    pasted: 'Вставленное письмо',
    taken: 'принято',
    repeated: 'вы уже жаловались на это письмо',
    changed: 'раньше вы отметили это письмо иначе: действует ваш последний выбор',
    refused: 'не принято',
    follow: 'Следить за этой жалобой',
    another: 'Пожаловаться на другое письмо',
  },
  reports: reportsRu,
  states: {
    received: 'Изучается',
    analyzed: 'Изучена',
    forwarded: 'Передана',
    kept: 'Сохранена',
    retracted: 'Отозвана',
    failed: 'Застряла: мы этим занимаемся',
  },
  story: storyRu,
  retraction: retractionRu,
  statistics: statisticsRu,
  walk: walkRu,
  question: questionRu,
  relays: relaysRu,
  events: eventsRu,
  problems: problemsRu,
  advice: adviceRu,
  lists: listsRu,
  answers: answersRu,
  settings: settingsRu,
  webhooks: webhooksRu,
  account: accountRu,
  ownAccount: ownAccountRu,
  privacy: privacyRu,
  consumers: consumersRu,
  told: toldRu,
  error: { title: 'Не получилось', home: 'На главную' },
}
