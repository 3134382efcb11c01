import { expect, test } from 'vitest'
import { firstTextPart, textPart } from '../../../src/mail/mail-parts.ts'

const header = 'From: a@b.example\r\nContent-Type: multipart/report; boundary="one"\r\n\r\n'
const end = '\r\n--one\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\n--one--\r\n'

test.for([
  ['ASCII', 'One\r\n-- \r\nTwo'],
  ['other letters', 'From: Gärtnerei <a@b.example>\r\n--\r\nПисьмо'],
  ['a long line', `https://a.example/${'a'.repeat(2_000)}`],
])('%s: the text of a mail is decoded, and ends where its part ends', ([, text = '']) => {
  const part = textPart(text.replaceAll('\r\n', '\n'))
  const mail = Buffer.from(`${header}--one\r\n${part}${end}`, 'latin1')
  expect(firstTextPart(mail).toString()).toBe(text)
})

test('a mail with one text has it until its end', () => {
  const mail = Buffer.from(`From: a@b.example\r\n${textPart('Grüße\n')}`, 'latin1')
  expect(firstTextPart(mail).toString()).toBe('Grüße\r\n')
  expect(firstTextPart(Buffer.from('From: a@b.example\r\n\r\nOne')).length).toBe(0)
})
