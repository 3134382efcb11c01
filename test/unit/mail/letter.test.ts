import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { composeLetter, type LetterContent } from '../../../src/mail/letter.ts'

const content: LetterContent = {
  from: 'feedback@signalpost.example',
  to: 'ann@reporters.example',
  subject: 'Се désabonner : «лист» 日本',
  text: 'Здравствуйте,\n\nune ligne qui est vraiment bien plus longue que les autres, é è à ù, et encore.\n.\nFrom here',
  language: 'fr',
  date: new Date('2026-11-22T05:00:00Z'),
  messageId: '<letter.1@bounces.test.example>',
  inReplyTo: '<asked@reporters.example>',
  autoSubmitted: 'replied',
  unsubscribe: 'https://spam.example/letters/stop/abc',
}

test('a letter can be read back, in any script', async () => {
  const raw = composeLetter(content)
  const read = await simpleParser(raw)
  expect(read.subject).toBe(content.subject)
  expect(read.text?.trimEnd()).toBe(content.text)
  expect(read.inReplyTo).toBe(content.inReplyTo)
  expect(read.headers.get('auto-submitted')).toBe('auto-replied')
})

test('a letter is 7-bit with short CRLF lines, and the same each time', () => {
  const raw = composeLetter(content)
  expect(raw.equals(composeLetter(content))).toBe(true)
  const lines = raw.toString('latin1').split('\r\n')
  expect(lines.every((line) => line.length <= 78 && /^[\t\x20-\x7e]*$/.test(line))).toBe(true)
})

test('a letter with HTML offers both forms, the better one last', async () => {
  const html = '<p>Здравствуйте, <a href="https://spam.example/?a=1&amp;b=2">é</a></p>'
  const raw = composeLetter({ ...content, html })
  const read = await simpleParser(raw)
  expect(read.text?.trimEnd()).toBe(content.text)
  expect(String(read.html).trimEnd()).toBe(html)
  const types = raw.toString('latin1').match(/^Content-Type: [^;]+/gm)
  expect(types?.map((one) => one.slice(14))).toEqual([
    ...['multipart/alternative', 'text/plain', 'text/html'],
  ])
  const lines = raw.toString('latin1').split('\r\n')
  expect(lines.every((line) => line.length <= 78 && /^[\t\x20-\x7e]*$/.test(line))).toBe(true)
})

test('In-Reply-To is omitted if it would break the header', () => {
  const raw = composeLetter({ ...content, inReplyTo: '<a@b>\r\nBcc: <x@y>' })
  expect(raw.toString()).not.toMatch(/Bcc|In-Reply-To|References/)
})

test.for([
  ['an address', { to: 'ann@reporters.example\r\nBcc: all@example' }],
  ['a Reply-To', { replyTo: 'a b@example' }],
  ['a Message-ID', { messageId: '<a@b>\r\nX: y' }],
  ['a link', { unsubscribe: 'https://spam.example/>\r\nX: y' }],
] as const)('%s that would break the header is refused', ([, change]) => {
  expect(() => composeLetter({ ...content, ...change })).toThrow(RangeError)
})

test.for([
  ['a\r\nBcc: x@y.example', 'a Bcc: x@y.example'],
  ['a\0b\x1bc\x7fd', 'a b c d'],
  ['=?utf-8?Q?a=0D=0ABcc:_x?=', '=?utf-8?Q?a=0D=0ABcc:_x?='],
  ['=?utf-8?B?AA==?= лист', '=?utf-8?B?AA==?= лист'],
] as const)(
  'the subject %j is one line of text, encoded words included',
  async ([subject, read]) => {
    const raw = composeLetter({ ...content, subject })
    expect(raw.toString()).not.toMatch(/^Bcc/im)
    expect((await simpleParser(raw)).subject).toBe(read)
  },
)
