import { expect, test } from 'vitest'
import { messageText } from '../../../src/verdict/advice.ts'
import { messageOf } from '../../support/shingles.ts'
import { expectEffort } from '../../support/effort.ts'

test.for([
  ['plain text as it stands', { text: 'One\r\n  two\r\n\r\nthree' }, 'One\n  two\n\nthree'],
  ['many empty lines as one', { text: 'One  \r\n\r\n \r\n\t\r\n\r\ntwo' }, 'One\n\ntwo'],
  ['HTML without its markup', { html: '<h1>Hi &lt;you&gt;</h1><p>a<br>b</p>' }, 'Hi <you>\n\na\nb'],
  ['nothing of scripts', { html: '<p>seen</p><script>unseen()</script>' }, 'seen'],
  ['nothing where there is nothing', { text: ' \r\n' }, undefined],
  ['nothing of a picture', { html: '<img src="https://pictures.example/1.png">' }, undefined],
] as const)('a reader sees %s', async ([, written, seen]) => {
  expect(await messageText(messageOf(written))).toBe(seen)
})

test('text beyond the limit is not read', async () => {
  expect(await messageText(messageOf({ text: 'word '.repeat(120_000) }))).toBeUndefined()
  const parts = '--b\r\nContent-Type: text/plain\r\n\r\nx\r\n'.repeat(200)
  const bomb = Buffer.from(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${parts}--b--\r\n`)
  expect(await messageText(bomb)).toBeUndefined()
})

test.for([
  ['blanks', `a${' '.repeat(400_000)}b`],
  ['line ends', `a${'\r\n'.repeat(200_000)}b`],
  ['blank lines', `a${' \t \r\n'.repeat(80_000)}b`],
  ['open tags', '<'.repeat(400_000)],
] as const)('runs of %s take little time', async ([, text]) => {
  await expectEffort(() => messageText(messageOf({ text })), 2_000)
  await expectEffort(() => messageText(messageOf({ html: text })), 2_000)
})
