import type { retractionEn } from '../en/retraction.ts'
import { plural } from '../plural.ts'

/** What is asked before a report is taken back, in Russian. */
export const retractionRu: typeof retractionEn = {
  title: 'Отозвать эту жалобу?',
  back: 'Назад к жалобе',
  lead: 'Если вы ошиблись в этом письме, скажите об этом. Ничего стыдного, и это помогает:',
  what: 'Что тогда произойдёт',
  counters: 'Письмо больше не учитывается как ваша жалоба – ни здесь, ни в его рассылке.',
  reputations: 'Выводы, которые мы из неё сделали об отправителе и сети, отменяются.',
  consumers: (told, waiting) =>
    [
      told > 0 &&
        plural('ru', told, {
          one: 'Мы сообщили в # службу: она получит поправку.',
          few: 'Мы сообщили в # службы: они получат поправку.',
          many: 'Мы сообщили в # служб: они получат поправку.',
          other: 'Мы сообщили в # службы: они получат поправку.',
        }),
      waiting > 0 && 'То, что ещё не ушло, не уйдёт.',
      told + waiting === 0 && 'Мы никому не сообщали, и поправлять никого не надо.',
    ]
      .filter(Boolean)
      .join(' '),
  yours: 'Жалоба останется в вашем списке с пометкой «отозвана».',
  forGood: 'Отменить это нельзя.',
  submit: 'Я ошибся: отозвать',
  cancel: 'Нет, оставить как есть',
}
