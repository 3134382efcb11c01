import type { walkEn } from '../en/walk.ts'
import { number } from '../plural.ts'

/** What the drawn way of a message says, in Russian. */
export const walkRu: typeof walkEn = {
  label: 'Путь письма от вашего ящика наружу',
  mailbox: 'Ваш почтовый ящик',
  holds: 'получил письмо от машины',
  seen: {
    trusted: 'получено от этой машины',
    injection: 'получено снаружи, и эту машину было видно напрямую',
    believed: 'сказано, и мы этому верим, что получено от этой машины',
    claimed: 'будто бы получено от этой машины',
    forged: 'кто-то выдумал строку, в которой сказано',
  },
  unlinked: 'выше ничто не указывает на следующую машину',
  line: (index) => `строка Received ${number('ru', index + 1)}`,
  roles: {
    ours: 'Машина вашего почтового провайдера',
    origin: 'Источник: здесь письмо вошло в сеть провайдера',
    unclear: 'Дальше мы пройти не можем',
    believed: 'Названа провайдером, которого мы знаем: вероятно, правда',
    claimed: 'Только слова',
    forged: 'Не может быть правдой',
  },
  unnamed: 'машина без имени',
  alias: 'Называет себя',
  network: 'Её сеть:',
  sure: {
    very: 'Мы совершенно уверены',
    fairly: 'Мы почти уверены',
    not: 'Мы не уверены',
  },
  percent: (percent) => `${number('ru', percent)}\u00a0%`,
  why: 'Почему мы так считаем:',
  behind: (name) => `За ней, по словам ${name}:`,
  isSubmitter: 'С этой машины письмо было отправлено.',
  border: 'Здесь начинаются посторонние.',
  borderHelp: 'Ниже этой черты кто угодно мог написать что угодно.',
}
