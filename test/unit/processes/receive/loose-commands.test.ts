import { expect, test } from 'vitest'
import { looseMail, usualRcpt } from '../../../../src/processes/receive/loose-commands.ts'
import { expectEffort } from '../../../support/effort.ts'

test.for([
  ['MAIL FROM: a@b.example', 'a@b.example', ''],
  ['mail from:a@b.example SIZE=10 BODY=8BITMIME', 'a@b.example', ' SIZE=10 BODY=8BITMIME'],
  ['MAIL FROM <a@b.example>', 'a@b.example', ''],
  ['MAIL FROM a@b.example', 'a@b.example', ''],
  ['MAIL  FROM : <a@b.example> SIZE=10', 'a@b.example', ' SIZE=10'],
  ['MAIL FROM:<"john doe"@b.example> SIZE=10', '"john doe"@b.example', ' SIZE=10'],
  ['MAIL FROM:<"a@b>c\\""@b.example>', '"a@b>c\\""@b.example', ''],
  ['MAIL FROM:"john doe"@b.example', '"john doe"@b.example', ''],
  ['MAIL FROM:< a@b.example >', 'a@b.example', ''],
  ['MAIL FROM:<john..doe@b.example>', 'john..doe@b.example', ''],
  ['MAIL FROM:<.a.@b.example>', '.a.@b.example', ''],
  ['MAIL FROM<a@b.example>', 'a@b.example', ''],
  ['MAIL FROM:<a@b_c.example>', 'a@b_c.example', ''],
  ['MAIL FROM:<a@b@c.example>', 'a@b@c.example', ''],
  ['MAIL FROM:<root>', 'root', ''],
] as const)('%j has the return path %j', ([line, path, parameters]) => {
  expect(looseMail(line)).toEqual({ path, command: `MAIL FROM:<>${parameters}` })
})

test.for([
  ...['MAIL FROM:<>', 'MAIL FROM:<a@b.example>', 'mail from: <a+b=c@B.example> SIZE=10'],
  ...['MAIL FROM:', 'MAIL', 'MAIL TO:<a@b.example>', 'MAIL FROM:<a@b.example', 'MAIL FROM:<"a>'],
  ...['MAIL FROM:<a\0@b.example>', 'MAIL FROM:a\u007f@b.example', 'MAIL FROMa@b.example'],
])('%j is left to the library', (line) => {
  expect(looseMail(line)).toBeUndefined()
})

test.for([
  ['RCPT TO:<a@b.example>', 'RCPT TO:<a@b.example>'],
  ['RCPT TO: a@b.example', 'RCPT TO:<a@b.example>'],
  ['rcpt to a@b.example NOTIFY=NEVER', 'RCPT TO:<a@b.example> NOTIFY=NEVER'],
  ['RCPT TO:<"john.doe"@b.example>', 'RCPT TO:<john.doe@b.example>'],
  ['RCPT TO:<"john doe"@b.example>', 'RCPT TO:<"john doe"@b.example>'],
  ['RCPT TO:<@a.example:a@b.example>', 'RCPT TO:<@a.example:a@b.example>'],
  ['RCPT TO:', 'RCPT TO:<>'],
  ['RCPT', 'RCPT'],
] as const)('%j means %j', ([line, expected]) => {
  expect(usualRcpt(line)).toBe(expected)
})

test.for(['<', '"', '<"', '"\\', ' ', 'a ', '@'])('a command of many %j is cheap', async (text) => {
  await expectEffort(() => {
    looseMail(`MAIL FROM:${text.repeat(4_096)}`)
    usualRcpt(`RCPT TO:${text.repeat(4_096)}`)
  }, 100)
})
