import type { eventsEn } from '../en/events.ts'
import { answersRu } from './answers.ts'

/** What the lines of a timeline says, in Russian. */
export const eventsRu: typeof eventsEn = {
  received: 'Вы пожаловались',
  analyzed: 'Мы изучили письмо',
  'looked-up': 'Мы узнавали, кто отвечает за сеть',
  held: 'Мы подготовили отчёт',
  sent: 'Мы передали жалобу',
  refused: 'Наш почтовый сервер не принял отчёт',
  bounced: 'Наш отчёт вернулся',
  retracted: 'Вы отозвали жалобу',
  changed: 'Вы изменили жалобу',
  withdrawn: 'Отчёт, который ещё не ушёл, отозван',
  merged: 'О письме сказано в отчёте о других таких же',
  failed: 'Что-то пошло не так',
  redriven: 'Мы попробовали ещё раз',
  answered: 'Вы ответили на наш вопрос',
  reopened: 'Мы изучаем письмо ещё раз',
  ...answersRu.events,
  advised: 'Мы написали вам, как отписаться',
  unsubscribing: 'Вы попросили отписать вас',
  unsubscribed: 'Чем кончилась отписка',
}
