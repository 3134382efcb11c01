import { expect, test } from 'vitest'
import { ownTextOf } from '../../../../src/mail/inbound/own-text.ts'
import { readInbound } from '../../../../src/mail/inbound/read-inbound.ts'

const quoted = '> Your report\n> of Monday'

test.for([
  ['marks', `Fixed.\n\n${quoted}`],
  ['an English line', `Fixed.\n\nOn Mon, 16 Nov 2026 at 10:00, Signalpost wrote:\n${quoted}`],
  [
    'a line broken in two',
    `Fixed.\n\nOn Mon, 16 Nov 2026, at 10:00, Signalpost\n<re@signalpost.example> wrote:\n\n${quoted}`,
  ],
  ['a line and no marks', 'Fixed.\n\nOn Mon, 16 Nov 2026, Signalpost wrote:\nYour report'],
  ['a French line', `Fixed.\n\nLe lun. 16 nov. 2026 à 10:00, Signalpost a écrit :\n${quoted}`],
  ['a German line', `Fixed.\n\nAm 16.11.2026 um 10:00 schrieb Signalpost:\n${quoted}`],
  ['a Russian line', `Fixed.\n\n16.11.2026 10:00, Signalpost пишет:\n${quoted}`],
  ['a Russian date', `Fixed.\n\nпн, 16 нояб. 2026 г. в 10:00, Signalpost написал(а):\n${quoted}`],
  ['Outlook', 'Fixed.\n\n-----Original Message-----\nFrom: Signalpost\nSent: Monday\nReport'],
  [
    'Outlook’s header',
    'Fixed.\n\nFrom: Signalpost\nSent: Monday\nTo: Desk\nSubject: Offers\n\nReport',
  ],
  [
    'French Outlook',
    'Fixed.\n\nDe : Signalpost\nEnvoyé : lundi\nÀ : Desk\nObjet : Offers\n\nReport',
  ],
  ['German Outlook', 'Fixed.\n\n-----Ursprüngliche Nachricht-----\nVon: Signalpost\nReport'],
  ['Russian Outlook', 'Fixed.\n\nОт: Signalpost\nОтправлено: понедельник\nКому: Desk\nReport'],
  ['Outlook on the web', 'Fixed.\n\n________________________________\nFrom: Signalpost\nReport'],
  ['a forwarded copy', 'Fixed.\n\nBegin forwarded message:\n\nFrom: Signalpost'],
] as const)('text below %s is not the author’s own', ([, text]) => {
  expect(ownTextOf(text).words).toBe('Fixed.')
})

test('an answer below or between quoted text is kept', () => {
  const text = `On Mon, 16 Nov 2026, Signalpost wrote:\n${quoted}\nFirst.\n> more\nSecond.`
  expect(ownTextOf(text).words).toBe('First.\nSecond.')
})

test.for([
  'On Monday we wrote:\nnothing to you.',
  'From: here on it is blocked.',
  'The address is: 192.0.2.1',
])('%j is not a quotation', (text) => {
  expect(ownTextOf(text).words).toBe(text)
})

test('a signature is detected and cut off', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${String(index)}`)
  const { words, signature } = ownTextOf(`Fixed.\n-- \n${lines.join('\n')}`)
  expect(words).toBe('Fixed.')
  expect(signature.split('\n')).toHaveLength(8)
})

test('HTML is read without tags and quoted text', () => {
  const html =
    '<html><head><style>p{}</style></head><body><p>Fixed &amp; done.</p><!-- hidden -->' +
    '<div class="gmail_quote">On Monday wrote:<blockquote>Report</blockquote></div></body></html>'
  const raw = `From: a@example.net\r\nContent-Type: text/html\r\n\r\n${html}`
  expect(readInbound(Buffer.from(raw), 'a@example.net').text).toBe('Fixed & done.')
})

test('a long text is cut', () => {
  const raw = `From: a@example.net\r\n\r\n${'word '.repeat(100)}\r\n`.repeat(100)
  expect(readInbound(Buffer.from(raw), 'a@example.net').text.length).toBeLessThanOrEqual(8000)
})
