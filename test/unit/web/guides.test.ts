import { expect, test } from 'vitest'
import { textsIn } from '../../../src/texts/messages.ts'
import { guessKind } from '../../../src/reports/guess-kind.ts'
import { guideOf, listGuides, suggestedGuide } from '../../../src/web/reporting/guides.ts'

const texts = textsIn('en')
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36'
const iPhone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1'

test.for([
  ['ann@gmail.com', windows, 'gmail'],
  ['ann@hotmail.fr', windows, 'outlook-web'],
  ['ann@yahoo.co.uk', '', 'yahoo'],
  ['ann@wanadoo.fr', iPhone, 'orange'],
  ['ann@bk.ru', '', 'mailru'],
  ['ann@ya.ru', '', 'yandex'],
  ['ann@web.de', '', 'gmx'],
  ['ann@company.example', windows, 'outlook-new'],
  ['ann@company.example', iPhone, 'iphone'],
  ['ann@company.example', 'Mozilla/5.0 (Linux; Android 15)', 'android'],
  ['ann@company.example', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 15)', 'apple-mail'],
  ['ann@company.example', '', 'thunderbird'],
  ['', 'x'.repeat(10_000), 'thunderbird'],
] as const)('to %s, with the browser %s, the guide %s is suggested', ([email, userAgent, key]) => {
  expect(suggestedGuide({ email, userAgent }, texts)?.key).toBe(key)
})

test('every guide has a name and at least one way, in each language', () => {
  for (const language of ['en', 'fr', 'ru'] as const) {
    const { web, programs } = listGuides(textsIn(language))
    for (const { key } of [...web, ...programs]) {
      expect([key, guideOf(key, textsIn(language))?.ways[0]?.steps.length]).not.toEqual([key, 0])
    }
  }
  expect(guideOf('__proto__', texts)).toBeUndefined()
})

test.for([
  ['phishing', 'Your account is suspended. Verify your password immediately.'],
  ['phishing', 'Vérifiez votre compte avant la suspension.'],
  ['spam', 'Cheap watches, today only. Act now!'],
  ['spam', ''],
] as const)('the kind %s is guessed', ([kind, text]) => {
  expect(guessKind(text)).toBe(kind)
})
