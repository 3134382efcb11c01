import { expect, test } from 'vitest'
import { answerIn } from '../../../../src/mail/inbound/answer-words.ts'

test.for([
  ['Resolved', 'resolved'],
  ['FIXED!', 'resolved'],
  ['Hello,\n\nThis has been resolved.\n\nRegards', 'resolved'],
  ['Dear Signalpost team,\nThe issue is now fixed.', 'resolved'],
  ['We have suspended the account. Thank you.', 'resolved'],
  ['Hello,\nThe page has been removed.', 'resolved'],
  ['Removed.', 'resolved'],
  ['We have taken down the site.', 'resolved'],
  ['This is not phishing.', 'wrong'],
  ['Bonjour,\nC’est réglé.', 'resolved'],
  ['Résolu', 'resolved'],
  ['Guten Tag,\nerledigt.', 'resolved'],
  ['Problem behoben', 'resolved'],
  ['Здравствуйте!\nРешено.', 'resolved'],
  ['проблема устранена', 'resolved'],
  ['Not ours', 'not-ours'],
  ['This is not our network.', 'not-ours'],
  ['wrong address', 'not-ours'],
  ['We do not manage this network.', 'not-ours'],
  ['Ce n’est pas chez nous.', 'not-ours'],
  ['Nicht unser Netz', 'not-ours'],
  ['Это не наш адрес', 'not-ours'],
  ['Stop', 'stop'],
  ['unsubscribe', 'stop'],
  ['Please stop sending us these reports.', 'stop'],
  ['Désabonner', 'stop'],
  ['Abmelden', 'stop'],
  ['отписаться', 'stop'],
  ['False positive.', 'wrong'],
  ['This is not spam.', 'wrong'],
] as const)('%j means %s', ([words, kind]) => {
  expect(answerIn(words)).toBe(kind)
})

test.for([
  '',
  'not resolved',
  'This is not resolved.',
  'Resolved?',
  'Is this resolved?',
  'It will be resolved.',
  'If it is not ours we will tell you.',
  'We cannot stop this customer.',
  'We stop at nothing.',
  'How do I unsubscribe?',
  'Not ours? Please check.',
  'Resolved. But it is still sending.',
  'Resolved, except for the second host.',
  'The customer says it is fixed.',
  'We are looking into it. Fixed soon.',
  'Nicht behoben',
  'Pas résolu',
  'Не решено',
  'Fixed. Not ours.',
  'stop it or fix it',
  'Hello,\n\nplease send the header.',
  `Resolved ${'and so on '.repeat(30)}`,
])('%j has no clear meaning', (words) => {
  expect(answerIn(words)).toBeUndefined()
})
