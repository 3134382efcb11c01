import { expect, test } from 'vitest'
import { readMessage } from '../../../src/mail/message.ts'
import { reducedBody } from '../../../src/pieces/reduced-body.ts'
import { expectEffort } from '../../support/effort.ts'

const page = `${'<p>Dear customer, please look.</p>'.repeat(9)}<a href="https://bad.example/a?b=1">`
const base64 = Buffer.from(`${page}${'x'.repeat(200)}`).toString('base64')

function linksIn(body: string): string[] {
  const raw = Buffer.from(`Content-Transfer-Encoding: base64\r\n\r\n${body}`, 'latin1')
  return reducedBody(raw, readMessage(raw).header).text.split('\n')
}

test.for([
  ['one long line', base64],
  ['one long line with an end', `${base64}\r\n`],
  ['one long line between others', `--b\r\n\r\n${base64}\r\n--b--\r\n`],
  ['short lines', base64.replaceAll(/.{76}/g, '$&\r\n')],
  ['a long line after short lines', `${'QUJD'.repeat(20)}\r\nQUJD\r\n\r\n${base64}`],
] as const)('a link in base64 of %s is found', ([, body]) => {
  expect(linksIn(body)).toEqual(['https://bad.example/a?b=1'])
})

test('a body of many megabytes of base64 is searched up to its bound', async () => {
  const filler = 'QUJD'.repeat(4 * 1024 * 1024)
  expect(linksIn(filler + base64)).toEqual([''])
  const many = `${'A'.repeat(41)}!\n`.repeat(200_000)
  // It takes a twentieth of this.
  expect(await expectEffort(() => linksIn(many), 2_000)).toEqual([''])
})
