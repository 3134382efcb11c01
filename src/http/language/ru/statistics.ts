import type { statisticsEn } from '../en/statistics.ts'
import { number, plural } from '../plural.ts'

const n = (value: number) => number('ru', value)

/** What the page of one's own statistics says, in Russian. */
export const statisticsRu: typeof statisticsEn = {
  title: 'Моя статистика',
  lead:
    'Что дали ваши жалобы. Дни считаются по всемирному времени (UTC). Последних минут может ' +
    'ещё не быть; в дни с очень большим числом жалоб – последнего часа.',
  none: 'Считать пока нечего.',
  howMany: 'Сколько вы пожаловались',
  charts: { day: 'Последние 30 дней, по дням', week: 'Последние 12 месяцев, по неделям' },
  whatBecame: 'Чем кончилось',
  periods: ['Последние 30 дней', 'Последние 12 месяцев'],
  reports: (total) =>
    plural('ru', total, {
      one: '# жалоба',
      few: '# жалобы',
      many: '# жалоб',
      other: '# жалобы',
    }),
  became: {
    told: 'Мы кому-то сообщили',
    kept: 'Мы никому не сообщили',
    asked: 'У нас есть вопрос',
    waiting: 'Ещё не закончено',
    retracted: 'Вы отозвали',
  },
  mails: (mails) => `Наших отчётов дошло до служб безопасности: ${n(mails)}.`,
  answered: (answered, told) =>
    `Жалоб, о которых мы сообщили: ${n(told)}; с ответом: ${n(answered)}.`,
  whereFrom: 'Откуда письма',
  whereFromHelp: 'За последние 30 дней, где это удалось установить, без отозванных жалоб.',
  noOrigins: 'За последние 30 дней этого не удалось установить ни разу.',
  countries: 'Страны сетей',
  networks: 'Сети',
  together: 'Сколько людей пожаловались на то же',
  campaigns: (large, latest, reportsMin) =>
    `Ваших последних жалоб: ${n(latest)}. Из них на рассылки, на которые жаловались не меньше ` +
    `${n(reportsMin)} раз: ${n(large)}.`,
}
