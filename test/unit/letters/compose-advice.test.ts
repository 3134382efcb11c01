import { expect, test } from 'vitest'
import {
  type AdviceFacts,
  composeAdvice,
  unsubscribeWays,
} from '../../../src/letters/advice-letters.ts'

const facts: AdviceFacts = {
  language: 'en',
  subject: 'What is new',
  reportedAt: new Date('2026-11-16T10:00:00Z'),
  sender: { is: 'known', name: 'Example Shop', by: 'signature', proof: 'example.org' },
  declared: { en: 'Open your account.\nChoose “No mail”.' },
  website: 'https://www.example.org/',
  ways: {
    link: { url: 'https://news.example.org/off', host: 'news.example.org' },
    mail: { address: 'off@example.org', subject: undefined },
  },
  canClick: true,
  notified: { network: false, sender: false },
  pageUrl: 'https://here.example/reports/1',
  offUrl: { url: 'https://here.example/letters/off/x', key: 'x' },
}

test('the letter names the sender, the reason, what to do, and what happens next', () => {
  expect(composeAdvice(facts).text).toBe(`Hello,

On 16 November 2026 you reported the message “What is new”.

It is a mailing from Example Shop. You can unsubscribe, and here is how to do
it safely.

HOW TO UNSUBSCRIBE
- Example Shop says:
  Open your account.
  Choose “No mail”.
- Click the unsubscribe button on the page of your report. We then ask the
  sender once, on your behalf, to remove you from the list.
  https://here.example/reports/1
- Use the link in the message, which leads to news.example.org:
  https://news.example.org/off
- Send a mail to off@example.org. It may be empty.

Website: https://www.example.org/

WHY WE THINK SO
The message has a valid digital signature of example.org. We verified it when
your report arrived. No one else can create such a signature.

WHAT HAPPENS NEXT
After you unsubscribe, mail may still arrive for some days. If it does not
stop within two weeks, report the next message. Then we know that
unsubscribing does not help.

We have not complained to anyone because of your report.

See your report:
https://here.example/reports/1

We write to you about the same sender at most once a week.

To stop these mails:
https://here.example/letters/off/x

`)
})

test('the letter says the same in HTML, with untrusted text as text', () => {
  const sender = { is: 'known', name: '<b>Shop</b>', by: 'signature', proof: '"x"' } as const
  const { html } = composeAdvice({ ...facts, sender, subject: '<script>alert(1)</script> & more' })
  expect(html).toContain('“&lt;script&gt;alert(1)&lt;/script&gt; &amp; more”')
  expect(html).toContain('&lt;b&gt;Shop&lt;/b&gt;')
  expect(html).not.toMatch(/<(?!\/?(?:html|head|meta|body|div|p|h2|ul|li|a|br|hr|!doctype)\b)/)
  expect(html).not.toMatch(/src=|url\(|<style|class=/)
})

test.for(['fr', 'ru'] as const)(
  'advice in another language names that language: %s',
  (language) => {
    const { text } = composeAdvice({ ...facts, language })
    expect(text).toContain(
      language === 'fr' ? 'Example Shop indique (en anglais)\u00a0:' : 'сообщает (по-английски):',
    )
  },
)

const languages = ['en', 'fr', 'ru'] as const
const variants: Partial<AdviceFacts>[] = [
  {},
  { sender: { is: 'cautious', domain: 'example.org' }, declared: {}, website: null },
  { sender: { is: 'known', name: 'X', by: 'range', proof: '192.0.2.0/24' }, subject: null },
  { ways: {}, declared: {}, canClick: false, notified: { network: true, sender: false } },
  { notified: { network: false, sender: true } },
]
const letters = languages.flatMap((language) =>
  variants.map((variant, at) => [language, at, composeAdvice({ ...facts, ...variant, language })]),
) as [(typeof languages)[number], number, { subject: string; text: string }][]

test.for(letters)(
  'the letter %s %i follows the typography of its language',
  ([language, , letter]) => {
    const prose = `${letter.subject}\n${letter.text.replaceAll(/https?:\S+/g, '')}`
    expect(prose).not.toMatch(/ {2,}\S.*undefined|undefined|null|\[object/)
    expect(prose).not.toMatch(/'/)
    if (language === 'fr') expect(prose).not.toMatch(/\b[dD]e [aeiou]/)
    if (language === 'ru') expect(prose).not.toMatch(/ [,.:;?!]/)
  },
)

test.for([
  [
    'en',
    'We have not complained',
    'The sender has asked to receive complaints',
    'We notified the network that',
  ],
  ['fr', 'Personne n’a été mis', 'L’expéditeur demande', 'Nous avons prévenu le réseau'],
  ['ru', 'никому не писали', 'Отправитель просит', 'сообщили сети'],
] as const)(
  'the notified recipients are named correctly: %s',
  ([language, nobody, sender, network]) => {
    const said = (notified: AdviceFacts['notified']) => {
      const { text } = composeAdvice({ ...facts, language, notified })
      return [nobody, sender, network].map((words) => text.includes(words))
    }
    expect(said({ network: false, sender: false })).toEqual([true, false, false])
    expect(said({ network: false, sender: true })).toEqual([false, true, false])
    expect(said({ network: true, sender: true })).toEqual([false, true, true])
    expect(said(undefined)).toEqual([false, false, false])
  },
)

test('untrusted text cannot become a link or change the layout', () => {
  const subject = 'Win\u202e at https://bad.example/x \u200bnow\r\nBcc: all www.bad.example'
  const { text } = composeAdvice({ ...facts, subject })
  expect(text).toContain('“Win at … now Bcc: all …”')
})

test.for<[string, string | null, string | null, object]>([
  [
    'a link and an address',
    'https://a.example/x',
    'mailto:off@a.example',
    {
      link: { url: 'https://a.example/x', host: 'a.example' },
      mail: { address: 'off@a.example', subject: undefined },
    },
  ],
  [
    'a subject with a plus',
    null,
    'mailto:a+b@a.example?subject=off%20a+b',
    {
      mail: { address: 'a+b@a.example', subject: 'off a+b' },
    },
  ],
  ['a link that is not secure', 'http://a.example/', null, {}],
  ['a link with a password', 'https://a:b@a.example/', null, {}],
  ['a link of other letters', 'https://а.example/', null, {}],
  ['two addresses', null, 'mailto:a@a.example,b@b.example', {}],
  ['a line more', null, 'mailto:a@a.example%0d%0aBcc:x@y.example', {}],
  ['half a code', null, 'mailto:%E0%A4%A', {}],
])('of the ways to unsubscribe, %s is shown if it is safe', ([, https, mailto, ways]) => {
  expect(unsubscribeWays({ https, mailto, oneClick: false })).toEqual(ways)
})
