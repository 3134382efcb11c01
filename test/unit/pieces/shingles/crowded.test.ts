import { expect, test } from 'vitest'
import { analyzeMessage } from '../../../../src/pieces/analyze.ts'
import { shinglesMax } from '../../../../src/pieces/shingles/shingle-list.ts'

const words = 'alfa bravo charlie delta echo foxtrot golf hotel india juliett'.split(' ')
const accounts = [
  ...['GB82WEST12345698765432', 'DE89370400440532013000', 'FR1420041010050500013M02606'],
  ...['NL91ABNA0417164300', 'CH9300762011623852957', 'AT611904300234573201'],
  ...['BE68539007547034', 'ES9121000418450200051332'],
]

/** Writes eight items, each with its number and a separate word. */
function eight(write: (number: number, word: string) => string): string[] {
  return words.slice(0, 8).map((word, number) => write(number, word))
}

const link = (href: string) => `<a href="http://${href}">x</a>`
const wrapped = (number: number, word: string) =>
  encodeURIComponent(`http://t${number}.target${number}.example/${word}/${word}?${word}=1`)

const header = [
  'Received: from evil.example (evil.example [198.51.100.7]) by mx.provider.example (Postfix)',
  ' with ESMTP id 1; Mon, 16 Nov 2026 10:00:00 +0000',
  'Received: from other.example (other.example [203.0.113.9]) by evil.example (Postfix)',
  ' with ESMTP id 2; Mon, 16 Nov 2026 09:59:00 +0000',
  ...eight((n) => `DKIM-Signature: v=1; d=d${n}.s${n}.example; s=k${n}; i=@x.s${n}.example`),
  'From: "A Bank" <a1b2@mail.evil.example>',
  'Reply-To: <answers@reply.example>',
  'Sender: <s@sender.example>',
  'Return-Path: <b123@mail.evil.example>',
  'List-Id: <list.evil.example>',
  'Feedback-ID: abc',
  `List-Unsubscribe: ${eight((n) => `<http://u${n}.leave${n}.example/>`).join(', ')}`,
  'To: you@provider.example',
  'Subject: alpha beta gamma delta epsilon zeta eta theta 12',
  'Message-ID: <abc123@id.evil.example>',
  'X-Mailer: Foo 1.2',
  ...eight((_, word) => `X-Odd-${word}: 1`),
  'Date: Mon, 16 Nov 2026 10:00:00 +0000',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=bound123',
]

const html = [
  '<html><title>A title</title><style>a{}</style>',
  ...eight((_, word) => `<!-- comment ${word} -->`),
  `<p>${words.join(' ')} ${words.toReversed().join(' ')} and more words to make a text.</p>`,
  ...eight((n, word) => link(`198.51.${100 + n}.1/${word}`)),
  ...eight((n, word) => link(`www.google.com/url?q=${wrapped(n, word)}`)),
  ...eight((n, word) => link(`r${n}.red${n}.example/${word}?u=${wrapped(n, word)}`)),
  ...eight((n, word) => `<form action="http://f${n}.form${n}.example/${word}"></form>`),
  ...eight((n, word) => `<img src="http://i${n}.img${n}.example/${word}.png">`),
  `<p>${eight((n) => `call +1 212 555 010${n}`).join(', ')}</p>`,
  `<p>${accounts.join(', ')}</p>`,
  `<p>${eight((n) => `0x${String(n).padStart(40, 'a')}`).join(' , ')}</p>`,
  `<p>${eight((n) => `mail u${n}@mail${n}.example`).join(' , ')}</p></html>`,
]

const file = (type: string, name: string, size: number) => [
  '--bound123',
  `Content-Type: ${type}; name="${name}"`,
  '',
  'content '.repeat(4) + 'x'.repeat(size),
]

const crowded = [
  ...header,
  '',
  '--bound123',
  'Content-Type: text/html; charset=utf-8',
  '',
  ...html,
  ...eight((n, word) => file('image/png', `${word}.png`, n).join('\r\n')),
  ...eight((n, word) => file(`application/x-${word}`, `${word}.${word}`, 9 + n).join('\r\n')),
  '--bound123--',
  '',
].join('\r\n')

test('however much a message is stuffed, no type of pieces is crowded out', async () => {
  const options = { trustedRelays: [], ignoreStamps: true }
  const { shingles, fingerprints } = await analyzeMessage(Buffer.from(crowded), options)
  const counts = Map.groupBy(shingles, ({ name }) => name)
  for (const name of ['link-host', 'telephone', 'cryptocurrency-address', 'bank-account']) {
    expect(counts.get(name)).toHaveLength(8)
  }
  expect(counts.get('attachment')).toHaveLength(8)
  const last = ['text', 'html-structure', 'text-authors', 'structure-organizations']
  for (const name of [...last, 'words']) expect([...counts.keys()]).toContain(name)
  expect(counts.get('body-address-authors')).toHaveLength(4)
  expect(fingerprints.text).toBeDefined()
  expect(shingles.length).toBeLessThan(shinglesMax)
})
