import type { reportsEn } from '../en/reports.ts'
import { plural } from '../plural.ts'

/** What the list of one's own reports says, in Russian. */
export const reportsRu: typeof reportsEn = {
  title: 'Мои жалобы',
  none: 'Вы ещё ни на что не жаловались.',
  nothing: 'Ни одна ваша жалоба не подходит. Попробуйте другие слова или другое время.',
  nothingYet: (day) =>
    `Среди ваших жалоб до ${day} ни одна не подходит. Есть и более ранние: ищите дальше.`,
  lookedAtTo: (day) => `Пока мы просмотрели жалобы до этого дня: ${day}.`,
  end: 'Дальше здесь ничего нет.',
  subject: 'Тема',
  received: 'Когда',
  kind: 'Как вы его назвали',
  state: 'Чем кончилось',
  find: 'Найти жалобу',
  words: 'Тема или автор',
  outcome: 'Чем кончилось',
  any: 'все',
  outcomes: {
    asking: 'у нас есть вопрос',
    waiting: 'ещё не закончено',
    told: 'мы кому-то сообщили',
    answered: 'нам ответили',
    kept: 'мы никому не сообщили',
    'taken-back': 'отозваны',
  },
  from: 'С (день)',
  to: 'По (день)',
  show: 'Показать',
  showAll: 'Снова показать все',
  told: (n) =>
    plural('ru', n, {
      one: 'Сообщено в # службу.',
      few: 'Сообщено в # службы.',
      many: 'Сообщено в # служб.',
      other: 'Сообщено в # службы.',
    }),
  toldNobody: 'Мы никому не сообщили.',
  answers: {
    resolved: 'Проблема решена.',
    'not-ours': 'Нам говорят, что это не их сеть.',
    wrong: 'Жалобу оспаривают.',
    stop: 'Больше отчётов не хотят.',
  },
  pages: 'Другие жалобы',
  older: 'Более ранние жалобы',
  newer: 'Более новые жалобы',
  lookFurther: 'Искать дальше',
  newest: 'Вернуться к новым',
  noSubject: '(без темы)',
  asks: 'У нас есть вопрос',
}
