import { expect, test } from 'vitest'
import { looksMbox, splitMbox } from '../../../../src/mail/containers/mailbox-file.ts'
import { expectEffort } from '../../../support/effort.ts'

const from = 'From a@b.example Mon Nov 16 10:00:00 2026'

test.for([
  ['a line From with a date after a blank line', from, 2],
  ['one as Thunderbird writes it', 'From - Mon, 16 Nov 2026 10:00:00 +0000', 2],
  ['one as Gmail exports it', 'From 1849@xxx Mon Nov 16 10:00:00 +0000 2026', 2],
  ['a sentence', 'From what I hear, nobody comes', 1],
  ['a sentence with a year', 'From 2026 on, nobody comes', 1],
] as const)('whether %s begins a message', ([, line, count]) => {
  const box = Buffer.from(`${from}\nSubject: 1\n\nText\n\n${line}\nSubject: 2\n\nText\n`)
  expect(splitMbox(box, 10).messages).toHaveLength(count)
  expect(looksMbox(box)).toBe(true)
})

test.for([
  ['without a blank line before it', `Text\n${from}\nSubject: 2\n`],
  ['with no header behind it', `Text\n\n${from}\nAnd so on.\n`],
])('a dated From line does not begin a message %s', ([, text]) => {
  expect(splitMbox(Buffer.from(`${from}\nSubject: 1\n\n${text}`), 10).messages).toHaveLength(1)
})

test('messages come out unchanged, except for one > less before a quoted From', () => {
  const box = Buffer.from(
    `${from}\r\nSubject: 1\r\n\r\n>From here\r\n>>From there\r\n> From afar\r\n\r\n${from}\nSubject: 2\n\nEnd`,
  )
  expect(splitMbox(box, 10).messages.map(String)).toEqual([
    'Subject: 1\r\n\r\nFrom here\r\n>From there\r\n> From afar\r\n',
    'Subject: 2\n\nEnd',
  ])
})

test('a message that does not begin with From is not a mailbox file, whatever it quotes', () => {
  expect(looksMbox(Buffer.from(`Subject: 1\n\n${from}\nSubject: 2\n\n\n${from}\nA: b\n`))).toBe(
    false,
  )
})

test('only the beginning of a file decides whether it is a mailbox file', async () => {
  const line = `\nFrom a${' 1:11'.repeat(50)}\rx 2026\n`
  const box = Buffer.from(`${from}\nSubject: 1\n\n${line.repeat(50_000)}`)
  await expectEffort(() => {
    for (let count = 0; count < 100; count++) looksMbox(box)
  }, 200)
})

const mail = (mark: number) =>
  `Received: from x ([192.0.2.${mark}]) by mx; x\nFrom: a${mark}@b.example\nSubject: ${mark}\n\nText ${mark}\n`
const date = 'Mon Nov 16 10:00:00 2026'

test.for([
  ['no date, as Thunderbird writes it', 'From '],
  ['no date and no blank', 'From'],
  ['a dash only', 'From -'],
  ['a dash and a date', `From - ${date}`],
  ['an address only', 'From a@b.example'],
  ['MAILER-DAEMON only', 'From MAILER-DAEMON'],
  ['an address and a date', `From a@b.example ${date}`],
  ['an address, a date and a host', `From a@b.example ${date} remote from there`],
  ['question marks, as Eudora writes it', `From ???@??? ${date}`],
  ['a date and a zone', 'From a@b.example Mon Nov 16 10:00:00 CET 2026'],
] as const)('messages after lines with %s are split in every form', ([, line]) => {
  const messages = Array.from({ length: 60 }, (_, at) => mail(at))
  for (const between of ['\n', '', '\n\n']) {
    const box = messages.map((message) => `${line}\n${message}`).join(between)
    for (const text of [box, box.replaceAll('\n', '\r\n'), `\uFEFF${box}`, `\n\n${box}`]) {
      const found = splitMbox(Buffer.from(text), 100).messages.map(String)
      expect(found).toHaveLength(60)
      const extra = between === '\n\n' ? '\n' : ''
      expect(found.map((one) => one.replaceAll('\r', ''))).toEqual(
        messages.map((message, at) => message + (at === 59 ? '' : extra)),
      )
    }
  }
})

test.for([
  ['a sentence', 'From what I hear, nobody comes'],
  ['a sentence before a quoted header', 'From the headers I see:\nFrom: a@b.example\nSubject: x'],
  ['another form after a blank line', '\nFrom bob\nFrom: a@b.example\nSubject: x'],
  ['a name without a header', 'From bob\n\nHello'],
  ['a bare line without a header', 'From\nhere to there'],
  ['a quoted line', `>From a@b.example ${date}\nFrom: a@b.example\nSubject: x`],
  ['another form', 'From a@b.example\nFrom: a@b.example\nSubject: x'],
] as const)('%s in a text does not begin a message', ([, text]) => {
  const box = Buffer.from(`From a@b.example ${date}\n${mail(1)}${text}\n\nEnd\n`)
  expect(splitMbox(box, 10).messages).toHaveLength(1)
})
