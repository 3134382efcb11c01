import { expect, test } from 'vitest'
import { createJudgeChecked } from '../../../src/judging/check-message.ts'
import type { Judge } from '../../../src/judging/judge.ts'
import { closeAfterTests } from '../../support/after-tests.ts'
import { openTestApp } from '../../support/app.ts'
import { checkedMail } from '../../support/checked-mail.ts'
import { parser } from '../../support/parser.ts'

const app = await closeAfterTests(openTestApp())

const envelope = {
  ip: '203.0.113.9',
  helo: undefined,
  hostname: undefined,
  returnPath: undefined,
  recipients: [],
  user: undefined,
  queueId: undefined,
}

async function cases(...marks: string[]) {
  const mails = marks.map((mark) => checkedMail(mark, 'https://good.example/'))
  const read = mails.map((mail) => parser.check(mail, { trustedRelays: [] }))
  return (await Promise.all(read)).map((digest) => ({ digest, envelope }))
}

test('a message that crashes its judge affects no other verdict, and passes', async () => {
  const fragile: Judge = (all) => {
    const isBroken = all.some(({ digest }) => digest.subjects.length === 0)
    return isBroken ? Promise.reject(new TypeError('It has no subject.')) : app.judge(all)
  }
  const judge = createJudgeChecked(app, fragile)
  const [first, second, third, poison] = await cases('one', 'two', 'three', 'four')
  if (!first || !second || !third || !poison) throw new Error('A message is missing.')
  const broken = { ...poison, digest: { ...poison.digest, subjects: [] } }
  const judged = await Promise.all([first, second, third, broken].map(judge))
  expect(judged.map((one) => one?.verdict.class)).toEqual([
    ...['undecided', 'undecided', 'undecided'],
    undefined,
  ])
})

test('a failure of the database is an error, because a retry may succeed', async () => {
  const away: Judge = () =>
    Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))
  const [one] = await cases('five')
  if (!one) throw new Error('A message is missing.')
  await expect(createJudgeChecked(app, away)(one)).rejects.toThrow('connect')
})
