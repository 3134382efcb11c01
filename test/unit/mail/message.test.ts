import { expect, test } from 'vitest'
import { looksLikeMessage, parseHeader } from '../../../src/mail/header.ts'
import { normalizedForHash } from '../../../src/mail/message.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

test.for([
  ['From and Subject', 'From: a@example.com\nSubject: x\n\n', true],
  ['one field only', 'Subject: x\n\nbody', false],
  ['two fields of which none tells', 'To: a@example.com\nMIME-Version: 1.0\n\n', false],
  ['Received twice is one kind of field', 'Received: by a\nReceived: by b\n\n', false],
  ['Received and Date', 'Received: by a\r\nDate: x\r\n\r\n', true],
  ['an mbox line first', 'From x Tue\nFrom: a@example.com\nDate: x\n\n', true],
  ['a text with colons', 'Note: read this\nThen: answer\n', false],
  ['a page', '<!DOCTYPE html>\n<html>From: x Subject: y</html>', false],
  ['JSON', '{"from": "x",\n"subject": "y"}', false],
  ['nothing', '', false],
] as const)('whether a text is a message: %s', ([, text, expected]) => {
  expect(looksLikeMessage(parseHeader(bytes(text)))).toBe(expected)
})

const message = 'From: a@example.com\r\nX-Mozilla-Status: 0001\r\n\r\nFrom here on\r\n'

test.for([
  ['X-Mozilla-Status with CRLF', 'X-Mozilla-Status: 0001\r\nX-Mozilla-Status2: 00000000\r\n'],
  ['X-Mozilla-Status with LF', 'X-Mozilla-Status: 0001\nX-Mozilla-Status2: 00000000\n'],
  ['X-Mozilla-Keys, full of blanks', 'X-Mozilla-Keys:                     \r\n'],
  ['an mbox line', 'From - Tue Nov  3 08:15:00 2026\r\n'],
  ['an mbox line, then the others', 'From - Tue\nX-MOZILLA-STATUS: 1\nX-Mozilla-Keys: a\n'],
  ['nothing', ''],
] as const)('lines that mail programs prepend do not count: %s', ([, prefix]) => {
  expect(normalizedForHash(bytes(prefix + message)).toString('latin1')).toBe(message)
})

test('text from a From field on is kept', () => {
  expect(normalizedForHash(bytes(message)).toString('latin1')).toBe(message)
  const almost = `X-Mozilla-Other: 1\r\n${message}`
  expect(normalizedForHash(bytes(almost)).toString('latin1')).toBe(almost)
})
